package engine

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// Snapshot is one task seen under its lock. Every slice is in a fixed order (by id, or by number), so that equal
// states give equal plans. The fact that the trigger speaks of (a comment, a decision, a closed request, a recorded
// completion) stands in the snapshot already.
type Snapshot struct {
	// Pinned is the version the current visit began with; Newest the one the next visit will pin. Other is the
	// newest version of the workflow a person's move names, nil unless it is another one.
	Pinned *workflow.Definition
	Newest *workflow.Definition
	Other  *workflow.Definition

	Task  fairlead.Task
	Visit fairlead.Visit // the current one; N = 0 before the first enter

	// Entered is false for a task whose first enter is still in the outbox.
	Entered bool
	// Entries counts, by step, the visits begun by engine and agents since the last one begun by a person.
	Entries map[string]int

	Participants []fairlead.Participant // rows of this task
	Seats        []fairlead.Seat        // of the current visit, removed ones too
	Decisions    []fairlead.Decision    // of the current visit and round, oldest first
	Assignments  []fairlead.Assignment  // of the current visit
	Worked       []string               // keys of agents that created the task or worked as its primary

	Blockers []Linked // tasks this one waits for
	Children []Linked // direct children

	Open     []fairlead.Request // open requests of the task
	Approval *fairlead.Request  // newest approval request of this visit, whatever its state
	Deferred []Deferred         // put-aside triggers of this visit, oldest first
	Runs     []RunRef           // queued and live runs of the task, by id

	Agents    map[string]AgentRef
	People    map[string]bool
	Duties    map[string]string // duty -> agent key
	Workflows map[string]bool   // keys that exist in the workspace
	Seed      fairlead.Seed
}

// Linked is a blocker or a child as the task sees it.
type Linked struct {
	Task    string
	Open    bool              // a blocker that blocks; a child that has not ended
	Outcome fairlead.Terminal // how it ended, "" while open
	Visit   int               // its terminal visit, 0 while open
}

// AgentRef is what the engine may know of an agent.
type AgentRef struct {
	Key    string
	Duty   string
	Paused bool
}

// RunRef is a queued or live run of the task.
type RunRef struct {
	ID         string
	Assignment string
	Visit      int
	Status     fairlead.RunStatus
}

// Deferred is a put-aside trigger.
type Deferred struct {
	Seq     int64
	Trigger Trigger
}

// Kinds of triggers that only control sends; the others are the fairlead.Trigger kinds.
const (
	// KindCreate begins the first visit at the start step (or at Move.To) and enters it; with NoEnter set only the
	// visit is begun, as for a child, whose enter comes from the outbox.
	KindCreate fairlead.TriggerKind = "create"
	// KindMove is a person's, agent's, client's or the engine's explicit move (Trigger.Move).
	KindMove fairlead.TriggerKind = "move"
	// KindRecheck fires what blockers, children and seats have changed to, by comparing facts: it evaluates quorum
	// guards again and, where Payload says so, blocker_resolved and children_completed.
	KindRecheck fairlead.TriggerKind = "recheck"
	// KindSeats says that participants of the task changed: seats of the open visit are added and removed to match,
	// new ones are asked, then guards are evaluated again.
	KindSeats fairlead.TriggerKind = "seats"
	// KindRepin moves the visit to the newest version: seats fixed anew, no exit, no enter.
	KindRepin fairlead.TriggerKind = "repin"
	// KindArchive ends all work: runs stop, requests are withdrawn, the visit ends.
	KindArchive fairlead.TriggerKind = "archive"
	// KindRelease releases the hold "loop" (a person's start).
	KindRelease fairlead.TriggerKind = "release"
	// KindWake is a queue_run that another task's step addressed to this one, from the outbox: Payload has agent,
	// reason, payload and key.
	KindWake fairlead.TriggerKind = "wake"
)

// Trigger is something that happened to the task. Visit 0 means the current one; a trigger of an earlier visit is
// rejected with reason visit_ended.
type Trigger struct {
	Op         fairlead.OpID        `json:"op"`
	Kind       fairlead.TriggerKind `json:"kind"`
	Key        string               `json:"key,omitempty"` // of a manual trigger
	Visit      int                  `json:"visit,omitempty"`
	Actor      fairlead.Actor       `json:"actor"`
	Payload    map[string]any       `json:"payload,omitempty"`
	Move       *Move                `json:"move,omitempty"`
	NoEnter    bool                 `json:"no_enter,omitempty"`
	Assignment string               `json:"assignment,omitempty"` // turn_start, turn_complete, agent_error
	Run        string               `json:"run,omitempty"`        // the run whose report this is
	// Completed says that the primary's assignment is done (turn_complete).
	Completed bool `json:"completed,omitempty"`
	// OwnMove is the move the agent asked for in the turn that ends (turn_complete): it counts as the first move.
	OwnMove *Move `json:"own_move,omitempty"`
}

// Move is an explicit move.
type Move struct {
	To       string `json:"to"`
	Workflow string `json:"workflow,omitempty"` // another workflow, for a person's move
	Reason   string `json:"reason,omitempty"`   // default "move"
	Note     string `json:"note,omitempty"`
}

// Plan is what has to be written, in order, and why.
type Plan struct {
	Effects []Effect
	Why     []Explanation
	// Moved says that the task changed its place; Step and Visit are where it stands afterwards.
	Moved bool
	Step  string
	Visit int
	// Held is fairlead.HeldLoop when the hop bound dropped the plan.
	Held string
	// Deferred says that the trigger was put aside.
	Deferred bool
}

// Outcome of one considered action.
const (
	OutcomeTaken    = "taken"
	OutcomeSkipped  = "skipped"
	OutcomeDeferred = "deferred"
	OutcomeFailed   = "failed"
)

// Explanation says what became of one action. Reason is a short code (guard_false, guard_error, earlier_move,
// same_step, no_such_agent, self, slate_empty, unsatisfiable, blocked, not_primary, not_completed, seat_excluded …).
type Explanation struct {
	Trigger string `json:"trigger"`
	Step    string `json:"step"`
	Index   int    `json:"index"`
	Action  string `json:"action"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// Effect is one thing control has to write. The set is sealed.
type Effect interface{ effect() }

type (
	// NewAssignment makes an assignment of the current visit. Its Session is filled in by control, which knows whether
	// this agent already has one for the task and capacity.
	NewAssignment struct{ Assignment fairlead.Assignment }
	// Wake adds a wake to an assignment; control makes or finds its one queued run. Settle: the step's settle window
	// applies (only for comments of agents and outside systems).
	Wake struct {
		Assignment string
		Agent      string
		Reason     string
		Payload    map[string]any
		Key        string
		By         fairlead.Actor
		Settle     bool
	}
	// OpenRound opens the next decision round of the visit.
	OpenRound struct{ Round int }
	// AddSeat and RemoveSeat change the slate of the open visit.
	AddSeat struct{ Seat fairlead.Seat }
	// RemoveSeat takes a seat out of the count; its assignment ends and its runs are superseded.
	RemoveSeat struct{ Seat string }
	// OpenRequest makes a request (id given).
	OpenRequest struct{ Request fairlead.Request }
	// CloseRequest closes an open request without an answer.
	CloseRequest struct {
		Request string
		State   fairlead.RequestState
		Reason  string
	}
	// CreateChild makes a child task at its workflow's start; its enter goes to the outbox.
	CreateChild struct {
		Task                                string // its id
		Workflow, Title, Description, Agent string
	}
	// PauseAgent pauses an agent of the workspace.
	PauseAgent struct{ Agent, Reason string }
	// AddNotice adds an inbox item.
	AddNotice struct {
		Kind, Text string
		Data       map[string]any
	}
	// AddComment writes a comment of the engine; it fires no trigger.
	AddComment struct{ Text string }
	// SetTask changes fields of the task.
	SetTask struct{ Set workflow.SetFields }
	// Notify sends a webhook from the outbox, at least once.
	Notify struct{ URL, Text string }
	// Send is an outbox row for another task. Task "coordination:AGENT" is resolved by control.
	Send struct {
		Task    string
		Kind    string
		Trigger Trigger
	}
	// EndVisit ends the current visit. Its queued runs are superseded and live ones stopped, but KeepRun, whose own
	// report caused the move, may finish its turn; with Carry set that run goes on in the new visit (turn_start).
	EndVisit struct {
		N       int
		By      fairlead.Actor
		Reason  string
		KeepRun string
		Carry   bool
	}
	// BeginVisit puts the task at a step. Terminal is that of the step.
	BeginVisit struct {
		Visit    fairlead.Visit
		Terminal fairlead.Terminal
	}
	// CarryRun hands a live run over to the new visit's primary assignment (after BeginVisit and NewAssignment).
	CarryRun struct{ Run, Assignment string }
	// Entered marks that the first enter was delivered.
	Entered struct{}
	// Repinned changes the version the visit pins.
	Repinned struct{ Version int }
	// DeferTrigger puts the trigger aside.
	DeferTrigger struct{ Trigger Trigger }
	// DropDeferred removes a put-aside trigger: Outcome is moved, no_move or superseded.
	DropDeferred struct {
		Seq     int64
		Outcome string
	}
	// HoldTask sets or (Held "") releases the hold of the task.
	HoldTask struct{ Held string }
	// ArchiveTask marks the task archived.
	ArchiveTask struct{}
)

func (NewAssignment) effect() {}
func (Wake) effect()          {}
func (OpenRound) effect()     {}
func (AddSeat) effect()       {}
func (RemoveSeat) effect()    {}
func (OpenRequest) effect()   {}
func (CloseRequest) effect()  {}
func (CreateChild) effect()   {}
func (PauseAgent) effect()    {}
func (AddNotice) effect()     {}
func (AddComment) effect()    {}
func (SetTask) effect()       {}
func (Notify) effect()        {}
func (Send) effect()          {}
func (EndVisit) effect()      {}
func (BeginVisit) effect()    {}
func (CarryRun) effect()      {}
func (Entered) effect()       {}
func (Repinned) effect()      {}
func (DeferTrigger) effect()  {}
func (DropDeferred) effect()  {}
func (HoldTask) effect()      {}
func (ArchiveTask) effect()   {}
