package engine

import (
	"github.com/fairlead/fairlead"
)

// Kinds of triggers that only control sends; the others are the fairlead.Trigger kinds.
const (
	// KindCreate begins the first visit at the start step (or at Move.To) and enters it; with NoEnter set only the
	// visit is begun, as for a child, whose enter comes from the outbox.
	KindCreate fairlead.TriggerKind = "create"
	// KindMove is a person's, agent's, client's or the engine's explicit move (Trigger.Move).
	KindMove fairlead.TriggerKind = "move"
	// KindRecheck compares what blockers and children are with what the task was told of them. Every end that it was
	// not told of is told (effect Tell). Then blocker_resolved fires if an end was told or Payload "removed" names
	// edges just removed whose blocker was open, and no blocker is open; children_completed if a child's end was told
	// and no child is open. Two ends at once so fire once; a second batch, or a child that was reopened and ends
	// again, fires again. At last the quorum guards are evaluated.
	KindRecheck fairlead.TriggerKind = "recheck"
	// KindSeats says that participants of the task changed: seats of the open visit are added and removed to match,
	// new ones are asked, then guards are evaluated again. Payload "participant" names the row just added, if one was:
	// an agent that may not hold a seat is refused.
	KindSeats fairlead.TriggerKind = "seats"
	// KindRepin moves the visit to the newest version: seats fixed anew, no exit, no enter.
	KindRepin fairlead.TriggerKind = "repin"
	// KindArchive ends all work: runs stop, requests are withdrawn, the visit ends.
	KindArchive fairlead.TriggerKind = "archive"
	// KindRelease releases the hold "loop" (a person's start).
	KindRelease fairlead.TriggerKind = "release"
	// KindWake is a queue_run that another task's step addressed to this one, from the outbox: Payload has to
	// ("primary", "role:reviewer", "agent:coder"), reason, payload and key.
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
	// Round is the round a decision speaks of; 0 means the current one, another is rejected with round_closed.
	Round int `json:"round,omitempty"`
	// Request is the request whose resolution this is, as it now stands (approval_resolved, request_resolved).
	Request *fairlead.Request `json:"request,omitempty"`
}

// Move is an explicit move.
type Move struct {
	To       string `json:"to"`
	Workflow string `json:"workflow,omitempty"` // another workflow, for a person's move
	Reason   string `json:"reason,omitempty"`   // default "move"
	Note     string `json:"note,omitempty"`
}
