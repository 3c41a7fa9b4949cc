package fairlead

import (
	"strings"
	"time"
)

// Priority orders queued work: urgent before high before medium (the default) before low.
type Priority string

// The priorities.
const (
	PriorityUrgent Priority = "urgent"
	PriorityHigh   Priority = "high"
	PriorityMedium Priority = "medium"
	PriorityLow    Priority = "low"
)

// Rank returns 3 for urgent down to 0 for low, and -1 for an unknown word; "" counts as medium.
func (p Priority) Rank() int {
	switch p {
	case PriorityUrgent:
		return 3
	case PriorityHigh:
		return 2
	case PriorityMedium, "":
		return 1
	case PriorityLow:
		return 0
	}
	return -1
}

// Terminal says how a task ended; "" while it has not.
type Terminal string

// The two ends of a task.
const (
	TerminalNone      Terminal = ""
	TerminalDone      Terminal = "done"
	TerminalCancelled Terminal = "cancelled"
)

// Origin says where a task came from.
type Origin string

// The origins; manual is the default.
const (
	OriginManual  Origin = "manual"
	OriginRoutine Origin = "routine"
	OriginAgent   Origin = "agent"
	OriginImport  Origin = "import"
)

// Rules for a blocker that ends cancelled (field CancelledBlocker of the blocked task).
const (
	CancelledResolves = "resolve" // the default: a cancelled blocker no longer blocks
	CancelledKeeps    = "keep"    // it goes on blocking until the edge is removed
)

// HeldLoop marks a task whose plan was dropped at the hop bound; a person's move, start or repin releases it.
const HeldLoop = "loop"

// Repository names the git repository a task works in. Base is a branch or commit; "" = the repository's HEAD.
type Repository struct {
	Path string `json:"path"`
	Base string `json:"base,omitempty"`
}

// Task is a unit of work that stands at exactly one step of one workflow.
type Task struct {
	ID         string
	Workspace  string
	Number     int64  // counts within the workspace
	Identifier string // "FL-123"

	Workflow        string // key
	WorkflowVersion int    // the version pinned by the current visit
	Step            string
	Visit           int      // number of the current visit, from 1
	Round           int      // current decision round of the visit, from 1
	Terminal        Terminal // of the step it stands at

	Title        string
	Description  string
	Requirements []string
	Priority     Priority
	Position     float64 // place within its column, ascending
	Labels       []string
	Parent       string // task id, "" for none
	Origin       Origin
	Creator      Actor
	Agent        string // primary agent of this task; "" = the step's agent
	Repository   *Repository
	Metadata     map[string]any

	CancelledBlocker string // CancelledResolves or CancelledKeeps
	Ephemeral        bool
	Coordination     string // key of the agent whose standing task this is; "" for ordinary tasks
	Held             string // "" or HeldLoop

	// PersonVisit is the number of the last visit a person's move began; max_visits counts entries after it.
	PersonVisit int
	// SignalVisit is the visit in which the primary's completion was recorded; 0 for none.
	SignalVisit int
	// Worktree is where its directory is, where several nodes share the database.
	Worktree Worktree
	// RecordSeq is the last number given in the sequence of records that the task shares with its assignments.
	RecordSeq int64

	ArchivedAt time.Time // zero = not archived
	MovedAt    time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Version    int64
}

// Ended reports whether the task counts as ended everywhere: at a terminal step, or archived.
func (t *Task) Ended() bool { return t.Terminal != TerminalNone || !t.ArchivedAt.IsZero() }

// Outcome is how an ended task counts: a task archived elsewhere than at a terminal step counts as cancelled.
func (t *Task) Outcome() Terminal {
	if t.Terminal == TerminalNone && !t.ArchivedAt.IsZero() {
		return TerminalCancelled
	}
	return t.Terminal
}

// Project returns the key of the label "project:<key>", or "".
func (t *Task) Project() string {
	for _, l := range t.Labels {
		if k, ok := strings.CutPrefix(l, "project:"); ok {
			return k
		}
	}
	return ""
}

// State is what people are shown; it is derived, never stored.
type State string

// The states, in the order in which they are tried.
const (
	StateDone      State = "done"
	StateCancelled State = "cancelled"
	StateNeedsYou  State = "needs_you"
	StateRunning   State = "running"
	StateFailed    State = "failed"
	StatePaused    State = "paused"
	StateQueued    State = "queued"
	StateWaiting   State = "waiting"
	StateTodo      State = "todo"
)

// Visit is one stay of a task at a step.
type Visit struct {
	Task            string
	N               int // from 1, never reused
	Workflow        string
	WorkflowVersion int
	Step            string
	From            string // step it came from, "" on creation
	By              Actor
	Reason          string // trigger kind, "move", "create", "remap" ...
	Note            string
	Round           int // the current, later the last round
	BeganAt         time.Time
	EndedAt         time.Time // zero while open
}

// Comment is a message on a task.
type Comment struct {
	ID     string
	Task   string
	Visit  int
	Author Actor
	Text   string
	// Seq is the comment's place in the sequence of records of its task.
	Seq int64
	At  time.Time
}

// Blocker is an edge: Task waits for BlockedBy.
type Blocker struct {
	Task      string
	BlockedBy string
	By        Actor
	At        time.Time
}

// Notice is an inbox item that asks nothing: an agent's error, a loop, a missing agent.
type Notice struct {
	ID        string
	Workspace string
	Task      string
	Visit     int
	Kind      string
	Text      string
	Data      map[string]any
	At        time.Time
	DoneAt    time.Time // zero = still shown
}
