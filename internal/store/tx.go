package store

import (
	"errors"
	"runtime/debug"
	"time"

	fairlead "github.com/fairlead/fairlead"
)

// Tx is one transaction of one command. Its function may run more than once, so everything that leaves the command goes
// through Tx and is forgotten when a try ends without a commit. A statement that fails ends the Tx: whatever the
// function returns then, nothing is kept.
type Tx struct {
	ReadTx
	order  lockOrder
	clock  func() time.Time
	now    time.Time
	events []fairlead.Event
	lines  []fairlead.RunEvent // of runs' logs, numbered
	// reported is the last run that was saved with a report.
	reported fairlead.Run
	topics   Topic
	after    []func()
}

// Now is the transaction's one time, in microseconds, read at its first use. Ask after taking the locks: then times are
// in the order of commits for whatever the locks cover.
func (tx *Tx) Now() time.Time {
	if tx.now.IsZero() {
		tx.now = tx.clock().UTC().Truncate(time.Microsecond)
	}
	return tx.now
}

// Emit appends to the event log when the transaction commits. A zero At means Now; Position is given by the log.
func (tx *Tx) Emit(events ...fairlead.Event) {
	for _, e := range events {
		if e.At.IsZero() {
			e.At = tx.Now()
		}
		tx.events = append(tx.events, e)
	}
}

// Wake says "look now" to every listener of the topics, on every node, once the transaction is committed.
func (tx *Tx) Wake(topics ...Topic) {
	for _, t := range topics {
		tx.topics |= t
	}
}

// AfterCommit calls f after the commit, in the goroutine of Write's caller, before Write returns.
func (tx *Tx) AfterCommit(f func()) { tx.after = append(tx.after, f) }

// command is one call of Write: its function and what its last try left to be done after the commit.
type command struct {
	fn    func(*Tx) error
	clock func() time.Time
	twice bool
	last  *Tx
}

// attempt runs the function on a fresh Tx. What the try emitted is written into the same transaction.
func (c *command) attempt(r ReadTx) error {
	if c.twice {
		if err := c.rehearse(r); err != nil {
			return err
		}
	}
	tx := &Tx{ReadTx: r, clock: c.clock}
	c.last = tx
	err := call(c.fn, tx)
	switch {
	case err != nil && tx.err == nil:
		return err
	case tx.err != nil:
		return tx.verdict(err)
	}
	if len(tx.events) > 0 {
		tx.topics |= TopicEvents
	}
	if err := errors.Join(tx.writeSessions(), tx.appendLines()); err != nil {
		return err
	}
	return tx.appendEvents()
}

// verdict chooses the error of a try in which a statement failed. Whatever the function made of it, it cannot talk a
// broken transaction into a commit or into a mere refusal.
func (tx *Tx) verdict(returned error) error {
	if errors.Is(returned, tx.err) {
		return returned
	}
	return tx.err
}

// rehearse runs the function once and undoes it.
func (c *command) rehearse(r ReadTx) error {
	if _, err := r.exec(stmtRehearse); err != nil {
		return err
	}
	tx := &Tx{ReadTx: r, clock: c.clock}
	// The verdict of the rehearsal does not count: whatever it is, the real run comes to its own.
	_ = call(c.fn, tx)
	r.session.discard()
	if _, err := r.exec(stmtRehearseUndo); err != nil {
		return errors.Join(tx.err, err)
	}
	_, err := r.exec(stmtRehearseEnd)
	return err
}

// done runs what the committed try left behind.
func (c *command) done() {
	for _, f := range c.last.after {
		f()
	}
}

// call runs fn and turns a panic into an error, so that one command's fault cannot take its batch or the process along.
func call(fn func(*Tx) error, tx *Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return fn(tx)
}

var (
	stmtRehearse     = define("rehearse", `SAVEPOINT rehearsal`)
	stmtRehearseUndo = define("rehearse_undo", `ROLLBACK TO SAVEPOINT rehearsal`)
	stmtRehearseEnd  = define("rehearse_end", `RELEASE SAVEPOINT rehearsal`)
)
