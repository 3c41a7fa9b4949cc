package agent

import (
	"context"
	"encoding/json"
)

// ToolBox is a set of tools that an agent may call. Call never panics on what a model sends: an unknown name and
// arguments that break the schema are results with an outcome. Implementations are safe for parallel calls.
type ToolBox interface {
	// Tools lists what may be called, in a stable order. The caller must not change it.
	Tools() []ToolSpec
	// Call checks the arguments and runs the tool. It returns when the tool has ended, and soon after ctx has.
	Call(ctx context.Context, call Call) Result
}

// Foreseer is a [ToolBox] that can say of some calls what they will leave behind. The loop records that with the
// intent; when the outcome is missing after an interruption, what is found on disk tells whether the call happened.
type Foreseer interface {
	// Foresee returns the facts to record with the intent; nil when nothing can be said.
	Foresee(ctx context.Context, call Call) map[string]string
	// Happened looks for what was foreseen. ok means that the call is done and must not run again.
	Happened(ctx context.Context, call Call, foreseen map[string]string) (r Result, ok bool)
}

// Effect is what a repeated call would do: it decides whether a call that may or may not have happened runs again.
type Effect string

// The effect classes.
const (
	EffectRead       Effect = "read"       // changes nothing
	EffectIdempotent Effect = "idempotent" // twice is the same as once
	EffectOnce       Effect = "once"       // twice may be wrong: ask before a repeat
)

// What a tool may touch.
const (
	TouchFiles   = "files"
	TouchProcess = "process"
	TouchNetwork = "network"
	TouchBoard   = "board"
	TouchPerson  = "person"
)

// ToolSpec describes a tool to a model and to the loop.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, always of type object
	Effect      Effect
	Touches     []string
	// Parks says that a call ends the turn: its result comes as a later prompt.
	Parks bool
}

// Call is one call of a tool.
type Call struct {
	ID        string // unique in the session; a repeat after an interruption bears the same
	Execution ExecutionID
	Session   string
	Turn      int
	Name      string
	Args      json.RawMessage // an object; empty means {}
	Effect    Effect          // the call site's better knowledge of the class; "" means the tool's
	Metadata  map[string]string
}

// Outcome says how a call ended.
type Outcome string

// The outcomes.
const (
	OutcomeOK        Outcome = "ok"
	OutcomeError     Outcome = "error"     // the tool ran and says no
	OutcomeInvalid   Outcome = "invalid"   // arguments break the schema, or no such tool: nothing ran
	OutcomeDenied    Outcome = "denied"    // withheld or outside the jail: nothing ran
	OutcomeTimeout   Outcome = "timeout"   // its deadline passed and its process tree is dead
	OutcomeCancelled Outcome = "cancelled" // the turn was stopped under it
	OutcomeParked    Outcome = "parked"    // the turn ends here; the answer is a later prompt
	OutcomeNotRun    Outcome = "not_run"   // the turn ended before its turn came
)

// Result is what a model reads, and what the loop needs beside it.
type Result struct {
	Outcome Outcome           `json:"outcome"`
	Text    string            `json:"text"`
	Facts   map[string]string `json:"facts,omitempty"` // for the record: exit_code, before, after, truncated …
	Paths   []string          `json:"paths,omitempty"` // files touched, below the workspace
}

// State translates an outcome into the state of the call.
func (o Outcome) State() CallState {
	switch o {
	case OutcomeOK, OutcomeParked:
		return CallDone
	case OutcomeDenied:
		return CallDenied
	case OutcomeCancelled, OutcomeNotRun:
		return CallCancelled
	default:
		return CallFailed
	}
}

// FindTool returns the tool of a box by name.
func FindTool(box ToolBox, name string) (ToolSpec, bool) {
	if box == nil {
		return ToolSpec{}, false
	}
	for _, t := range box.Tools() {
		if t.Name == name {
			return t, true
		}
	}
	return ToolSpec{}, false
}

// EffectOf returns the class of a call: what its site says, else what the tool says, else [EffectOnce].
func EffectOf(spec ToolSpec, call Call) Effect {
	if call.Effect != "" {
		return call.Effect
	}
	if spec.Effect != "" {
		return spec.Effect
	}
	return EffectOnce
}
