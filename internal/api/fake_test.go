package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/hub"
)

// fake is control in memory, as far as the door needs it: tokens, tasks with versions, operations, refusals on demand,
// and an event for every write.
type fake struct {
	mu     sync.Mutex
	calls  []string // writes that took effect
	metas  []control.Meta
	tasks  map[string]*fairlead.TaskView
	ops    map[string]operationRow
	fail   map[string]error
	panics string
	last   any // the last body or query
	saved  bool
	busy   bool
	events []fairlead.RunEventView
	log    *memLog
}

type operationRow struct {
	print  string
	result any
}

func newFake() *fake {
	return &fake{
		tasks: map[string]*fairlead.TaskView{}, ops: map[string]operationRow{}, fail: map[string]error{},
		saved: true, log: &memLog{epoch: "ep", wake: make(chan struct{}, 1)},
	}
}

const (
	ownerToken = "owner-token"
	sideToken  = "side-token"
	toolToken  = "tool-token"
)

func (f *fake) Authenticate(_ context.Context, secret string) (control.Caller, error) {
	if err := f.refusal("Authenticate"); err != nil {
		return control.Caller{}, err
	}
	switch secret {
	case ownerToken:
		return control.Caller{Actor: fairlead.Person("owner")}, nil
	case sideToken:
		return control.Caller{Actor: fairlead.Person("ann"), Workspace: "side"}, nil
	case toolToken:
		return control.Caller{Actor: fairlead.Actor{Kind: fairlead.ActorClient, Key: "ci"}}, nil
	}
	return control.Caller{}, fairlead.Errorf(fairlead.CodeUnauthenticated, "the token is not known").WithHint("look into the file token")
}

func (f *fake) refusal(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panics == name {
		panic("fake panic with a secret")
	}
	return f.fail[name]
}

// ask is what every question does.
func ask[T any](f *fake, name string, query any, answer func() (T, error)) (T, error) {
	if err := f.refusal(name); err != nil {
		var zero T
		return zero, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = query
	return answer()
}

// do is what every write does: refusals, the memory of operations, then the change.
func do[T any](f *fake, name string, m control.Meta, body any, change func() (T, error)) (T, error) {
	var zero T
	if err := f.refusal(name); err != nil {
		return zero, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key := m.Workspace + "/" + m.Actor.OpScope() + "/" + string(m.Op)
	if row, ok := f.ops[key]; ok && m.Op != "" {
		if row.print != m.Fingerprint {
			return zero, fairlead.Errorf(fairlead.CodeOpReused, "op names another command").WithHint("use a new op")
		}
		return row.result.(T), nil
	}
	v, err := change()
	if err != nil {
		return zero, err
	}
	f.calls = append(f.calls, name)
	f.metas = append(f.metas, m)
	f.last = body
	f.ops[key] = operationRow{m.Fingerprint, v}
	f.log.add(fairlead.Event{Kind: fairlead.EventTaskUpdated, Workspace: m.Workspace, Actor: m.Actor, At: time.Unix(1, 0)})
	return v, nil
}

func (f *fake) written() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.calls...)
}

func (f *fake) meta() control.Meta {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.metas[len(f.metas)-1]
}

// find is called with mu held.
func (f *fake) find(ref string) (*fairlead.TaskView, error) {
	if v, ok := f.tasks[ref]; ok {
		return v, nil
	}
	return nil, fairlead.Errorf(fairlead.CodeNotFound, "no such task").WithHint("list them with fairlead task list")
}

// change makes a write on a task.
func (f *fake) change(name string, m control.Meta, ref string, body any) (fairlead.TaskView, error) {
	return do(f, name, m, body, func() (fairlead.TaskView, error) {
		v, err := f.find(ref)
		if err != nil {
			return fairlead.TaskView{}, err
		}
		if m.IfVersion != 0 && m.IfVersion != v.Version {
			return fairlead.TaskView{}, fairlead.Errorf(fairlead.CodeStale, "the task has changed").WithHint("read it again")
		}
		v.Version++
		return *v, nil
	})
}

func (f *fake) outcome(name string, m control.Meta, ref string, body any) (fairlead.Outcome, error) {
	v, err := f.change(name, m, ref, body)
	return fairlead.Outcome{Task: &fairlead.TaskRef{ID: v.ID, Version: v.Version}, Moved: true, Visit: 2, Step: "done"}, err
}

func (f *fake) CreateTask(_ context.Context, m control.Meta, in fairlead.NewTask) (fairlead.TaskView, error) {
	return do(f, "CreateTask", m, in, func() (fairlead.TaskView, error) {
		id := "tsk_" + strconv.Itoa(len(f.tasks)+1)
		v := &fairlead.TaskView{ID: id, Identifier: fmt.Sprint("FL-", len(f.tasks)+1), Workspace: m.Workspace, Title: in.Title, Version: 1}
		f.tasks[id] = v
		f.tasks[v.Identifier] = v
		return *v, nil
	})
}

func (f *fake) UpdateTask(_ context.Context, m control.Meta, ref string, in fairlead.TaskPatch) (fairlead.TaskView, error) {
	return f.change("UpdateTask", m, ref, in)
}

func (f *fake) Move(_ context.Context, m control.Meta, ref string, in fairlead.MoveBody) (fairlead.Outcome, error) {
	return f.outcome("Move", m, ref, in)
}

func (f *fake) Trigger(_ context.Context, m control.Meta, ref string, in fairlead.TriggerBody, dryRun bool) (fairlead.Outcome, error) {
	if dryRun {
		return fairlead.Outcome{DryRun: true}, nil
	}
	return f.outcome("Trigger", m, ref, in)
}

func (f *fake) Archive(_ context.Context, m control.Meta, ref string, in fairlead.OpBody) (fairlead.TaskView, error) {
	return f.change("Archive", m, ref, in)
}

func (f *fake) Repin(_ context.Context, m control.Meta, ref string, in fairlead.RepinBody) (fairlead.Outcome, error) {
	return f.outcome("Repin", m, ref, in)
}

func (f *fake) Comment(_ context.Context, m control.Meta, ref string, in fairlead.CommentBody) (fairlead.CommentView, error) {
	v, err := f.change("Comment", m, ref, in)
	return fairlead.CommentView{ID: "com_1", Task: v.ID, Text: in.Text, Author: m.Actor}, err
}

func (f *fake) Decide(_ context.Context, m control.Meta, ref string, in fairlead.DecisionBody) (fairlead.Outcome, error) {
	return f.outcome("Decide", m, ref, in)
}

func (f *fake) AddParticipant(_ context.Context, m control.Meta, ref string, in fairlead.ParticipantBody) (fairlead.TaskView, error) {
	return f.change("AddParticipant", m, ref, in)
}

func (f *fake) RemoveParticipant(_ context.Context, m control.Meta, ref, _ string, in fairlead.OpBody) (fairlead.TaskView, error) {
	return f.change("RemoveParticipant", m, ref, in)
}

func (f *fake) AddBlocker(_ context.Context, m control.Meta, ref string, in fairlead.BlockerBody) (fairlead.TaskView, error) {
	return f.change("AddBlocker", m, ref, in)
}

func (f *fake) RemoveBlocker(_ context.Context, m control.Meta, ref, _ string, in fairlead.OpBody) (fairlead.TaskView, error) {
	return f.change("RemoveBlocker", m, ref, in)
}

func (f *fake) GetTask(_ context.Context, _, ref string) (fairlead.TaskView, error) {
	return ask(f, "GetTask", ref, func() (fairlead.TaskView, error) {
		v, err := f.find(ref)
		if err != nil {
			return fairlead.TaskView{}, err
		}
		return *v, nil
	})
}

func (f *fake) ListTasks(_ context.Context, _ string, q control.TaskQuery) (fairlead.Page[fairlead.TaskView], error) {
	return ask(f, "ListTasks", q, func() (p fairlead.Page[fairlead.TaskView], err error) {
		if q.Cursor == "bad" {
			return p, fairlead.Errorf(fairlead.CodeInvalid, "the cursor cannot be read").WithHint("begin without a cursor")
		}
		if v, ok := f.tasks["tsk_1"]; ok {
			p.Items = append(p.Items, *v)
		}
		return p, nil
	})
}

func known[T any](f *fake, ref string) (fairlead.Page[T], error) {
	return ask(f, "read", ref, func() (p fairlead.Page[T], err error) {
		_, err = f.find(ref)
		return p, err
	})
}

func (f *fake) Quorum(_ context.Context, _, ref string) ([]fairlead.QuorumView, error) {
	p, err := known[fairlead.QuorumView](f, ref)
	return p.Items, err
}

func (f *fake) Journal(_ context.Context, _, ref string, _ int64, _ int) (fairlead.Page[fairlead.RecordView], error) {
	return known[fairlead.RecordView](f, ref)
}

func (f *fake) Transitions(_ context.Context, _, ref string) (fairlead.Page[fairlead.TransitionView], error) {
	return known[fairlead.TransitionView](f, ref)
}

func (f *fake) Sessions(_ context.Context, _, ref string) (fairlead.Page[fairlead.SessionView], error) {
	return known[fairlead.SessionView](f, ref)
}

func (f *fake) TaskRuns(_ context.Context, _, ref string) (fairlead.Page[fairlead.RunView], error) {
	return known[fairlead.RunView](f, ref)
}

func (f *fake) Comments(_ context.Context, _, ref string) (fairlead.Page[fairlead.CommentView], error) {
	return known[fairlead.CommentView](f, ref)
}

func (f *fake) Start(_ context.Context, m control.Meta, ref string, in fairlead.StartBody) (fairlead.StartResult, error) {
	_, err := f.change("Start", m, ref, in)
	return fairlead.StartResult{Run: "run_1", Launched: !f.busy}, err
}

func (f *fake) Stop(_ context.Context, m control.Meta, ref string, in fairlead.OpBody) (fairlead.TaskView, error) {
	return f.change("Stop", m, ref, in)
}

func (f *fake) run(name string, m control.Meta, id string, body any) (fairlead.RunView, error) {
	return do(f, name, m, body, func() (fairlead.RunView, error) { return fairlead.RunView{ID: id, Version: 3}, nil })
}

func (f *fake) CancelRun(_ context.Context, m control.Meta, id string, in fairlead.OpBody) (fairlead.RunView, error) {
	return f.run("CancelRun", m, id, in)
}

func (f *fake) RetryRun(_ context.Context, m control.Meta, id string, in fairlead.OpBody) (fairlead.RunView, error) {
	return f.run("RetryRun", m, id, in)
}

func (f *fake) ReleaseRun(_ context.Context, m control.Meta, id string, in fairlead.OpBody) (fairlead.RunView, error) {
	return f.run("ReleaseRun", m, id, in)
}

func (f *fake) ListRuns(_ context.Context, _ string, q control.RunQuery) (fairlead.Page[fairlead.RunView], error) {
	return ask(f, "ListRuns", q, func() (p fairlead.Page[fairlead.RunView], err error) { return p, nil })
}

func (f *fake) GetRun(_ context.Context, _, id string) (fairlead.RunView, error) {
	return ask(f, "GetRun", id, func() (fairlead.RunView, error) {
		if id != "run_1" {
			return fairlead.RunView{}, fairlead.Errorf(fairlead.CodeNotFound, "no such run")
		}
		return fairlead.RunView{ID: id, Version: 3}, nil
	})
}

func (f *fake) RunEvents(_ context.Context, _, id string, after int64) (fairlead.Page[fairlead.RunEventView], error) {
	return ask(f, "RunEvents", id, func() (p fairlead.Page[fairlead.RunEventView], err error) {
		for _, e := range f.events {
			if e.Seq <= after {
				continue
			}
			if len(p.Items) == 2 { // small pages, so that a stream must turn them
				p.NextCursor = "more"
				break
			}
			p.Items = append(p.Items, e)
		}
		return p, nil
	})
}

func (f *fake) appendRunEvent(kind string) {
	at := fairlead.StampOf(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, fairlead.RunEventView{Run: "run_1", Seq: int64(len(f.events)) + 1, Kind: kind, At: at})
	f.log.add(fairlead.Event{Kind: fairlead.EventRunEventAppended, Workspace: "main", Run: "run_1"})
}

func (f *fake) Why(context.Context, string, string) ([]fairlead.Hold, error) { return nil, nil }

func (f *fake) ListRequests(_ context.Context, _ string, q control.RequestQuery) (fairlead.Page[fairlead.RequestView], error) {
	return ask(f, "ListRequests", q, func() (p fairlead.Page[fairlead.RequestView], err error) { return p, nil })
}

func (f *fake) GetRequest(_ context.Context, _, id string) (fairlead.RequestView, error) {
	return fairlead.RequestView{ID: id, Version: 1}, f.refusal("GetRequest")
}

func (f *fake) Answer(_ context.Context, m control.Meta, id string, in fairlead.AnswerBody) (fairlead.RequestView, error) {
	return do(f, "Answer", m, in, func() (fairlead.RequestView, error) { return fairlead.RequestView{ID: id, Version: 2}, nil })
}

func (f *fake) Inbox(_ context.Context, _, person string) (fairlead.Inbox, error) {
	return ask(f, "Inbox", person, func() (fairlead.Inbox, error) { return fairlead.Inbox{}, nil })
}

func (f *fake) DismissNotice(_ context.Context, m control.Meta, _ string, in fairlead.OpBody) error {
	_, err := do(f, "DismissNotice", m, in, func() (int, error) { return 0, nil })
	return err
}

func (f *fake) SaveWorkflow(_ context.Context, m control.Meta, in fairlead.WorkflowBody) (fairlead.WorkflowView, error) {
	return do(f, "SaveWorkflow", m, in, func() (fairlead.WorkflowView, error) {
		return fairlead.WorkflowView{Key: "kanban", Version: 4, Saved: f.saved}, nil
	})
}

func (f *fake) GetWorkflow(_ context.Context, _, key string) (fairlead.WorkflowView, error) {
	return ask(f, "GetWorkflow", key, func() (fairlead.WorkflowView, error) {
		return fairlead.WorkflowView{Key: key, Version: 4}, nil
	})
}

func (f *fake) ListWorkflows(context.Context, string) ([]fairlead.WorkflowView, error) {
	return []fairlead.WorkflowView{{Key: "kanban", Version: 4}}, nil
}

func (f *fake) LintWorkflow(_ context.Context, _, source string) (fairlead.LintResult, error) {
	return ask(f, "LintWorkflow", source, func() (fairlead.LintResult, error) { return fairlead.LintResult{OK: true}, nil })
}

func (f *fake) Simulate(context.Context, string, fairlead.SimulateBody) (fairlead.Outcome, error) {
	return fairlead.Outcome{DryRun: true}, nil
}

func (f *fake) agent(name string, m control.Meta, key string, body any) (fairlead.AgentView, error) {
	return do(f, name, m, body, func() (fairlead.AgentView, error) { return agentView(key), nil })
}

func agentView(key string) fairlead.AgentView {
	return fairlead.AgentView{AgentProfile: fairlead.AgentProfile{Key: key, Adapter: "script", Script: json.RawMessage(`[]`)}, Version: 5}
}

func (f *fake) ApplyAgent(_ context.Context, m control.Meta, in fairlead.AgentBody) (fairlead.AgentView, error) {
	return f.agent("ApplyAgent", m, "coder", in)
}

func (f *fake) GetAgent(_ context.Context, _, key string) (fairlead.AgentView, error) {
	return agentView(key), f.refusal("GetAgent")
}

func (f *fake) ListAgents(context.Context, string) ([]fairlead.AgentView, error) {
	return []fairlead.AgentView{agentView("coder")}, nil
}

func (f *fake) PauseAgent(_ context.Context, m control.Meta, key string, in fairlead.PauseBody) (fairlead.AgentView, error) {
	return f.agent("PauseAgent", m, key, in)
}

func (f *fake) ResumeAgent(_ context.Context, m control.Meta, key string, in fairlead.PauseBody) (fairlead.AgentView, error) {
	return f.agent("ResumeAgent", m, key, in)
}

func (f *fake) AddPerson(_ context.Context, m control.Meta, in fairlead.KeyNameBody) (fairlead.PersonView, error) {
	return do(f, "AddPerson", m, in, func() (fairlead.PersonView, error) {
		if err := fairlead.CheckKey("person", in.Key); err != nil {
			return fairlead.PersonView{}, err
		}
		return fairlead.PersonView{Key: in.Key}, nil
	})
}

func (f *fake) ListPeople(context.Context, string) ([]fairlead.PersonView, error) { return nil, nil }

func (f *fake) AddWorkspace(_ context.Context, m control.Meta, in fairlead.KeyNameBody) (fairlead.WorkspaceView, error) {
	return do(f, "AddWorkspace", m, in, func() (fairlead.WorkspaceView, error) { return fairlead.WorkspaceView{Key: in.Key}, nil })
}

func (f *fake) ListWorkspaces(context.Context) ([]fairlead.WorkspaceView, error) {
	return []fairlead.WorkspaceView{{Key: "main"}, {Key: "side"}}, nil
}

func (f *fake) AddToken(_ context.Context, m control.Meta, in fairlead.TokenBody) (fairlead.TokenView, error) {
	return do(f, "AddToken", m, in, func() (fairlead.TokenView, error) { return fairlead.TokenView{ID: "tok_1", Secret: "once"}, nil })
}

func (f *fake) ListTokens(context.Context, string) ([]fairlead.TokenView, error) { return nil, nil }

func (f *fake) ListNodes(context.Context) ([]fairlead.NodeView, error) { return nil, nil }

// deps fills Deps with the fake.
func (f *fake) deps(streams Streams) Deps {
	return Deps{
		Tasks: f, TaskParts: f, TaskReads: f, Runs: f, RunReads: f, Requests: f,
		Workflows: f, Agents: f, Routines: f, People: f, Budgets: f, Auth: f, Streams: streams,
	}
}

// memLog is the event log in memory.
type memLog struct {
	mu     sync.Mutex
	epoch  string
	events []fairlead.Event
	pruned int64
	wake   chan struct{}
}

var _ hub.Log = (*memLog)(nil)

func (l *memLog) Bounds(context.Context) (string, int64, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tail := l.pruned + 1
	if len(l.events) == 0 {
		tail = 0
	}
	return l.epoch, tail, int64(len(l.events)), nil
}

func (l *memLog) EventsAfter(_ context.Context, position int64, limit int) ([]fairlead.Event, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	position = max(position, l.pruned)
	end := min(int64(len(l.events)), position+int64(limit))
	if end <= position {
		return nil, position, nil
	}
	return l.events[position:end:end], end, nil
}

func (l *memLog) add(e fairlead.Event) {
	l.mu.Lock()
	e.Position = int64(len(l.events)) + 1
	l.events = append(l.events, e)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *memLog) prune(upTo int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pruned = upTo
}
