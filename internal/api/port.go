package api

import (
	"context"
	"net/http"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

// The interfaces are what the routes need of control, one a resource. They are asked with the workspace the token may
// use; every ref takes an id or an identifier.

// Tasks are the writes on a task itself.
type Tasks interface {
	CreateTask(ctx context.Context, m control.Meta, in fairlead.NewTask) (fairlead.TaskView, error)
	UpdateTask(ctx context.Context, m control.Meta, ref string, in fairlead.TaskPatch) (fairlead.TaskView, error)
	Move(ctx context.Context, m control.Meta, ref string, in fairlead.MoveBody) (fairlead.Outcome, error)
	Trigger(ctx context.Context, m control.Meta, ref string, in fairlead.TriggerBody, dryRun bool) (fairlead.Outcome, error)
	Archive(ctx context.Context, m control.Meta, ref string, in fairlead.OpBody) (fairlead.TaskView, error)
	Repin(ctx context.Context, m control.Meta, ref string, in fairlead.RepinBody) (fairlead.Outcome, error)
}

// TaskParts are the writes on what hangs on a task.
type TaskParts interface {
	Comment(ctx context.Context, m control.Meta, ref string, in fairlead.CommentBody) (fairlead.CommentView, error)
	Decide(ctx context.Context, m control.Meta, ref string, in fairlead.DecisionBody) (fairlead.Outcome, error)
	AddParticipant(ctx context.Context, m control.Meta, ref string, in fairlead.ParticipantBody) (fairlead.TaskView, error)
	RemoveParticipant(ctx context.Context, m control.Meta, ref, participant string, in fairlead.OpBody) (fairlead.TaskView, error)
	AddBlocker(ctx context.Context, m control.Meta, ref string, in fairlead.BlockerBody) (fairlead.TaskView, error)
	RemoveBlocker(ctx context.Context, m control.Meta, ref, blocker string, in fairlead.OpBody) (fairlead.TaskView, error)
}

// TaskReads are the questions about tasks.
type TaskReads interface {
	GetTask(ctx context.Context, workspace, ref string) (fairlead.TaskView, error)
	ListTasks(ctx context.Context, workspace string, q control.TaskQuery) (fairlead.Page[fairlead.TaskView], error)
	Quorum(ctx context.Context, workspace, ref string) ([]fairlead.QuorumView, error)
	Journal(ctx context.Context, workspace, ref string, after int64, limit int) (fairlead.Page[fairlead.RecordView], error)
	Transitions(ctx context.Context, workspace, ref string) (fairlead.Page[fairlead.TransitionView], error)
	Sessions(ctx context.Context, workspace, ref string) (fairlead.Page[fairlead.SessionView], error)
	TaskRuns(ctx context.Context, workspace, ref string) (fairlead.Page[fairlead.RunView], error)
	Comments(ctx context.Context, workspace, ref string) (fairlead.Page[fairlead.CommentView], error)
}

// Runs are the writes on runs.
type Runs interface {
	Start(ctx context.Context, m control.Meta, ref string, in fairlead.StartBody) (fairlead.StartResult, error)
	Stop(ctx context.Context, m control.Meta, ref string, in fairlead.OpBody) (fairlead.TaskView, error)
	CancelRun(ctx context.Context, m control.Meta, run string, in fairlead.OpBody) (fairlead.RunView, error)
	RetryRun(ctx context.Context, m control.Meta, run string, in fairlead.OpBody) (fairlead.RunView, error)
	ReleaseRun(ctx context.Context, m control.Meta, run string, in fairlead.OpBody) (fairlead.RunView, error)
}

// RunReads are the questions about runs.
type RunReads interface {
	ListRuns(ctx context.Context, workspace string, q control.RunQuery) (fairlead.Page[fairlead.RunView], error)
	GetRun(ctx context.Context, workspace, id string) (fairlead.RunView, error)
	RunEvents(ctx context.Context, workspace, id string, after int64) (fairlead.Page[fairlead.RunEventView], error)
	Why(ctx context.Context, workspace, run string) ([]fairlead.Hold, error)
}

// Requests are what waits for people.
type Requests interface {
	ListRequests(ctx context.Context, workspace string, q control.RequestQuery) (fairlead.Page[fairlead.RequestView], error)
	GetRequest(ctx context.Context, workspace, id string) (fairlead.RequestView, error)
	Answer(ctx context.Context, m control.Meta, id string, in fairlead.AnswerBody) (fairlead.RequestView, error)
	Inbox(ctx context.Context, workspace, person string) (fairlead.Inbox, error)
	DismissNotice(ctx context.Context, m control.Meta, id string, in fairlead.OpBody) error
}

// Workflows are the definitions.
type Workflows interface {
	SaveWorkflow(ctx context.Context, m control.Meta, in fairlead.WorkflowBody) (fairlead.WorkflowView, error)
	GetWorkflow(ctx context.Context, workspace, key string) (fairlead.WorkflowView, error)
	ListWorkflows(ctx context.Context, workspace string) ([]fairlead.WorkflowView, error)
	LintWorkflow(ctx context.Context, workspace, source string) (fairlead.LintResult, error)
	Simulate(ctx context.Context, workspace string, in fairlead.SimulateBody) (fairlead.Outcome, error)
}

// Agents are the profiles.
type Agents interface {
	ApplyAgent(ctx context.Context, m control.Meta, in fairlead.AgentBody) (fairlead.AgentView, error)
	GetAgent(ctx context.Context, workspace, key string) (fairlead.AgentView, error)
	ListAgents(ctx context.Context, workspace string) ([]fairlead.AgentView, error)
	PauseAgent(ctx context.Context, m control.Meta, key string, in fairlead.PauseBody) (fairlead.AgentView, error)
	ResumeAgent(ctx context.Context, m control.Meta, key string, in fairlead.PauseBody) (fairlead.AgentView, error)
}

// People are persons, workspaces, tokens and nodes.
type People interface {
	AddPerson(ctx context.Context, m control.Meta, in fairlead.KeyNameBody) (fairlead.PersonView, error)
	ListPeople(ctx context.Context, workspace string) ([]fairlead.PersonView, error)
	AddWorkspace(ctx context.Context, m control.Meta, in fairlead.KeyNameBody) (fairlead.WorkspaceView, error)
	ListWorkspaces(ctx context.Context) ([]fairlead.WorkspaceView, error)
	AddToken(ctx context.Context, m control.Meta, in fairlead.TokenBody) (fairlead.TokenView, error)
	ListTokens(ctx context.Context, workspace string) ([]fairlead.TokenView, error)
	ListNodes(ctx context.Context) ([]fairlead.NodeView, error)
}

// Authenticator says whom a token lets in.
type Authenticator interface {
	Authenticate(ctx context.Context, secret string) (control.Caller, error)
}

// Observer counts what the door sees.
type Observer interface {
	Request(method, route string, status int, took time.Duration)
	Stream(delta int)
	Panic()
}

// Deps are what a [Server] works with; those without a default are needed.
type Deps struct {
	Tasks     Tasks
	TaskParts TaskParts
	TaskReads TaskReads
	Runs      Runs
	RunReads  RunReads
	Requests  Requests
	Workflows Workflows
	Agents    Agents
	Routines  Routines
	People    People
	Budgets   Budgets
	Auth      Authenticator
	Streams   Streams
	// Observer counts requests; nil = nobody does.
	Observer Observer
	// Metrics serves /metrics; nil = that route is not found.
	Metrics http.Handler
	// Ready reports why the server should get no requests now; nil = always ready.
	Ready func(ctx context.Context) error
}

// DepsOf fills the parts of Deps that control serves, all of them but observation and readiness.
func DepsOf(c *control.Control, streams Streams) Deps {
	return Deps{
		Tasks: c, TaskParts: c, TaskReads: c, Runs: c, RunReads: c, Requests: c,
		Workflows: c, Agents: c, Routines: c, People: c, Budgets: c, Auth: c, Streams: streams,
	}
}
