package workflow

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Position is a place in a source file; both count from 1, zero when the part has no source (a default).
type Position struct{ Line, Column int }

// Definition is one compiled version of a workflow: every guard is type-checked, every name resolved within the file,
// every accepted spelling turned into this one form. It is immutable and safe for concurrent use.
type Definition struct {
	Key        string
	Name       string
	Style      string // kanban | office | custom; a hint for screens only
	Start      string // key of the first step
	SelfReview bool   // agents may hold seats on tasks they created or worked
	Steps      []*Step
	Version    int // 0 until saved
	Source     string
	Digest     string // hex SHA-256 of Source
}

// Step returns the step of a key, or nil.
func (d *Definition) Step(key string) *Step {
	for _, s := range d.Steps {
		if s.Key == key {
			return s
		}
	}
	return nil
}

// TerminalStep returns the one step with that terminal, or nil.
func (d *Definition) TerminalStep(t fairlead.Terminal) *Step {
	for _, s := range d.Steps {
		if s.Terminal == t {
			return s
		}
	}
	return nil
}

// Complete says what completes an assignment of the step's primary.
type Complete string

// CompleteTurn (the default): the end of a successful turn. CompleteSignal: only step_complete.
const (
	CompleteTurn   Complete = "turn"
	CompleteSignal Complete = "signal"
)

// OnEmpty says what a quorum without voters does.
type OnEmpty string

// OnEmptyBlock (the default) never holds; OnEmptyPass holds for every threshold but any_reject.
const (
	OnEmptyBlock OnEmpty = "block"
	OnEmptyPass  OnEmpty = "pass"
)

// DefaultMaxVisits is how often a step may be entered by engine and agents since the last move by a person.
const DefaultMaxVisits = 20

// Step is one node of the graph.
type Step struct {
	Key          string
	Name         string
	Stage        string         // work | review | approval | custom; a hint for screens only
	Agent        string         // the step's agent, "" for none
	Program      string         // "plain", "flow:<name>", "rounds:<name>"
	With         map[string]any // inputs of the program; texts with expressions are *Text, see ExpandPayload
	Complete     Complete
	WIP          int // 0 = no limit
	Settle       time.Duration
	Plan         bool
	MaxVisits    int // DefaultMaxVisits unless named
	Prefix       string
	Suffix       string
	Model        string
	OnInterrupt  string // continue (default) | ask | restart
	Approve      string // ask (default) | auto: whether a flow written by a model asks a person before its first run
	Participants []Participant
	OnEmpty      OnEmpty
	Terminal     fairlead.Terminal
	On           map[fairlead.TriggerKind][]Action // all but manual; heartbeat's actions too
	Manual       map[string][]Action               // by key
	Heartbeat    *Heartbeat
	Pos          Position

	weighed []WeighedMove
}

// Heartbeat is when a step's heartbeat trigger fires. Exactly one of Every and Cron is set.
type Heartbeat struct {
	Every  time.Duration
	Cron   string
	Zone   string // IANA name, for Cron; "" = UTC
	OnlyIf *Guard
	Missed string // skip (default) | once | all
}

// Participant is a template row. Exactly one of Agent and Person is set.
type Participant struct {
	Role             fairlead.Role
	Agent            string
	Person           string
	DecisionRequired bool
	Pos              Position
}

// ActionKind names an action.
type ActionKind string

// The actions.
const (
	ActionQueueRun        ActionKind = "queue_run"
	ActionFanOut          ActionKind = "fan_out"
	ActionClearDecisions  ActionKind = "clear_decisions"
	ActionMove            ActionKind = "move"
	ActionCreateChild     ActionKind = "create_child"
	ActionRequestApproval ActionKind = "request_approval"
	ActionPauseAgent      ActionKind = "pause_agent"
	ActionInboxItem       ActionKind = "inbox_item"
	ActionComment         ActionKind = "comment"
	ActionSet             ActionKind = "set"
	ActionNotify          ActionKind = "notify"
	ActionEnd             ActionKind = "end" // compiled to a move to the terminal step
)

// Action is one entry of a trigger's list. Which fields count is said by Kind; the others are zero.
type Action struct {
	Kind ActionKind
	Pos  Position
	seq  int // place among all actions of the file, in the order in which they are read

	// queue_run: To, Task, Reason, Payload, Key. fan_out: Role, Reason, Payload, Key.
	Target  Target
	Task    string // "this" (default), "parent", "coordination", or a task id
	Role    fairlead.Role
	Reason  string
	Payload map[string]any // string values may be *Text
	RunKey  *Text

	// move, end: To is a step of the same workflow; If nil = always.
	To string
	If *Guard

	// create_child
	Workflow    string
	Title       *Text
	Description *Text
	Agent       string // create_child: primary agent; pause_agent: "failed" or a key

	// request_approval: who is asked, "person:KEY" or "" for everybody, and the prompt.
	Of     string
	Prompt *Text

	// inbox_item, comment, notify
	NoticeKind string
	Text       *Text
	URL        *Text

	Set *SetFields
}

// SetFields is what the action set changes; nil or empty means unchanged.
type SetFields struct {
	AddLabels    []string
	RemoveLabels []string
	Priority     fairlead.Priority
	Agent        *string
	Metadata     map[string]any // texts with expressions are *Text, see ExpandPayload
}

// TargetKind says how a run's agent is found.
type TargetKind string

// The targets of queue_run.
const (
	TargetPrimary TargetKind = "primary"
	TargetRole    TargetKind = "role" // every seat of the role
	TargetAgent   TargetKind = "agent"
	TargetDuty    TargetKind = "duty"
)

// Target is a parsed target: "primary", "role:reviewer", "agent:coder", "duty:ceo".
type Target struct {
	Kind TargetKind
	Name string
}

func (t Target) String() string {
	if t.Kind == TargetPrimary {
		return string(t.Kind)
	}
	return string(t.Kind) + ":" + t.Name
}

// QuorumRef is a quorum a guard names. N counts only for n_approve.
type QuorumRef struct {
	Role      fairlead.Role
	Threshold string // as written: "all_approve", "n_approve:2"
}

// Facts is what guards and texts can read: the state before the actions, as plain values. Quorum answers
// quorum("role", "threshold"); nil = no quorum holds.
type Facts struct {
	Task      TaskFacts
	Visit     VisitFacts
	Children  ChildrenFacts
	Blockers  BlockerFacts
	Decisions DecisionFacts
	Approval  ApprovalFacts
	Payload   map[string]any
	Quorum    func(role, threshold string) bool
}

// TaskFacts is task{…} of a guard; labels is also a variable of its own.
type TaskFacts struct {
	ID, Title, Priority, Agent string
	Labels                     []string
	Metadata                   map[string]any
}

// VisitFacts is visit{…}.
type VisitFacts struct {
	N     int
	Step  string
	Round int
}

// ChildrenFacts is children{…}; counts of the task's direct children.
type ChildrenFacts struct{ Total, Open, Done, Cancelled int }

// BlockerFacts is blockers{…}.
type BlockerFacts struct{ Open int }

// DecisionFacts is decisions{…}: required seats of the visit by their effective decision in the current round.
type DecisionFacts struct{ Approved, Rejected, Pending int }

// ApprovalFacts is approval{…}: of the newest approval request of this visit.
type ApprovalFacts struct {
	Granted, Rejected, Open bool
	Text                    string
}
