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
	// Told says that this task's journal records this end (Task, Visit) already, so that it fires nothing again.
	Told bool
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
