package fairlead

// Transition is one arrow of a state machine. From is "" for the beginning.
type Transition struct{ From, To, Event string }

// machines holds every state machine of the product; docs/state-machines.md draws the same arrows, and a test compares.
var machines = map[string][]Transition{
	"visit": {
		{"", "open", "move"}, {"open", "ended", "move"}, {"open", "ended", "archive"},
	},
	"round": {
		{"", "open", "visit_begins"}, {"", "open", "clear_decisions"}, {"open", "closed", "clear_decisions"}, {"open", "closed", "visit_ends"},
	},
	"seat": {
		{"", "asked", "visit_begins"}, {"", "asked", "participant_added"},
		{"asked", "decided", "decision"}, {"decided", "decided", "decision"}, {"decided", "asked", "clear_decisions"},
		{"asked", "removed", "participant_removed"}, {"decided", "removed", "participant_removed"},
		{"asked", "closed", "visit_ends"}, {"decided", "closed", "visit_ends"},
	},
	"quorum": {
		{"", "open", "round_opens"}, {"open", "held", "decision"}, {"open", "held", "seats_change"},
		{"held", "open", "clear_decisions"}, {"open", "open", "decision"},
		{"held", "moved", "guard_holds"}, {"moved", "open", "reentry"}, {"held", "deferred", "task_blocked"}, {"deferred", "held", "request_closed"},
	},
	"assignment": {
		{"", "open", "wake"}, {"open", "parked", "ask"}, {"parked", "open", "answer"}, {"open", "done", "complete"}, {"done", "open", "wake"},
		{"open", "ended", "visit_ends"}, {"parked", "ended", "visit_ends"}, {"done", "ended", "visit_ends"},
	},
	"run": {
		{"", "queued", "wake"}, {"", "claimed", "direct_launch"},
		{"queued", "claimed", "claim"}, {"queued", "cancelled", "stop"}, {"queued", "superseded", "visit_ends"}, {"queued", "superseded", "absorbed"},
		{"claimed", "running", "turn_starts"}, {"claimed", "queued", "interrupted"}, {"running", "queued", "interrupted"},
		{"claimed", "queued", "attempt_failed"}, {"running", "queued", "attempt_failed"},
		{"claimed", "succeeded", "nothing_to_do"}, {"running", "succeeded", "turn_ends"}, {"running", "parked", "asked"}, {"claimed", "parked", "asked"},
		{"claimed", "dead", "failure"}, {"running", "dead", "failure"},
		{"claimed", "stopping", "visit_ends"}, {"running", "stopping", "visit_ends"}, {"claimed", "stopping", "cancel"}, {"running", "stopping", "cancel"},
		{"stopping", "cancelled", "tree_dead"}, {"stopping", "superseded", "tree_dead"}, {"stopping", "succeeded", "tree_dead"},
		{"stopping", "parked", "tree_dead"}, {"stopping", "dead", "tree_dead"}, {"stopping", "queued", "tree_dead"},
	},
	"hold": {
		{"", "shut", "limited"}, {"", "shut", "failures"}, {"", "shut", "run_ends"},
		{"shut", "shut", "refused"}, {"shut", "ready", "timer"}, {"ready", "probing", "claim"},
		{"ready", "shut", "refused"}, {"probing", "shut", "refused"}, {"probing", "ready", "probe_ends"},
		{"probing", "released", "success"}, {"shut", "released", "timer"},
		{"shut", "released", "resume"}, {"ready", "released", "resume"}, {"probing", "released", "resume"},
	},
	"request": {
		{"", "open", "ask"}, {"open", "answered", "answer"}, {"open", "declined", "decline"}, {"open", "expired", "deadline"},
		{"open", "withdrawn", "withdraw"}, {"open", "superseded", "visit_ends"}, {"answered", "undelivered", "asker_gone"},
	},
	"session": {
		{"", "idle", "assignment"}, {"idle", "starting", "launch"}, {"starting", "running", "turn_starts"}, {"starting", "idle", "launch_fails"},
		{"running", "idle", "turn_ends"}, {"running", "idle", "interrupted"}, {"starting", "idle", "interrupted"}, {"idle", "closed", "task_ends"},
	},
}

// Transitions returns the arrows of a machine: visit, round, seat, quorum, assignment, run, hold, request or session; nil
// for any other name. The caller owns the slice.
func Transitions(machine string) []Transition {
	return append([]Transition(nil), machines[machine]...)
}

// Machines returns the names of all state machines, in the order in which the documentation draws them.
func Machines() []string {
	return []string{"visit", "round", "seat", "quorum", "assignment", "run", "hold", "request", "session"}
}

// CanChange reports whether a machine has an arrow between two states.
func CanChange(machine, from, to string) bool {
	for _, t := range machines[machine] {
		if t.From == from && t.To == to {
			return true
		}
	}
	return false
}
