package fairlead

import "time"

// Routine makes a task of a workflow whenever its schedule says so, or when somebody fires it.
type Routine struct {
	Workspace   string   `json:"-"`
	Key         string   `json:"routine"`
	Name        string   `json:"name,omitempty"`
	Workflow    string   `json:"workflow"`
	Title       string   `json:"title"` // of each task it makes
	Description string   `json:"description,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	Agent       string   `json:"agent,omitempty"`
	Priority    Priority `json:"priority,omitempty"`
	Cron        string   `json:"cron,omitempty"`
	Zone        string   `json:"zone,omitempty"`  // IANA name, for Cron; "" = UTC
	Every       string   `json:"every,omitempty"` // Go duration
	Missed      string   `json:"missed"`          // skip | once | all(n)
	Overlap     string   `json:"overlap"`         // skip | queue | allow

	// Secret signs the webhook fires of clients; "" = clients may not fire it. It is never shown.
	Secret      string    `json:"-"`
	Paused      bool      `json:"-"`
	PauseReason string    `json:"-"`
	PausedAt    time.Time `json:"-"`
	// Anchor is up to when every occurrence of the schedule was dealt with.
	Anchor time.Time `json:"-"`
	// Waiting is the fire that waits for the end of an earlier task; nil = none waits.
	Waiting   *WaitingFire `json:"-"`
	LastAt    time.Time    `json:"-"` // newest fire that made a task
	LastTask  string       `json:"-"`
	Version   int64        `json:"-"`
	UpdatedAt time.Time    `json:"-"`
}

// WaitingFire is a fire of a routine that waits for the end of an earlier task.
type WaitingFire struct {
	At      Stamp          `json:"at"`
	Cause   string         `json:"cause"`
	Payload map[string]any `json:"payload,omitempty"`
}

// Scheduled reports whether time alone fires the routine.
func (r *Routine) Scheduled() bool { return r.Cron != "" || r.Every != "" }

// What a schedule belongs to.
const (
	ScheduleRoutine   = "routine"
	ScheduleHeartbeat = "heartbeat"
)

// Causes of a routine's fire.
const (
	CauseSchedule = "schedule"
	CauseManual   = "manual"
	CauseWebhook  = "webhook"
)

// Outcomes of a fire. The receipt of a late one says caught_up.
const (
	FireFired    = "fired"
	FireCaughtUp = "caught_up"
	FireSkipped  = "skipped"
	FireWaits    = "waits" // until an earlier task of the routine has ended
)

// Receipt is the proof of what became of an occurrence of a schedule, or of Count of them from At to Until.
type Receipt struct {
	ID        string
	Workspace string
	Kind      string // ScheduleRoutine | ScheduleHeartbeat
	Ref       string // key of the routine, id of the task
	Step      string // of a heartbeat
	At        time.Time
	Until     time.Time // = At for one
	Count     int
	Outcome   string
	Reason    string // why it was skipped, or late
	Cause     string
	Task      string // what a routine made
	MadeAt    time.Time
}

// BeatCount is how many heartbeats of a task's step ended in one way on one day of UTC.
type BeatCount struct {
	Task    string `json:"-"`
	Step    string `json:"step"`
	Day     string `json:"day"`     // 2026-01-31
	Outcome string `json:"outcome"` // fired | only_if
	Count   int    `json:"count"`
}

// Kinds of timers that schedules set; Ref is the routine's "<workspace>/<key>".
const (
	TimerRoutine     = "routine"      // its next occurrence
	TimerRoutineWait = "routine_wait" // a task of it has ended: what waits may go
)

// PrefixReceipt begins the ids of receipts.
const PrefixReceipt = "rcp"

// EventRoutineUpdated says that a routine was changed, fired, paused or resumed.
const EventRoutineUpdated EventKind = "routine.updated"

// RoutineBody applies a routine, as YAML text.
type RoutineBody struct {
	Source string `json:"source"`
	Op     OpID   `json:"op,omitempty"`
}

// FireBody fires a routine by hand or from outside. The payload reaches the task as metadata.
type FireBody struct {
	Payload map[string]any `json:"payload,omitempty"`
	Op      OpID           `json:"op,omitempty"`
}

// RoutineView is a routine with where its schedule stands.
type RoutineView struct {
	Routine
	Schedule    string `json:"schedule,omitempty"` // in words; "" = it is only fired by hand or from outside
	Webhook     bool   `json:"webhook"`            // clients may fire it with a signature
	Paused      bool   `json:"paused"`
	PauseReason string `json:"pause_reason,omitempty"`
	NextAt      *Stamp `json:"next_at,omitempty"`
	WaitingAt   *Stamp `json:"waiting_at,omitempty"`
	LastAt      *Stamp `json:"last_at,omitempty"`
	LastTask    string `json:"last_task,omitempty"` // its identifier
	Open        int    `json:"open"`                // tasks it made that have not ended
	Version     int64  `json:"version"`
	UpdatedAt   Stamp  `json:"updated_at"`
}

// FireView says what became of one fire.
type FireView struct {
	Routine string   `json:"routine"`
	At      Stamp    `json:"at"`
	Outcome string   `json:"outcome"`
	Reason  string   `json:"reason,omitempty"`
	Task    *TaskRef `json:"task,omitempty"`
}

// ReceiptView is a receipt as it is shown.
type ReceiptView struct {
	ID      string `json:"id"`
	At      Stamp  `json:"at"`
	Until   Stamp  `json:"until"`
	Count   int    `json:"count"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Cause   string `json:"cause,omitempty"`
	Step    string `json:"step,omitempty"`
	Task    string `json:"task,omitempty"`
	MadeAt  Stamp  `json:"made_at"`
}
