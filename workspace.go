package fairlead

import (
	"encoding/json"
	"time"
)

// Workspace is the boundary of everything.
type Workspace struct {
	Key       string
	Name      string
	Prefix    string // of identifiers, "FL"
	CreatedAt time.Time
}

// PersonRecord is a person who may decide in a workspace.
type PersonRecord struct {
	Workspace string
	Key       string
	Name      string
	CreatedAt time.Time
}

// Token lets a person or a client in. Only its hash is stored.
type Token struct {
	ID        string
	Workspace string // "" = every workspace
	Kind      ActorKind
	Key       string
	Hash      string // hex SHA-256
	Home      string // the home that made it for its own owner; "" otherwise
	CreatedAt time.Time
}

// WorkflowVersion is one immutable version of a workflow.
type WorkflowVersion struct {
	Workspace string
	Key       string
	Version   int // from 1
	Name      string
	Style     string // a hint for screens only
	Source    string // the YAML as saved
	Digest    string // hex SHA-256 of the source
	By        Actor
	At        time.Time
}

// AgentProfile is how an agent works: pure data, applied from YAML.
type AgentProfile struct {
	Workspace    string            `json:"-"`
	Key          string            `json:"agent"`
	Name         string            `json:"name,omitempty"`
	Adapter      string            `json:"adapter"`
	Command      []string          `json:"command,omitempty"`
	Model        string            `json:"model,omitempty"`
	Instructions string            `json:"instructions,omitempty"`
	Skills       []string          `json:"skills,omitempty"`
	Memory       string            `json:"memory,omitempty"`
	Tools        []string          `json:"tools,omitempty"` // palette; empty = the default palette
	Pinned       map[string]any    `json:"pinned,omitempty"`
	Permissions  map[string]any    `json:"permissions,omitempty"`
	Limits       map[string]any    `json:"limits,omitempty"`
	Environment  map[string]string `json:"environment,omitempty"`
	Duty         string            `json:"duty,omitempty"`
	Parallel     int               `json:"parallel,omitempty"` // 0 = 1
	Cooldown     string            `json:"cooldown,omitempty"` // Go duration
	Labels       []string          `json:"labels,omitempty"`   // a node must carry all of them
	Retry        []string          `json:"retry,omitempty"`    // durations of the ladder
	Account      string            `json:"account,omitempty"`
	Script       json.RawMessage   `json:"script,omitempty"` // of the scripted agent

	Paused      bool      `json:"-"`
	PauseReason string    `json:"-"`
	Version     int64     `json:"-"`
	UpdatedAt   time.Time `json:"-"`
}

// Slots returns how many runs of the agent the queue may have live at once.
func (a *AgentProfile) Slots() int {
	if a.Parallel < 1 {
		return 1
	}
	return a.Parallel
}

// Operation is the durable memory of a command that was carried out.
type Operation struct {
	Workspace   string
	Scope       string // Actor.OpScope
	ID          OpID
	Fingerprint string
	Seed        Seed
	Status      int // HTTP status of the first answer; 0 when the command did not come by HTTP
	Result      json.RawMessage
	At          time.Time
}

// Outbox is a trigger for another task, delivered right after the commit that caused it.
type Outbox struct {
	ID        int64 // order of delivery
	Workspace string
	Task      string
	Op        OpID
	Kind      string // OutboxEnter, OutboxRecheck ...
	Payload   json.RawMessage
	Attempts  int
	CreatedAt time.Time
	DoneAt    time.Time // zero = not delivered
	Rejected  string    // why the task refused it; final
}

// Kinds of outbox rows.
const (
	OutboxEnter        = "enter"        // the first enter of a child
	OutboxRecheck      = "recheck"      // look at your blockers and children again
	OutboxTaskEnded    = "task_ended"   // whoever waits for the sender is told
	OutboxTrigger      = "trigger"      // a trigger as such
	OutboxRemap        = "remap"        // a move because a step went away
	OutboxWake         = "wake"         // a queue_run of another task's step
	OutboxCoordination = "coordination" // the standing task of an agent must exist
	OutboxNotify       = "notify"       // a webhook; carried out outside any transaction
)

// Audit is the one record that a refused command leaves.
type Audit struct {
	ID        string
	Workspace string
	Actor     Actor
	Op        OpID
	Command   string
	Task      string
	Run       string
	Code      Code
	Message   string
	At        time.Time
}

// Timer is a durable due time. It fires by compare and swap on (ID, Generation).
type Timer struct {
	ID         string
	Workspace  string
	Kind       string // TimerRunDue ...
	Task       string
	Ref        string
	DueAt      time.Time
	Generation int64
	Payload    json.RawMessage
}

// Kinds of timers.
const (
	TimerRunDue    = "run_due"   // settle or back-off of a run (Ref) is over
	TimerHeartbeat = "heartbeat" // of (task, step)
)

// Node is one start of a Fairlead process with workers.
type Node struct {
	ID        string
	Epoch     int64 // of the home or cluster; each start is a new one
	Host      string
	PID       int
	Labels    []string
	Slots     int
	Counter   int64
	StartedAt time.Time
	DeadAt    time.Time // zero = live
}
