package agent

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// State is where an execution stands.
type State string

// The states. starting -> running <-> idle -> exited; stopping from any of the first three.
const (
	StateStarting State = "starting" // started, no prompt taken yet
	StateRunning  State = "running"  // a turn is open
	StateIdle     State = "idle"     // alive between turns
	StateStopping State = "stopping" // told to stop, tree not yet confirmed dead; lives in memory only
	StateExited   State = "exited"
)

// Execution is the fold of an execution's events: what GetExecution returns.
type Execution struct {
	ID       ExecutionID
	Session  string
	State    State
	Turn     int
	PromptID string // of the newest turn
	Metadata map[string]string
	Started  time.Time
	Last     time.Time // last sign of life
	Stalled  bool
	Usage    Usage
	Open     []ToolCall // calls of the open turn without a terminal state, in order of appearance
	End      *TurnEnd   // of the newest turn, nil while it is open
	Exit     *Exit
	Cursor   Cursor
}

// Live reports whether something may still be running.
func (x *Execution) Live() bool { return x.State != StateExited && x.State != "" }

// Apply folds one event. It is total: an event that makes no sense changes only the cursor and the sign of life.
func (x *Execution) Apply(e *Event) {
	x.Cursor, x.Last = e.Seq, e.At
	x.Stalled = e.Kind == EventStalled
	if e.Session != "" {
		x.Session = e.Session
	}
	switch {
	case e.Kind == EventStarted:
		x.ID, x.State, x.Started, x.Metadata = e.Execution, StateStarting, e.At, e.Metadata
	case e.Kind == EventPrompted:
		x.State, x.Turn, x.PromptID, x.End, x.Open = StateRunning, e.Turn, e.PromptID, nil, nil
	case e.Kind == EventToolCall && e.Tool != nil:
		x.upsert(e)
	case e.Kind == EventUsage && e.Usage != nil:
		x.Usage = e.Usage.Total
	case e.Kind == EventTurnEnded:
		x.State, x.End, x.Open = StateIdle, e.End, nil
	case e.Kind == EventExited:
		x.State, x.Exit = StateExited, e.Exit
	}
}

func (x *Execution) upsert(e *Event) {
	i := slices.IndexFunc(x.Open, func(c ToolCall) bool { return c.ID == e.Tool.ID })
	switch {
	case e.Tool.State.Terminal() && i >= 0:
		x.Open = slices.Delete(x.Open, i, i+1)
	case e.Tool.State.Terminal() || e.OutOfTurn:
	case i >= 0:
		x.Open[i] = merge(x.Open[i], *e.Tool)
	default:
		x.Open = append(x.Open, *e.Tool)
	}
}

// merge lays an update over what was known of a call: empty members keep the old value.
func merge(old, upd ToolCall) ToolCall {
	if upd.Name != "" {
		old.Name = upd.Name
	}
	if upd.Title != "" {
		old.Title = upd.Title
	}
	if upd.Kind != "" {
		old.Kind = upd.Kind
	}
	if upd.State != "" {
		old.State = upd.State
	}
	if len(upd.Input) > 0 {
		old.Input = upd.Input
	}
	if upd.Output != "" {
		old.Output = upd.Output
	}
	if len(upd.Paths) > 0 {
		old.Paths = upd.Paths
	}
	return old
}

// Fail makes a turn end with a failure.
func Fail(class fairlead.ErrorClass, message string) *TurnEnd {
	return &TurnEnd{Reason: EndFailed, Failure: &fairlead.Failure{Class: class, Message: message}}
}
