package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

// The public client reaches every route of the document, and every write of it carries an operation id.
func TestClientSpeaksEveryRoute(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	var mu sync.Mutex
	reached := map[string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := b.server.mux.Handler(r)
		mu.Lock()
		reached[pattern] = true
		mu.Unlock()
		b.server.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	c := b.client(srv.URL, &client.Options{Workspace: "main"})
	ctx := t.Context()
	for name, err := range callAll(ctx, c) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for path, item := range b.server.api.OpenAPI().Paths {
		for method, op := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PATCH": item.Patch, "DELETE": item.Delete} {
			if pattern := method + " " + path; op != nil && !reached[pattern] && path != "/api/v1/events" {
				t.Errorf("no method of the client reaches %s", pattern)
			}
		}
	}
	for i, m := range b.fake.metas {
		if m.Op == "" {
			t.Errorf("%s was sent without an operation id", b.fake.calls[i])
		}
	}
	if !slices.Contains(b.fake.written(), "RemoveBlocker") {
		t.Error("writes are missing")
	}
}

func callAll(ctx context.Context, c *client.Client) map[string]error {
	errs := map[string]error{}
	note := func(name string, err error) { errs[name] = err }
	v, err := c.CreateTask(ctx, fairlead.NewTask{Title: "one"})
	note("CreateTask", err)
	_, err = c.ListTasks(ctx, client.TaskQuery{Workflow: "w", Archived: true, Page: client.Page{Limit: 3}})
	note("ListTasks", err)
	_, err = c.GetTask(ctx, v.Identifier)
	note("GetTask", err)
	title := "two"
	_, err = c.IfVersion(v.Version).UpdateTask(ctx, v.ID, fairlead.TaskPatch{Title: &title})
	note("UpdateTask", err)
	_, err = c.Move(ctx, v.ID, fairlead.MoveBody{Step: "done"})
	note("Move", err)
	_, err = c.Trigger(ctx, v.ID, fairlead.TriggerBody{Kind: "manual", Key: "go"}, false)
	note("Trigger", err)
	dry, err := c.Trigger(ctx, v.ID, fairlead.TriggerBody{Kind: "comment"}, true)
	note("Trigger", err)
	if !dry.DryRun {
		note("Trigger", fairlead.Errorf(fairlead.CodeInternal, "dry_run was lost"))
	}
	_, err = c.Repin(ctx, v.ID, fairlead.RepinBody{DryRun: true})
	note("Repin", err)
	_, err = c.Archive(ctx, v.ID, fairlead.OpBody{Op: "arch"})
	note("Archive", err)
	_, err = c.Start(ctx, v.ID, fairlead.StartBody{})
	note("Start", err)
	_, err = c.Stop(ctx, v.ID, fairlead.OpBody{})
	note("Stop", err)
	callParts(ctx, c, v.ID, note)
	callReads(ctx, c, v.ID, note)
	callRest(ctx, c, note)
	return errs
}

func callParts(ctx context.Context, c *client.Client, id string, note func(string, error)) {
	_, err := c.Comment(ctx, id, fairlead.CommentBody{Text: "hi"})
	note("Comment", err)
	_, err = c.Decide(ctx, id, fairlead.DecisionBody{Verdict: "approve"})
	note("Decide", err)
	_, err = c.AddParticipant(ctx, id, fairlead.ParticipantBody{NewParticipant: fairlead.NewParticipant{Role: "reviewer", Agent: "a"}})
	note("AddParticipant", err)
	_, err = c.RemoveParticipant(ctx, id, "par_1", fairlead.OpBody{})
	note("RemoveParticipant", err)
	_, err = c.AddBlocker(ctx, id, fairlead.BlockerBody{BlockedBy: "FL-2"})
	note("AddBlocker", err)
	_, err = c.RemoveBlocker(ctx, id, "FL-2", fairlead.OpBody{Op: "x"})
	note("RemoveBlocker", err)
}

func callReads(ctx context.Context, c *client.Client, id string, note func(string, error)) {
	_, err := c.Quorum(ctx, id)
	note("Quorum", err)
	_, err = c.Comments(ctx, id)
	note("Comments", err)
	_, err = c.TaskRuns(ctx, id)
	note("TaskRuns", err)
	_, err = c.Sessions(ctx, id)
	note("Sessions", err)
	_, err = c.Transitions(ctx, id)
	note("Transitions", err)
	_, err = c.Journal(ctx, id, 0, 10)
	note("Journal", err)
	_, err = c.ListRuns(ctx, client.RunQuery{Status: "queued"})
	note("ListRuns", err)
	_, err = c.GetRun(ctx, "run_1")
	note("GetRun", err)
	_, err = c.Why(ctx, "run_1")
	note("Why", err)
	_, err = c.RunEvents(ctx, "run_1", 0)
	note("RunEvents", err)
	_, err = c.CancelRun(ctx, "run_1", fairlead.OpBody{})
	note("CancelRun", err)
	_, err = c.RetryRun(ctx, "run_1", fairlead.OpBody{})
	note("RetryRun", err)
	_, err = c.ReleaseRun(ctx, "run_1", fairlead.OpBody{})
	note("ReleaseRun", err)
}

func callRest(ctx context.Context, c *client.Client, note func(string, error)) {
	_, err := c.ListRequests(ctx, client.RequestQuery{State: "answered"})
	note("ListRequests", err)
	_, err = c.GetRequest(ctx, "req_1")
	note("GetRequest", err)
	_, err = c.Answer(ctx, "req_1", fairlead.AnswerBody{Answer: fairlead.Answer{Text: "yes"}})
	note("Answer", err)
	_, err = c.Inbox(ctx, "ann")
	note("Inbox", err)
	note("DismissNotice", c.DismissNotice(ctx, "not_1", fairlead.OpBody{}))
	_, err = c.SaveWorkflow(ctx, fairlead.WorkflowBody{Source: "x"})
	note("SaveWorkflow", err)
	_, err = c.ListWorkflows(ctx)
	note("ListWorkflows", err)
	_, err = c.GetWorkflow(ctx, "kanban")
	note("GetWorkflow", err)
	_, err = c.WorkflowSchema(ctx)
	note("WorkflowSchema", err)
	_, err = c.LintWorkflow(ctx, "x")
	note("LintWorkflow", err)
	_, err = c.Simulate(ctx, fairlead.SimulateBody{Key: "kanban", Trigger: "enter"})
	note("Simulate", err)
	_, err = c.ApplyAgent(ctx, fairlead.AgentBody{Source: "x"})
	note("ApplyAgent", err)
	_, err = c.ListAgents(ctx)
	note("ListAgents", err)
	_, err = c.GetAgent(ctx, "coder")
	note("GetAgent", err)
	_, err = c.PauseAgent(ctx, "coder", fairlead.PauseBody{Reason: "r"})
	note("PauseAgent", err)
	_, err = c.ResumeAgent(ctx, "coder", fairlead.PauseBody{})
	note("ResumeAgent", err)
	_, err = c.AddPerson(ctx, fairlead.KeyNameBody{Key: "ann"})
	note("AddPerson", err)
	_, err = c.ListPeople(ctx)
	note("ListPeople", err)
	_, err = c.AddWorkspace(ctx, fairlead.KeyNameBody{Key: "side"})
	note("AddWorkspace", err)
	_, err = c.ListWorkspaces(ctx)
	note("ListWorkspaces", err)
	_, err = c.AddToken(ctx, fairlead.TokenBody{Client: "ci"})
	note("AddToken", err)
	_, err = c.ListTokens(ctx)
	note("ListTokens", err)
	_, err = c.ListNodes(ctx)
	note("ListNodes", err)
	_, err = c.ListRoutines(ctx)
	note("ListRoutines", err)
	_, err = c.ApplyRoutine(ctx, fairlead.RoutineBody{Source: "routine: x"})
	note("ApplyRoutine", err)
	_, err = c.GetRoutine(ctx, "weekly")
	note("GetRoutine", err)
	_, err = c.RoutineReceipts(ctx, "weekly", client.Page{})
	note("RoutineReceipts", err)
	_, err = c.FireRoutine(ctx, "weekly", fairlead.FireBody{})
	note("FireRoutine", err)
	_, err = c.PauseRoutine(ctx, "weekly", fairlead.PauseBody{})
	note("PauseRoutine", err)
	_, err = c.ResumeRoutine(ctx, "weekly", fairlead.PauseBody{})
	note("ResumeRoutine", err)
	_, err = c.ListBudgets(ctx)
	note("ListBudgets", err)
	_, err = c.SetBudget(ctx, fairlead.BudgetBody{Scope: "workspace", Meter: "money", Limit: "5", Period: "day"})
	note("SetBudget", err)
	_, err = c.RaiseBudget(ctx, "bud_1", fairlead.RaiseBody{By: "5"})
	note("RaiseBudget", err)
	_, err = c.DeleteBudget(ctx, "bud_1", fairlead.OpBody{})
	note("DeleteBudget", err)
	_, err = c.ListUsage(ctx, "", "")
	note("ListUsage", err)
	note("Ready", c.Ready(ctx))
	_, err = c.OpenAPI(ctx)
	note("OpenAPI", err)
}

// What a handler refuses with is what the client's caller gets.
func TestErrorsSurviveTheWire(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	c := b.client(b.listen(), nil)
	for code := range statusOf {
		want := &fairlead.Error{
			Code: code, Message: "said", Hint: "do this", Reason: "busy", Data: map[string]any{"winner": "ann"},
			Fields: []fairlead.FieldError{{Path: "a", Line: 1, Column: 2, Message: "m", Remedy: "r"}},
		}
		b.fake.mu.Lock()
		b.fake.fail["GetTask"] = want
		b.fake.mu.Unlock()
		_, err := c.GetTask(t.Context(), "FL-1")
		if code == fairlead.CodeInternal {
			want = &fairlead.Error{Code: code, Message: "Internal Server Error"}
		}
		if diff := cmp.Diff(error(want), err); diff != "" {
			t.Errorf("%s: %s", code, diff)
		}
	}
}
