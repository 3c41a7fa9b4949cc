package engine

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

// Explanation says what became of one action. Index is its place in the list of its trigger; -1 is for what stands in
// no list: asking a seat (action ask), fixing seats (seat), an agent's own move (own_move), a heartbeat's only_if.
//
// Reason is a short code, Detail is for people:
//   - moves: guard_false, guard_error, slate_empty, unsatisfiable, earlier_move, same_step, blocked, not_primary,
//     not_completed, question_open, not_allowed (under exit), no_such_step, never_ends, refused, loop, superseded
//   - wakes and requests: self, absorbed, no_such_agent, no_such_person, no_such_target, no_parent, slate_empty, person,
//     watcher, no_vote, already_asked, seat_excluded, ended
//   - others: no_decision, no_such_workflow, text_error, unknown_action, nothing, archived, already_entered,
//     same_version, not_held
type Explanation struct {
	Trigger string `json:"trigger"`
	Step    string `json:"step"`
	Index   int    `json:"index"`
	Action  string `json:"action"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Detail  string `json:"detail,omitempty"`
}
