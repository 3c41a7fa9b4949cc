package client

import (
	"errors"

	"github.com/fairlead/fairlead"
)

// The exit codes of programs that talk to a server.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitConflict    = 4
	ExitRefused     = 5
	ExitUnreachable = 6
)

// ErrUsage marks errors of the command line itself: wrap it, and [ExitCode] says 2.
var ErrUsage = errors.New("wrong usage")

// ExitCode maps what a call returned to the exit code of a program.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if errors.Is(err, ErrUsage) {
		return ExitUsage
	}
	switch fairlead.ErrorCode(err) {
	case fairlead.CodeNotFound:
		return ExitNotFound
	case fairlead.CodeConflict, fairlead.CodeStale:
		return ExitConflict
	case fairlead.CodeUnavailable:
		return ExitUnreachable
	case fairlead.CodeMalformed, fairlead.CodeUnauthenticated, fairlead.CodeForbidden, fairlead.CodeMethod,
		fairlead.CodeTooLarge, fairlead.CodeMediaType, fairlead.CodeInvalid, fairlead.CodeRefused,
		fairlead.CodeOpReused, fairlead.CodeLimited:
		return ExitRefused
	}
	return ExitFailed
}
