package fairlead

import (
	"encoding/json"
	"time"
)

// Capacity says as what an agent works on a task. A session belongs to (task, agent, capacity).
type Capacity string

// CapacityPrimary and CapacityGuest are the capacities beside the seats' roles; a seat's capacity is its role.
const (
	CapacityPrimary Capacity = "primary"
	CapacityGuest   Capacity = "guest"
)

// AssignmentState is where an assignment stands.
type AssignmentState string

// The states of an assignment.
const (
	AssignmentOpen   AssignmentState = "open"
	AssignmentParked AssignmentState = "parked" // waits for a request; no process, claim or clock
	AssignmentDone   AssignmentState = "done"   // completed; further wakes make further turns
	AssignmentEnded  AssignmentState = "ended"  // its visit is over
)

// Assignment is the work of one seat, of the step's primary, or of a guest in one visit.
type Assignment struct {
	ID        string
	Workspace string
	Task      string
	Visit     int
	Step      string
	Capacity  Capacity
	Agent     string
	Seat      string // "" for primary and guest
	Session   string
	Program   string // "plain"
	State     AssignmentState
	// ParkRequested says that a request of this assignment was opened in a turn that has not ended yet.
	ParkRequested bool
	// Signalled says that the completion was recorded by step_complete.
	Signalled bool
	// OwnMove is the move the agent asked for in mid-turn, kept until the run ends.
	OwnMove *OwnMove
	// Interruptions counts interruptions in a row.
	Interruptions int
	Parent        string
	CreatedAt     time.Time
	Version       int64
}

// OwnMove is an agent's wish to move its own task; it is decided in the transaction that ends the run.
type OwnMove struct {
	To   string `json:"to"`
	Note string `json:"note,omitempty"`
	Run  string `json:"run"`
}

// Wake is a recorded reason to look at an assignment. It is also a record of the task (at Seq).
type Wake struct {
	Task       string
	Seq        int64
	Assignment string
	Run        string // the run that absorbed it
	Reason     string
	Payload    map[string]any
	Op         OpID
	Key        string // idempotency key, "" for none
	By         Actor
	At         time.Time
	Trace      string // W3C traceparent of the command that woke, "" when it was not traced
}

// ByPerson reports whether a person caused the wake (people's work goes first and passes blockers).
func (w *Wake) ByPerson() bool { return w.By.Kind == ActorPerson }

// Record is one entry of the journal that a task shares with its assignments. Seq is gap-free per task, from 1.
// Sem is the version of the rules that read the record.
type Record struct {
	Task       string
	Seq        int64
	Assignment string // "" = of the task itself
	Visit      int
	Run        string
	Kind       string
	Actor      Actor
	Data       json.RawMessage
	Sem        int
	At         time.Time
}

// Sem is the version of the rules under which new records are written.
const Sem = 1

// Kinds of records of a task's journal. They are a contract of goldens and of the journal's export.
const (
	RecordCreated         = "created"
	RecordMoved           = "moved" // also the first entry
	RecordVisitEnded      = "visit_ended"
	RecordSeatAdded       = "seat_added"
	RecordSeatRemoved     = "seat_removed"
	RecordRoundOpened     = "round_opened"
	RecordDecision        = "decision"
	RecordComment         = "comment"
	RecordWake            = "wake"
	RecordRequestOpened   = "request_opened"
	RecordRequestResolved = "request_resolved"
	RecordDeferred        = "deferred"
	RecordSuperseded      = "superseded" // a put-aside trigger that came to nothing
	RecordCompleted       = "completed"
	RecordOwnMove         = "own_move"
	RecordTurnStarted     = "turn_started"
	RecordTurnEnded       = "turn_ended"
	RecordMessage         = "message" // text of an agent
	RecordEffectIntent    = "effect_intent"
	RecordEffectOutcome   = "effect_outcome"
	RecordUsage           = "usage"
	RecordChildCreated    = "child_created"
	RecordChildEnded      = "child_ended"
	RecordBlockerAdded    = "blocker_added"
	RecordBlockerRemoved  = "blocker_removed"
	RecordBlockerCleared  = "blocker_cleared"
	RecordUpdated         = "updated"
	RecordHeld            = "held"
	RecordReleased        = "released"
	RecordArchived        = "archived"
	RecordActionFailed    = "action_failed"
	RecordNotice          = "notice"
	RecordRepinned        = "repinned"
	RecordProgramMove     = "program_move"
	RecordCheckpoint      = "checkpoint"    // a run left its worktree so
	RecordTreeReleased    = "tree_released" // the work goes on from a checkpoint; what was done in the worktree after it is lost
)

// SessionState is where a session stands.
type SessionState string

// The states of a session.
const (
	SessionIdle     SessionState = "idle"
	SessionStarting SessionState = "starting"
	SessionRunning  SessionState = "running"
	SessionClosed   SessionState = "closed"
)

// Session is one agent's conversation about one task in one capacity; it lives across runs and visits.
type Session struct {
	ID       string
	Task     string
	Agent    string
	Capacity Capacity
	State    SessionState
	// Delivered is the last record that a prompt of this session held whose turn ended well or parked.
	Delivered int64
	// InFlight is the last record of the prompt of a turn without such an end; 0 for none.
	InFlight  int64
	Execution string // "" while nobody works
	External  string // the agent's own name of the conversation, "" before the first turn
	Turns     int
	CreatedAt time.Time
}
