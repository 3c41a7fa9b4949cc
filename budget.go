package fairlead

import "time"

// Usage is what one run used of one model in one day. Money is in millionths of a US dollar and holds only the calls
// whose price is known; Unpriced counts the others, which are never taken for free.
type Usage struct {
	Workspace  string
	Run        string
	Model      string // "" = unknown
	Day        string // 2006-01-02, UTC
	Agent      string
	Task       string
	Assignment string
	Calls      int64
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64
	Money      int64
	Unpriced   int64
	FirstAt    time.Time
	LastAt     time.Time
}

// Price is what a model costs, in millionths of a US dollar for a million tokens of each sort.
type Price struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
}

// The kinds of events about budgets. Each carries the budget's id, scope, ref, meter, limit, spent, unpriced, action,
// period and generation.
const (
	EventBudgetSet     EventKind = "budget.set"     // made, or given other settings
	EventBudgetAlert   EventKind = "budget.alert"   // a threshold was crossed: threshold and percent, both in percent
	EventBudgetReached EventKind = "budget.reached" // the limit is used up
	EventBudgetRaised  EventKind = "budget.raised"
	EventBudgetPeriod  EventKind = "budget.period" // the next period began
	EventBudgetDeleted EventKind = "budget.deleted"
)

// Options of a budget request, in their order.
const (
	OptionRetry = "retry" // of a failure that people had to mend: the work goes on
	OptionRaise = "raise" // by the amount in Text, or by the budget's own limit
	OptionStop  = "stop"  // nothing more is spent until the period ends or somebody raises the limit
)

// BudgetBody sets a limit. A budget is known by scope, ref, meter and period: setting it again changes it.
type BudgetBody struct {
	Scope  string `json:"scope"`         // workspace | project | agent | task | assignment
	Ref    string `json:"ref,omitempty"` // key of the project or agent, id or identifier of the task, id of the assignment
	Meter  string `json:"meter"`         // money | tokens | runs | wall
	Limit  string `json:"limit"`         // money as 12.50, tokens and runs as whole numbers, wall time as 3h
	Period string `json:"period"`        // day | month | total
	Zone   string `json:"zone,omitempty"`
	Alerts []int  `json:"alerts,omitempty"` // percentages; default 50, 80, 100
	Action string `json:"action,omitempty"` // park (default) | hold | alert
	Op     OpID   `json:"op,omitempty"`
}

// RaiseBody raises a limit: By adds to it, To is the new one. Exactly one is set; both are written as a limit is.
type RaiseBody struct {
	By string `json:"by,omitempty"`
	To string `json:"to,omitempty"`
	Op OpID   `json:"op,omitempty"`
}

// BudgetView is a budget with where it stands in its running period. Amounts are in the meter's unit: millionths of a
// US dollar, tokens, runs, milliseconds.
type BudgetView struct {
	ID         string `json:"id"`
	Scope      string `json:"scope"`
	Ref        string `json:"ref,omitempty"`
	Task       string `json:"task,omitempty"`
	Identifier string `json:"identifier,omitempty"`
	Meter      string `json:"meter"`
	Limit      int64  `json:"limit"`
	Spent      int64  `json:"spent"`
	Unpriced   int64  `json:"unpriced,omitempty"` // model calls whose price is unknown: not in spent
	Percent    int    `json:"percent"`
	Text       string `json:"text"` // "$4.10 of $5.00"
	Reached    bool   `json:"reached"`
	Waiting    int    `json:"waiting"`           // runs that it stopped
	Request    string `json:"request,omitempty"` // the open request to raise it
	Period     string `json:"period"`
	Zone       string `json:"zone,omitempty"`
	BeganAt    *Stamp `json:"began_at,omitempty"` // of the running period
	EndsAt     *Stamp `json:"ends_at,omitempty"`
	Alerts     []int  `json:"alerts"`
	Action     string `json:"action"`
	Generation int64  `json:"generation"` // limits it has had
	CreatedAt  Stamp  `json:"created_at"`
	UpdatedAt  Stamp  `json:"updated_at"`
	Version    int64  `json:"version"`
}

// UsageView is what one run used of one model in one day. Cost is in millionths of a US dollar; unpriced calls are not in
// it.
type UsageView struct {
	Day        string `json:"day"`
	Agent      string `json:"agent"`
	Task       string `json:"task"`
	Run        string `json:"run"`
	Model      string `json:"model,omitempty"`
	Calls      int64  `json:"calls"`
	Input      int64  `json:"input"`
	Output     int64  `json:"output"`
	CacheRead  int64  `json:"cache_read"`
	CacheWrite int64  `json:"cache_write"`
	Cost       int64  `json:"cost"`
	Unpriced   int64  `json:"unpriced"`
}

// What the rest of the vocabulary calls things of a budget.
const (
	PrefixBudget      = "bud"
	TimerBudgetPeriod = "budget_period"   // the period of a budget (Ref) is over
	OutboxBudget      = "budget_released" // runs of the task that a budget stopped may go on
	RunEventBudget    = "budget"          // a budget told the run to stop
	ReasonBudget      = "budget"          // the wake of work that a budget had stopped
)
