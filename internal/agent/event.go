package agent

import (
	"encoding/json"
	"time"

	"github.com/fairlead/fairlead"
)

// EventKind says what an event is. Readers ignore kinds they do not know.
type EventKind string

// The kinds. Between two EventPrompted lies one turn; usage, text and notices may also come outside a turn.
const (
	EventStarted    EventKind = "started"    // once, first: the execution exists; Session is set when known
	EventPrompted   EventKind = "prompted"   // the turn's prompt is with the agent
	EventText       EventKind = "text"       // a piece of the answer
	EventThought    EventKind = "thought"    // a piece of the model's reasoning
	EventToolCall   EventKind = "tool_call"  // a call, again at each change; the last one wins
	EventPlan       EventKind = "plan"       // the agent's whole plan, replacing the last
	EventDiff       EventKind = "diff"       // a change of a file, as the agent told it
	EventPermission EventKind = "permission" // asked, and again when answered
	EventUsage      EventKind = "usage"      // tokens and cost
	EventStalled    EventKind = "stalled"    // no sign of life for Limits.Stall; any later event lifts it
	EventNotice     EventKind = "notice"     // anything else worth keeping, as Text and Raw
	EventTurnEnded  EventKind = "turn_ended" // once a turn
	EventExited     EventKind = "exited"     // once, last
)

// Event is one normalised thing that happened to an execution. Exactly the member of its kind is set.
type Event struct {
	Seq       Cursor            `json:"seq"`
	At        time.Time         `json:"at"`
	Execution ExecutionID       `json:"execution"`
	Session   string            `json:"session,omitempty"`
	Turn      int               `json:"turn"` // counts the prompts of the execution from 1; 0 before the first
	Kind      EventKind         `json:"kind"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	// OutOfTurn marks what came after its turn had ended: recorded and costed, but it reopens nothing.
	OutOfTurn bool `json:"out_of_turn,omitempty"`

	PromptID   string           `json:"prompt_id,omitempty"` // of EventPrompted and EventTurnEnded
	Text       string           `json:"text,omitempty"`
	Tool       *ToolCall        `json:"tool,omitempty"`
	Plan       []PlanItem       `json:"plan,omitempty"`
	Diff       *Diff            `json:"diff,omitempty"`
	Permission *PermissionEvent `json:"permission,omitempty"`
	Usage      *UsageEvent      `json:"usage,omitempty"`
	End        *TurnEnd         `json:"end,omitempty"`
	Exit       *Exit            `json:"exit,omitempty"`
	Raw        json.RawMessage  `json:"raw,omitempty"`
}

// CallState is the state of a tool call.
type CallState string

// The states; the last five are terminal.
const (
	CallPending   CallState = "pending"
	CallRunning   CallState = "running"
	CallDone      CallState = "done"
	CallFailed    CallState = "failed"
	CallDenied    CallState = "denied"
	CallCancelled CallState = "cancelled"
	CallUnknown   CallState = "unknown" // the turn ended without a word about its outcome
)

// Terminal reports whether nothing more is expected of the call.
func (s CallState) Terminal() bool { return s != CallPending && s != CallRunning && s != "" }

// ToolCall is a call as far as it is known. An upsert: empty members keep what was known before.
type ToolCall struct {
	ID     string          `json:"id"`
	Name   string          `json:"name,omitempty"`
	Title  string          `json:"title,omitempty"`
	Kind   string          `json:"kind,omitempty"` // read, edit, execute, fetch, think, other
	State  CallState       `json:"state,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	Output string          `json:"output,omitempty"` // bounded
	Paths  []string        `json:"paths,omitempty"`
}

// PlanItem is one line of an agent's plan.
type PlanItem struct {
	Text     string `json:"text"`
	State    string `json:"state"` // pending, in_progress, completed
	Priority string `json:"priority,omitempty"`
}

// Diff is a change of one file. Before is nil for a new file.
type Diff struct {
	Call   string  `json:"call,omitempty"`
	Path   string  `json:"path"`
	Before *string `json:"before,omitempty"`
	After  string  `json:"after"`
}

// TurnEnd says how a turn ended. Failure is set exactly when Reason is [EndFailed], [EndLimit] or [EndRefusal].
type TurnEnd struct {
	Reason  EndReason         `json:"reason"`
	Failure *fairlead.Failure `json:"failure,omitempty"`
	// Asked is the reason as the agent said it, when we read it otherwise.
	Asked string `json:"asked,omitempty"`
}

// EndReason says how a turn ended. None of them is success: that is for the caller's gate to say.
type EndReason string

// The reasons.
const (
	EndTurn        EndReason = "end_turn"    // the agent stopped by itself
	EndParked      EndReason = "parked"      // a tool call waits for a person, a child or a time
	EndCancelled   EndReason = "cancelled"   // we stopped it
	EndUnasked     EndReason = "unasked"     // the agent says cancelled, but nobody cancelled
	EndLimit       EndReason = "limit"       // a limit of tokens, calls or time
	EndRefusal     EndReason = "refusal"     // the model refused
	EndFailed      EndReason = "failed"      // see the failure's class
	EndInterrupted EndReason = "interrupted" // the server or the warden's deadline ended it
)

// Exit says how an execution ended. Code is -1 without an exit code of its own.
type Exit struct {
	Code        int        `json:"code"`
	Signal      string     `json:"signal,omitempty"`
	Reason      StopReason `json:"reason,omitempty"` // of our Stop, if it was one
	Interrupted bool       `json:"interrupted,omitempty"`
	Message     string     `json:"message,omitempty"` // tail of the error output, when it helps
}
