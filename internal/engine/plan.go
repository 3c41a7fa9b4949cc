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
