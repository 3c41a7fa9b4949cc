package fairlead

import "encoding/json"

// The views are the objects as the API, the CLI's --json and MCP tools show them. They are read models: nothing is
// decided on them.

// Page is one page of a list. NextCursor is "" on the last page.
type Page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Counts of a task's direct children.
type ChildCounts struct {
	Total     int `json:"total"`
	Open      int `json:"open"`
	Done      int `json:"done"`
	Cancelled int `json:"cancelled"`
}

// BlockerView is a task another one waits for.
type BlockerView struct {
	Task       string `json:"task"`
	Identifier string `json:"identifier"`
	Title      string `json:"title"`
	Open       bool   `json:"open"`
}

// CheckoutView says which agent works in a task's tree.
type CheckoutView struct {
	Agent string `json:"agent"`
	Run   string `json:"run"`
	Since Stamp  `json:"since"`
}

// SeatView is a seat of the current visit.
type SeatView struct {
	ID               string  `json:"id"`
	Role             Role    `json:"role"`
	Agent            string  `json:"agent,omitempty"`
	Person           string  `json:"person,omitempty"`
	DecisionRequired bool    `json:"decision_required"`
	Verdict          Verdict `json:"verdict,omitempty"`
	Note             string  `json:"note,omitempty"`
}

// TaskView is a task as shown.
type TaskView struct {
	ID               string         `json:"id"`
	Identifier       string         `json:"identifier"`
	Workspace        string         `json:"workspace"`
	Workflow         string         `json:"workflow"`
	WorkflowVersion  int            `json:"workflow_version"`
	Step             string         `json:"step"`
	StepName         string         `json:"step_name"`
	Visit            int            `json:"visit"`
	Round            int            `json:"round"`
	State            State          `json:"state"`
	Title            string         `json:"title"`
	Description      string         `json:"description,omitempty"`
	Requirements     []string       `json:"requirements,omitempty"`
	Priority         Priority       `json:"priority"`
	Position         float64        `json:"position"`
	Labels           []string       `json:"labels,omitempty"`
	Parent           string         `json:"parent,omitempty"`
	Origin           Origin         `json:"origin"`
	Creator          Actor          `json:"creator"`
	Agent            string         `json:"agent,omitempty"`
	Repository       *Repository    `json:"repository,omitempty"`
	Metadata         map[string]any `json:"metadata,omitempty"`
	Checkout         *CheckoutView  `json:"checkout,omitempty"`
	Worktree         *Worktree      `json:"worktree,omitempty"`
	Children         ChildCounts    `json:"children"`
	Blockers         []BlockerView  `json:"blockers,omitempty"`
	CancelledBlocker string         `json:"cancelled_blocker"`
	Seats            []SeatView     `json:"seats,omitempty"`
	OpenRequests     []string       `json:"open_requests,omitempty"`
	Holds            []Hold         `json:"holds,omitempty"`
	Ephemeral        bool           `json:"ephemeral,omitempty"`
	Archived         bool           `json:"archived,omitempty"`
	MovedAt          Stamp          `json:"moved_at"`
	CreatedAt        Stamp          `json:"created_at"`
	UpdatedAt        Stamp          `json:"updated_at"`
	Version          int64          `json:"version"`
}

// RunView is a run as shown.
type RunView struct {
	ID           string     `json:"id"`
	Workspace    string     `json:"workspace"`
	Agent        string     `json:"agent"`
	Task         string     `json:"task"`
	Assignment   string     `json:"assignment"`
	Session      string     `json:"session"`
	Step         string     `json:"step"`
	Visit        int        `json:"visit"`
	Status       RunStatus  `json:"status"`
	Outcome      string     `json:"outcome,omitempty"`
	Reason       string     `json:"reason"`
	Wakes        []WakeView `json:"wakes,omitempty"`
	Absorbed     int        `json:"absorbed"`
	Attempt      int        `json:"attempt"`
	Priority     int        `json:"priority"`
	Light        bool       `json:"light,omitempty"`
	Direct       bool       `json:"direct,omitempty"`
	DueAt        Stamp      `json:"due_at"`
	RequestedAt  Stamp      `json:"requested_at"`
	ClaimedAt    *Stamp     `json:"claimed_at,omitempty"`
	StartedAt    *Stamp     `json:"started_at,omitempty"`
	FinishedAt   *Stamp     `json:"finished_at,omitempty"`
	ErrorClass   ErrorClass `json:"error_class,omitempty"`
	ErrorMessage string     `json:"error_message,omitempty"`
	StopReason   string     `json:"stop_reason,omitempty"`
	Fence        int64      `json:"fence"`
	Node         string     `json:"node,omitempty"`
	MergedInto   string     `json:"merged_into,omitempty"`
	Holds        []Hold     `json:"holds,omitempty"`
	Version      int64      `json:"version"`
}

// WakeView is one reason for a run.
type WakeView struct {
	Seq     int64          `json:"seq"`
	Reason  string         `json:"reason"`
	Payload map[string]any `json:"payload,omitempty"`
	Key     string         `json:"key,omitempty"`
	By      Actor          `json:"by"`
	At      Stamp          `json:"at"`
}

// RunEventView is one line of a run's audit log.
type RunEventView struct {
	Run  string         `json:"run"`
	Seq  int64          `json:"seq"`
	Kind string         `json:"kind"`
	Data map[string]any `json:"data,omitempty"`
	At   Stamp          `json:"at"`
}

// RequestView is a request as shown; every kind can be answered from Schema and Options alone.
type RequestView struct {
	ID         string          `json:"id"`
	Workspace  string          `json:"workspace"`
	Kind       RequestKind     `json:"kind"`
	Task       string          `json:"task,omitempty"`
	Identifier string          `json:"identifier,omitempty"`
	TaskTitle  string          `json:"task_title,omitempty"`
	Visit      int             `json:"visit,omitempty"`
	Round      int             `json:"round,omitempty"`
	Assignment string          `json:"assignment,omitempty"`
	Run        string          `json:"run,omitempty"`
	Prompt     string          `json:"prompt"`
	Schema     json.RawMessage `json:"schema,omitempty"`
	Options    []Option        `json:"options,omitempty"`
	Payload    map[string]any  `json:"payload,omitempty"`
	Blocks     Blocks          `json:"blocks"`
	WhoMay     []string        `json:"who_may,omitempty"`
	AskedOf    []string        `json:"asked_of,omitempty"`
	OpenedBy   Actor           `json:"opened_by"`
	State      RequestState    `json:"state"`
	Answer     *Answer         `json:"answer,omitempty"`
	ResolvedBy *Actor          `json:"resolved_by,omitempty"`
	OpenedAt   Stamp           `json:"opened_at"`
	ResolvedAt *Stamp          `json:"resolved_at,omitempty"`
	Version    int64           `json:"version"`
}

// NoticeView is an inbox item that asks nothing.
type NoticeView struct {
	ID         string         `json:"id"`
	Task       string         `json:"task,omitempty"`
	Identifier string         `json:"identifier,omitempty"`
	Kind       string         `json:"kind"`
	Text       string         `json:"text"`
	Data       map[string]any `json:"data,omitempty"`
	At         Stamp          `json:"at"`
}

// Inbox is everything that waits for a person: open requests and notices, newest first.
type Inbox struct {
	Requests []RequestView `json:"requests"`
	Notices  []NoticeView  `json:"notices"`
}

// RecordView is one entry of a task's journal.
type RecordView struct {
	Seq        int64           `json:"seq"`
	Kind       string          `json:"kind"`
	Assignment string          `json:"assignment,omitempty"`
	Visit      int             `json:"visit"`
	Run        string          `json:"run,omitempty"`
	Actor      Actor           `json:"actor"`
	Data       json.RawMessage `json:"data"`
	At         Stamp           `json:"at"`
}

// CommentView is a comment as shown.
type CommentView struct {
	ID     string `json:"id"`
	Task   string `json:"task"`
	Author Actor  `json:"author"`
	Text   string `json:"text"`
	Seq    int64  `json:"seq"`
	At     Stamp  `json:"at"`
}

// TransitionView is one line of a task's transition ledger: one visit.
type TransitionView struct {
	Visit           int    `json:"visit"`
	Workflow        string `json:"workflow"`
	WorkflowVersion int    `json:"workflow_version"`
	From            string `json:"from,omitempty"`
	To              string `json:"to"`
	By              Actor  `json:"by"`
	Reason          string `json:"reason"`
	Note            string `json:"note,omitempty"`
	BeganAt         Stamp  `json:"began_at"`
	EndedAt         *Stamp `json:"ended_at,omitempty"`
}

// SessionView is one agent's conversation about a task.
type SessionView struct {
	ID               string       `json:"id"`
	Agent            string       `json:"agent"`
	Capacity         Capacity     `json:"capacity"`
	State            SessionState `json:"state"`
	DeliveredSeq     int64        `json:"delivered_seq"`
	InFlightSeq      int64        `json:"in_flight_seq,omitempty"`
	CurrentExecution string       `json:"current_execution,omitempty"`
	Turns            int          `json:"turns"`
	CreatedAt        Stamp        `json:"created_at"`
}

// WorkflowView is a workflow with its newest version.
type WorkflowView struct {
	Key     string       `json:"key"`
	Name    string       `json:"name"`
	Style   string       `json:"style"`
	Version int          `json:"version"`
	Source  string       `json:"source,omitempty"`
	Digest  string       `json:"digest"`
	Steps   []StepView   `json:"steps"`
	Saved   bool         `json:"saved,omitempty"` // this call made the version
	Moved   []string     `json:"moved,omitempty"` // tasks the remap moves
	Warns   []FieldError `json:"warnings,omitempty"`
	At      Stamp        `json:"at"`
}

// StepView is one step of a workflow, for screens.
type StepView struct {
	Key      string   `json:"key"`
	Name     string   `json:"name"`
	Stage    string   `json:"stage"`
	Agent    string   `json:"agent,omitempty"`
	Program  string   `json:"program"`
	WIP      int      `json:"wip,omitempty"`
	Terminal Terminal `json:"terminal,omitempty"`
	Moves    []string `json:"moves,omitempty"` // keys of steps its moves name
}

// LintResult is what checking a workflow gave.
type LintResult struct {
	OK       bool         `json:"ok"`
	Key      string       `json:"key,omitempty"`
	Errors   []FieldError `json:"errors,omitempty"`
	Warnings []FieldError `json:"warnings,omitempty"`
}

// AgentView is an agent's profile with what it does now.
type AgentView struct {
	AgentProfile
	Paused      bool     `json:"paused"`
	PauseReason string   `json:"pause_reason,omitempty"`
	Live        []string `json:"live_runs,omitempty"`
	Queued      int      `json:"queued"`
	Version     int64    `json:"version"`
	UpdatedAt   Stamp    `json:"updated_at"`
}

// NodeView is one start of a server.
type NodeView struct {
	ID        string   `json:"id"`
	Epoch     int64    `json:"epoch"`
	Host      string   `json:"host"`
	PID       int      `json:"pid"`
	Labels    []string `json:"labels,omitempty"`
	Slots     int      `json:"slots"`
	StartedAt Stamp    `json:"started_at"`
	DeadAt    *Stamp   `json:"dead_at,omitempty"`
}

// PersonView, WorkspaceView and TokenView are what they say. Secret is shown once, when a token is made.
type PersonView struct {
	Key       string `json:"key"`
	Name      string `json:"name"`
	CreatedAt Stamp  `json:"created_at"`
}

// WorkspaceView is a workspace as shown.
type WorkspaceView struct {
	Key       string `json:"key"`
	Name      string `json:"name"`
	Prefix    string `json:"prefix"`
	CreatedAt Stamp  `json:"created_at"`
}

// TokenView is a token without its secret, except right after it was made.
type TokenView struct {
	ID        string    `json:"id"`
	Kind      ActorKind `json:"kind"`
	Key       string    `json:"key"`
	Secret    string    `json:"secret,omitempty"`
	CreatedAt Stamp     `json:"created_at"`
}

// EventView is an event of the log as streamed; ID is "<log epoch>-<position>".
type EventView struct {
	ID        string          `json:"id"`
	Kind      EventKind       `json:"kind"`
	At        Stamp           `json:"at"`
	Workspace string          `json:"workspace"`
	Task      string          `json:"task,omitempty"`
	Visit     int             `json:"visit,omitempty"`
	Run       string          `json:"run,omitempty"`
	Actor     Actor           `json:"actor"`
	Version   int64           `json:"version,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
}

// ExplanationView says what became of one considered action of a trigger.
type ExplanationView struct {
	Trigger string `json:"trigger"`
	Step    string `json:"step"`
	Index   int    `json:"index"`
	Action  string `json:"action"`
	Outcome string `json:"outcome"` // taken | skipped | deferred | failed
	Reason  string `json:"reason,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// EffectView is one effect of a plan, by its kind.
type EffectView struct {
	Kind string         `json:"kind"`
	Data map[string]any `json:"data,omitempty"`
}

// TaskRef says where a task stands, without what must be looked up elsewhere.
type TaskRef struct {
	ID         string   `json:"id"`
	Identifier string   `json:"identifier"`
	Workflow   string   `json:"workflow"`
	Step       string   `json:"step"`
	Visit      int      `json:"visit"`
	Round      int      `json:"round"`
	Terminal   Terminal `json:"terminal,omitempty"`
	Version    int64    `json:"version"`
}

// Outcome is the answer of a move, trigger, decision, dry run or simulation.
type Outcome struct {
	Task        *TaskRef          `json:"task,omitempty"` // nil for a simulation
	Moved       bool              `json:"moved"`
	Deferred    bool              `json:"deferred,omitempty"`
	Held        string            `json:"held,omitempty"`
	Visit       int               `json:"visit"`
	Step        string            `json:"step"`
	Effects     []EffectView      `json:"effects"`
	Explanation []ExplanationView `json:"explanation"`
	Decision    string            `json:"decision,omitempty"` // id of a recorded decision
	DryRun      bool              `json:"dry_run,omitempty"`
}

// QuorumView explains one quorum guard of the current step.
type QuorumView struct {
	Step      string     `json:"step"`
	Trigger   string     `json:"trigger"`
	To        string     `json:"to"`
	Guard     string     `json:"guard"`
	Role      Role       `json:"role"`
	Threshold string     `json:"threshold"`
	Needed    int        `json:"needed"`
	Received  int        `json:"received"`
	Missing   []SeatView `json:"missing,omitempty"`
	Holds     bool       `json:"holds"`
	Reason    string     `json:"reason,omitempty"`
	Round     int        `json:"round"`
}

// StartResult is the answer of a direct launch.
type StartResult struct {
	Run      string    `json:"run"`
	Status   RunStatus `json:"status"`
	Launched bool      `json:"launched"` // false: queued
}
