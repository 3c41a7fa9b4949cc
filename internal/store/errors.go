package store

import (
	"errors"
	"fmt"

	fairlead "github.com/fairlead/fairlead"
)

// ErrUnknown says that a commit's outcome is not known, because the connection was lost in it. Ask again by sending the
// same command under its operation id; a SELECT may not see the row yet.
var ErrUnknown = errors.New("outcome of the commit is unknown")

// ErrClosed is returned by a database that was closed.
var ErrClosed = errors.New("database is closed")

// PanicError is a panic of a command's function. Nothing of the command was kept.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// errorClass is what an error means for the transaction it happened in.
type errorClass int

const (
	classNone       errorClass = iota
	classRefusal               // the command says no
	classConstraint            // the database says no
	classRetry                 // serialisation failure or deadlock: the same again may pass
	classBusy                  // another process holds the database
	classFull                  // no space
	classIO                    // the device failed
	classLost                  // the connection was lost
	classOther
)

// rollsBackAlone reports whether the other commands of a batch are untouched by such an error.
func (c errorClass) rollsBackAlone() bool { return c == classRefusal || c == classConstraint }

// classOf returns the class of a command's error.
func classOf(d dialect, err error) errorClass {
	var refusal *fairlead.Error
	switch {
	case err == nil:
		return classNone
	case errors.As(err, &refusal):
		return classRefusal
	}
	return d.classify(err)
}

// IsConstraint reports whether err comes from a unique index, a foreign key or a check.
func (db *DB) IsConstraint(err error) bool {
	return err != nil && db.dialect.classify(err) == classConstraint
}

// outward turns an error into the form that leaves the package. Errors of the command itself pass unchanged.
func outward(d dialect, err error) error {
	var e *fairlead.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	var p *PanicError
	if errors.As(err, &p) {
		return &fairlead.Error{Code: fairlead.CodeInternal, Message: "the command panicked", Err: p}
	}
	switch d.classify(err) {
	case classConstraint:
		return &fairlead.Error{Code: fairlead.CodeConflict, Reason: fairlead.ReasonExists, Message: "a rule of the database refused it", Err: err}
	case classRetry:
		return unavailable("too many commands wanted the same rows", "try again", err)
	case classBusy:
		return unavailable("another program holds the database", "close other tools that have the file open, then try again", err)
	case classFull:
		return unavailable("the disk is full", "free some space; nothing was lost", err)
	case classIO:
		return unavailable("the disk failed", "check the device and the system's log", err)
	case classLost:
		return unavailable("the connection to the database was lost", "try again", err)
	}
	return err
}

func unavailable(message, hint string, err error) *fairlead.Error {
	return &fairlead.Error{Code: fairlead.CodeUnavailable, Message: message, Hint: hint, Err: err}
}

func unknown(err error) *fairlead.Error {
	return unavailable("the outcome of the commit is not known", "send the same operation id again", errors.Join(ErrUnknown, err))
}
