package fairlead

import (
	"errors"
	"fmt"
	"time"
)

// Code says what kind of failure an [Error] is. Every code is mapped once to an HTTP status and to an exit code.
type Code string

// The codes; their HTTP status stands beside them.
const (
	CodeMalformed       Code = "malformed"       // 400; shown as "invalid"
	CodeUnauthenticated Code = "unauthenticated" // 401
	CodeForbidden       Code = "forbidden"       // 403
	CodeNotFound        Code = "not_found"       // 404
	CodeMethod          Code = "method"          // 405
	CodeConflict        Code = "conflict"        // 409, with a Reason
	CodeStale           Code = "stale"           // 412
	CodeTooLarge        Code = "too_large"       // 413
	CodeMediaType       Code = "media_type"      // 415
	CodeInvalid         Code = "invalid"         // 422
	CodeRefused         Code = "refused"         // 422
	CodeOpReused        Code = "op_reused"       // 422
	CodeLimited         Code = "limited"         // 429
	CodeInternal        Code = "internal"        // 500
	CodeUnavailable     Code = "unavailable"     // 503
)

// Reasons refine [CodeConflict].
const (
	ReasonVisitEnded  = "visit_ended"  // the visit the caller speaks of is over
	ReasonRoundClosed = "round_closed" // the round is over
	ReasonResolved    = "resolved"     // somebody else resolved the request first
	ReasonBusy        = "busy"         // the task, agent or node is occupied
	ReasonHeld        = "held"         // a hold is in force
	ReasonExists      = "exists"       // the name is taken
)

// FieldError points into the caller's input. Line and Column count from 1; 0 means unknown.
type FieldError struct {
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// Error is the only error type that crosses a package border on purpose. Message is for the reader of the answer and
// never repeats a secret or the caller's value; Hint says what to do; Op names the use case ("move task").
type Error struct {
	Code    Code
	Op      string
	Message string
	Hint    string
	Reason  string
	Fields  []FieldError
	// Data holds facts a program can act on (for example the winner of a resolved request).
	Data map[string]any
	Err  error
}

func (e *Error) Error() string {
	s := e.Message
	if s == "" {
		s = string(e.Code)
	}
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an [Error] with a code and a message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Conflict makes a 409 with its reason.
func Conflict(reason, format string, args ...any) *Error {
	return &Error{Code: CodeConflict, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// WithHint returns e with the remedy set.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithOp returns e with the name of the use case set, unless one stands there already.
func (e *Error) WithOp(op string) *Error {
	if e.Op == "" {
		e.Op = op
	}
	return e
}

// ErrorCode returns the code of the first [Error] in err's chain, [CodeInternal] for any other error, "" for nil.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// IsCode reports whether err carries the code.
func IsCode(err error, c Code) bool { return err != nil && ErrorCode(err) == c }

// ErrorClass says why a run failed; what follows from it stands in policy, not at the place of the failure.
type ErrorClass string

// The classes of failed runs.
const (
	ClassTransient      ErrorClass = "transient"      // network, 5xx, crash of the agent's process
	ClassLimited        ErrorClass = "limited"        // 429 or quota
	ClassBudget         ErrorClass = "budget"         // a budget of ours
	ClassDenied         ErrorClass = "denied"         // the provider or a rule denies
	ClassConfiguration  ErrorClass = "configuration"  // command, profile or program wrong
	ClassAuthentication ErrorClass = "authentication" // missing or wrong key
	ClassUnknownModel   ErrorClass = "unknown_model"
	ClassEmpty          ErrorClass = "empty"       // no text and no tool call; a seat asked for a verdict that gave none
	ClassTurnLimit      ErrorClass = "turn_limit"  // the turn was ended by a limit
	ClassRefusal        ErrorClass = "refusal"     // the model refused
	ClassFormat         ErrorClass = "format"      // three broken tool calls in a row
	ClassStuck          ErrorClass = "stuck"       // a stuck guard tripped twice
	ClassProgram        ErrorClass = "program"     // a fault in a definition
	ClassStopped        ErrorClass = "stopped"     // a program ended itself
	ClassInterrupted    ErrorClass = "interrupted" // three interruptions in a row
)

// Failure is a failed attempt as data: retryability is decided where the cause is known.
type Failure struct {
	Class      ErrorClass    `json:"class"`
	Message    string        `json:"message"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
}

func (f *Failure) Error() string { return string(f.Class) + ": " + f.Message }
