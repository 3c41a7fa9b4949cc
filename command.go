package fairlead

import "encoding/json"

// The bodies of write commands as the API takes them; unknown fields are refused by the door.

// NewParticipant names a participant of a task.
type NewParticipant struct {
	Role             Role   `json:"role"`
	Agent            string `json:"agent,omitempty"`
	Person           string `json:"person,omitempty"`
	DecisionRequired *bool  `json:"decision_required,omitempty"` // default true for reviewer and approver
}

// NewTask creates a task. Only Title is needed.
type NewTask struct {
	Title            string           `json:"title"`
	Workflow         string           `json:"workflow,omitempty"` // default "kanban"
	Step             string           `json:"step,omitempty"`     // default the workflow's start
	Description      string           `json:"description,omitempty"`
	Requirements     []string         `json:"requirements,omitempty"`
	Priority         Priority         `json:"priority,omitempty"`
	Labels           []string         `json:"labels,omitempty"`
	Parent           string           `json:"parent,omitempty"`
	Agent            string           `json:"agent,omitempty"`
	Repository       *Repository      `json:"repository,omitempty"`
	Participants     []NewParticipant `json:"participants,omitempty"`
	BlockedBy        []string         `json:"blocked_by,omitempty"`
	CancelledBlocker string           `json:"cancelled_blocker,omitempty"`
	Ephemeral        bool             `json:"ephemeral,omitempty"`
	Metadata         map[string]any   `json:"metadata,omitempty"`
	Op               OpID             `json:"op,omitempty"`
}

// TaskPatch changes fields of a task; nil = unchanged.
type TaskPatch struct {
	Title            *string        `json:"title,omitempty"`
	Description      *string        `json:"description,omitempty"`
	Requirements     *[]string      `json:"requirements,omitempty"`
	Priority         *Priority      `json:"priority,omitempty"`
	Position         *float64       `json:"position,omitempty"`
	Labels           *[]string      `json:"labels,omitempty"`
	Agent            *string        `json:"agent,omitempty"`
	Repository       *Repository    `json:"repository,omitempty"`
	CancelledBlocker *string        `json:"cancelled_blocker,omitempty"`
	Ephemeral        *bool          `json:"ephemeral,omitempty"`
	Metadata         map[string]any `json:"metadata,omitempty"` // merged key by key; null removes a key
	Op               OpID           `json:"op,omitempty"`
}

// MoveBody moves a task.
type MoveBody struct {
	Step          string   `json:"step"`
	Workflow      string   `json:"workflow,omitempty"`
	Position      *float64 `json:"position,omitempty"`
	ExpectedVisit int      `json:"expected_visit,omitempty"`
	Note          string   `json:"note,omitempty"`
	Op            OpID     `json:"op,omitempty"`
}

// CommentBody adds a comment.
type CommentBody struct {
	Text string `json:"text"`
	Op   OpID   `json:"op,omitempty"`
}

// DecisionBody records a verdict. Role is needed only with two seats; Visit and Round 0 = the current ones.
type DecisionBody struct {
	Verdict string `json:"verdict"`
	Role    Role   `json:"role,omitempty"`
	Visit   int    `json:"visit,omitempty"`
	Round   int    `json:"round,omitempty"`
	Note    string `json:"note,omitempty"`
	Op      OpID   `json:"op,omitempty"`
}

// TriggerBody fires a trigger: for real only manual with a key, any kind as a dry run.
type TriggerBody struct {
	Kind          TriggerKind    `json:"kind"`
	Key           string         `json:"key,omitempty"`
	Payload       map[string]any `json:"payload,omitempty"`
	ExpectedVisit int            `json:"expected_visit,omitempty"`
	Op            OpID           `json:"op,omitempty"`
}

// StartBody launches an agent directly. IfBusy is "fail" (default) or "queue".
type StartBody struct {
	Message string `json:"message,omitempty"`
	Agent   string `json:"agent,omitempty"`
	IfBusy  string `json:"if_busy,omitempty"`
	Op      OpID   `json:"op,omitempty"`
}

// ParticipantBody adds a participant to a task.
type ParticipantBody struct {
	NewParticipant
	Op OpID `json:"op,omitempty"`
}

// BlockerBody adds an edge.
type BlockerBody struct {
	BlockedBy string `json:"blocked_by"`
	Op        OpID   `json:"op,omitempty"`
}

// OpBody is the body of commands that take nothing but an operation id.
type OpBody struct {
	Op OpID `json:"op,omitempty"`
}

// RepinBody moves a standing task to the newest version of its workflow.
type RepinBody struct {
	DryRun bool `json:"dry_run,omitempty"`
	Op     OpID `json:"op,omitempty"`
}

// AnswerBody resolves a request; see [Answer].
type AnswerBody struct {
	Answer
	Op OpID `json:"op,omitempty"`
}

// WorkflowBody saves a workflow. Remap says where tasks on removed steps go.
type WorkflowBody struct {
	Source          string            `json:"source"`
	Remap           map[string]string `json:"remap,omitempty"`
	ExpectedVersion int               `json:"expected_version,omitempty"`
	Op              OpID              `json:"op,omitempty"`
}

// SimulateBody asks what a trigger would do on a made-up task: Source or Key names the workflow.
type SimulateBody struct {
	Source  string         `json:"source,omitempty"`
	Key     string         `json:"key,omitempty"`
	Step    string         `json:"step,omitempty"`
	Trigger string         `json:"trigger"` // kind, or manual:KEY
	Payload map[string]any `json:"payload,omitempty"`
}

// AgentBody applies an agent's profile, as YAML text.
type AgentBody struct {
	Source string `json:"source"`
	Op     OpID   `json:"op,omitempty"`
}

// PauseBody pauses or resumes an agent.
type PauseBody struct {
	Reason string `json:"reason,omitempty"`
	Op     OpID   `json:"op,omitempty"`
}

// KeyNameBody adds a person or a workspace.
type KeyNameBody struct {
	Key  string `json:"key"`
	Name string `json:"name,omitempty"`
	Op   OpID   `json:"op,omitempty"`
}

// TokenBody makes a token for a person or a client.
type TokenBody struct {
	Person string `json:"person,omitempty"`
	Client string `json:"client,omitempty"`
	Op     OpID   `json:"op,omitempty"`
}

// AskBody is what an agent asks: one question of its ask_person tool.
type AskBody struct {
	Kind    RequestKind     `json:"kind,omitempty"` // question (default), choice, form
	Prompt  string          `json:"prompt"`
	Options []Option        `json:"options,omitempty"`
	Schema  json.RawMessage `json:"schema,omitempty"`
	Of      []string        `json:"of,omitempty"` // "person:KEY"
}
