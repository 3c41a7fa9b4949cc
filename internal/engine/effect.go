package engine

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

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
		// Once: a visit gets at most one notice of this kind.
		Once bool
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
	// Repinned changes the version the visit pins. Terminal is that of the step in the new version.
	Repinned struct {
		Version  int
		Terminal fairlead.Terminal
	}
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
	// StopRuns cancels the task's queued runs and stops its live ones, as a person's stop does.
	StopRuns struct {
		By     fairlead.Actor
		Reason string
	}
	// Tell records that the task was told of an end of a blocker or child (Kind), in that terminal visit.
	Tell struct {
		Kind    string
		Task    string
		Visit   int
		Outcome fairlead.Terminal
	}
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
func (StopRuns) effect()      {}
func (Tell) effect()          {}

// Kinds of [Tell].
const (
	TellBlocker = "blocker"
	TellChild   = "child"
)
