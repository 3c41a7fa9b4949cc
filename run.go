package fairlead

import "time"

// RunStatus is where a run stands.
type RunStatus string

// The states of a run.
const (
	RunQueued     RunStatus = "queued"
	RunClaimed    RunStatus = "claimed"
	RunRunning    RunStatus = "running"
	RunStopping   RunStatus = "stopping" // told to end; live for every constraint until its process tree is dead
	RunSucceeded  RunStatus = "succeeded"
	RunParked     RunStatus = "parked"
	RunCancelled  RunStatus = "cancelled"
	RunSuperseded RunStatus = "superseded"
	RunDead       RunStatus = "dead"
)

// Live reports whether a run occupies its agent, task and assignment.
func (s RunStatus) Live() bool { return s == RunClaimed || s == RunRunning || s == RunStopping }

// Final reports whether a run has ended.
func (s RunStatus) Final() bool { return s != RunQueued && !s.Live() }

// Outcomes of a run that succeeded.
const (
	OutcomeCompleted   = "completed"
	OutcomeNothingToDo = "nothing_to_do"
	OutcomeYielded     = "yielded" // the turn ended well but did not complete its step
)

// Fence proves which claim of a run somebody speaks for: an older claim of the same run has a smaller number, a forged
// one another claim id.
type Fence struct {
	Number int64  `json:"number"`
	Claim  string `json:"claim"`
}

// Run is one attempt to advance an assignment because of its wakes. It is only a wake: what it is about stands in the
// journal.
type Run struct {
	ID         string
	Workspace  string
	Agent      string
	Task       string
	Assignment string
	Visit      int
	Step       string
	Session    string

	Status   RunStatus
	Outcome  string // of a succeeded run
	Reason   string // of its first wake
	Absorbed int    // wakes beyond the first
	Attempt  int    // 0 = first try
	Early    bool   // a person's message ended its back-off: this try does not climb the ladder
	Priority int    // rank in the queue, larger first; see policy.RunRank
	Person   bool   // a person's wake or an answer is among its wakes
	Settled  bool   // it waits only for its settle window: a person's wake may make it due at once
	Light    bool
	Direct   bool // launched by a person past the queue

	// Due says that DueAt was reached: a fact a timer's transaction wrote, so that no claim compares a clock.
	Due         bool
	DueAt       time.Time
	RequestedAt time.Time
	ClaimedAt   time.Time
	StartedAt   time.Time
	FinishedAt  time.Time

	// StopReason is why a stopping run has to end, and StopStatus what it becomes when its tree is dead.
	StopReason string
	StopStatus RunStatus

	ErrorClass   ErrorClass
	ErrorMessage string
	Fence        Fence
	Node         string
	Epoch        int64
	MergedInto   string
	// Reported is the last report that was carried out, see [ReportMark].
	Reported int64
	Version  int64
}

// ReportMark names a report of a run: by the number of its claim's fence, and its own within the claim, both below 2^31.
func ReportMark(fence, seq int64) int64 { return fence<<31 | seq }

// Heard reports whether the report was carried out. Those of other claims are not known.
func (r *Run) Heard(fence, seq int64) bool {
	return r.Reported>>31 == fence && r.Reported >= ReportMark(fence, seq)
}

// Kinds of run events, the audit log of a run.
const (
	RunEventQueued        = "queued"
	RunEventAbsorbed      = "absorbed"
	RunEventClaimed       = "claimed"
	RunEventStarted       = "started"
	RunEventTurnEnded     = "turn_ended"
	RunEventAttemptFailed = "attempt_failed"
	RunEventInterrupted   = "interrupted"
	RunEventStopping      = "stopping"
	RunEventTreeDead      = "tree_dead"
	RunEventEnded         = "ended"
	RunEventTool          = "tool"
	RunEventUsage         = "usage"
	RunEventRefused       = "refused" // a stale report
	RunEventDueEarlier    = "due_earlier"
	RunEventReleased      = "released" // from the dead node that has its worktree
)

// RunEvent is one line of a run's audit log. Seq counts within the run from 1.
type RunEvent struct {
	Run  string
	Seq  int64
	Kind string
	Data map[string]any
	At   time.Time
}

// HoldKind says why a queued run is not claimed.
type HoldKind string

// The kinds of holds. Cool-down, account, breaker and budget are rows; the others are derived from facts at the moment of
// asking.
const (
	HoldWIP         HoldKind = "wip"
	HoldLoop        HoldKind = "loop"
	HoldBlocked     HoldKind = "blocked"
	HoldCheckout    HoldKind = "checkout"
	HoldAgentBusy   HoldKind = "agent_busy"
	HoldAgentPaused HoldKind = "agent_paused"
	HoldNodeLabel   HoldKind = "node_label"
	HoldWorkspaceOn HoldKind = "workspace_on"
	HoldNodeBusy    HoldKind = "node_busy"
	HoldNodeClock   HoldKind = "node_clock"
	HoldRequest     HoldKind = "request" // max_visits, or the assignment waits for an answer
	HoldDue         HoldKind = "not_due" // settle, back-off or a deferred start
	HoldCooldown    HoldKind = "cooldown"
	HoldAccount     HoldKind = "account"
	HoldBreaker     HoldKind = "breaker" // the agent failed again and again
	HoldBudget      HoldKind = "budget"
	HoldArchived    HoldKind = "archived"
)

// Hold is one reason why a run waits, with what releases it.
type Hold struct {
	Kind    HoldKind       `json:"kind"`
	Ref     string         `json:"ref,omitempty"` // what it is about: task, run, agent, request id
	Text    string         `json:"text"`
	Release string         `json:"release"` // the condition in words
	Until   *Stamp         `json:"until,omitempty"`
	Data    map[string]any `json:"data,omitempty"`
}
