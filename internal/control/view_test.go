package control

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

func (h *house) create(b fairlead.NewTask) fairlead.TaskView {
	h.t.Helper()
	if b.Title == "" {
		b.Title = "t"
	}
	if b.Workflow == "" {
		b.Workflow = "line"
	}
	v, err := h.c.CreateTask(h.t.Context(), owner(), b)
	h.must(err)
	return v
}

func (h *house) move(task, step string) {
	h.t.Helper()
	_, err := h.c.Move(h.t.Context(), owner(), task, fairlead.MoveBody{Step: step})
	h.must(err)
}

func TestATaskShowsItsChildrenAndBlockers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		ctx := t.Context()
		h.save(lineWorkflow)
		parent := h.create(fairlead.NewTask{})
		var children []fairlead.TaskView
		for range 4 {
			children = append(children, h.create(fairlead.NewTask{Parent: parent.ID}))
		}
		h.move(children[0].ID, "done")
		_, err := h.c.Archive(ctx, owner(), children[1].ID, fairlead.OpBody{})
		h.must(err)
		if diff := cmp.Diff(fairlead.ChildCounts{Total: 4, Open: 2, Done: 1, Cancelled: 1}, h.see(parent.ID).Children); diff != "" {
			t.Errorf("children:\n%s", diff)
		}
		for name, x := range map[string]struct {
			q    TaskQuery
			want int
		}{
			"children": {TaskQuery{Parent: parent.Identifier}, 3}, "with archived": {TaskQuery{Parent: parent.ID, Archived: true}, 4},
			"done": {TaskQuery{State: "done"}, 1}, "cancelled": {TaskQuery{State: "cancelled", Archived: true}, 1}, "todo": {TaskQuery{State: "todo"}, 3},
		} {
			if got, _ := h.titles(x.q); len(got) != x.want {
				t.Errorf("%s: got %d tasks, want %d", name, len(got), x.want)
			}
		}
		_, err = h.c.ListTasks(ctx, mainWorkspace, TaskQuery{Parent: "FL-999"})
		refused(t, err, fairlead.CodeNotFound)

		gone := h.create(fairlead.NewTask{Title: "gone"})
		keeps := h.create(fairlead.NewTask{BlockedBy: []string{gone.ID, children[2].Identifier}, CancelledBlocker: fairlead.CancelledKeeps})
		resolves := h.create(fairlead.NewTask{BlockedBy: []string{gone.ID}})
		if v := h.see(resolves.ID); v.State != fairlead.StateWaiting {
			t.Errorf("got state %s, want waiting for its blocker", v.State)
		}
		_, err = h.c.Archive(ctx, owner(), gone.ID, fairlead.OpBody{})
		h.must(err)
		if v := h.see(resolves.ID); v.State != fairlead.StateTodo || len(v.Blockers) != 1 || v.Blockers[0].Open {
			t.Errorf("got state %s, blockers %+v; want the cancelled one to block no more", v.State, v.Blockers)
		}
		v := h.see(keeps.ID)
		if v.State != fairlead.StateWaiting || len(v.Blockers) != 2 || !v.Blockers[0].Open || !v.Blockers[1].Open {
			t.Errorf("got state %s, blockers %+v; want both to block", v.State, v.Blockers)
		}
	})
}

func TestE40_APersonsMoveWithdrawsWhatIsAsked(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		task := d.task("asking")
		k := d.turn()
		q := d.ask(k, "Shall I?")
		d.end(k)
		d.move(task.ID, "done")
		got, err := d.c.GetRequest(t.Context(), mainWorkspace, q.ID)
		d.must(err)
		if got.State != fairlead.RequestWithdrawn || got.ResolvedBy == nil || *got.ResolvedBy != fairlead.Person("owner") {
			t.Errorf("got the request %+v, want it withdrawn by the owner", got)
		}
		_, err = d.c.Answer(t.Context(), owner(), q.ID, fairlead.AnswerBody{Answer: fairlead.Answer{Text: "yes"}})
		e := refused(t, err, fairlead.CodeConflict)
		if winner, _ := e.Data["winner"].(map[string]any); e.Reason != fairlead.ReasonResolved || winner["state"] != fairlead.RequestWithdrawn {
			t.Errorf("got %s with %v, want resolved by the withdrawal", e.Reason, e.Data)
		}
		if v := d.see(task.ID); v.Step != "done" || v.State != fairlead.StateDone || len(d.queued(task.ID)) != 0 {
			t.Errorf("got step %s, state %s; want it to stay done", v.Step, v.State)
		}
		all, err := d.c.ListRequests(t.Context(), mainWorkspace, RequestQuery{Task: task.Identifier, State: "all", Kind: "question"})
		d.must(err)
		if len(all.Items) != 1 || len(d.open(task.ID)) != 0 {
			t.Errorf("got %d requests in all and %d open, want 1 and 0", len(all.Items), len(d.open(task.ID)))
		}
		_, err = d.c.ListRequests(t.Context(), mainWorkspace, RequestQuery{State: "lost"})
		refused(t, err, fairlead.CodeInvalid)
	})
}

func TestARunShowsWhatHoldsIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		ctx := t.Context()
		first, second := d.task("asking"), d.task("asking")
		k := d.turn()
		if k.Task.ID != first.ID {
			t.Fatalf("got task %s claimed, want the first", k.Task.Identifier)
		}
		waiting := d.queued(second.ID)[0]
		v, err := d.c.GetRun(ctx, mainWorkspace, waiting.ID)
		d.must(err)
		if len(v.Holds) == 0 || v.Holds[0].Kind != fairlead.HoldAgentBusy || v.Holds[0].Release == "" {
			t.Errorf("got holds %+v, want agent_busy", v.Holds)
		}
		if s := d.see(second.ID); s.State != fairlead.StateWaiting || len(s.Holds) != len(v.Holds) {
			t.Errorf("got state %s with holds %+v, want waiting with the run's", s.State, s.Holds)
		}
		_, err = d.c.GetRun(ctx, mainWorkspace, "run_nothing")
		refused(t, err, fairlead.CodeNotFound)
		_, err = d.c.ListRuns(ctx, mainWorkspace, RunQuery{Status: "sleeping"})
		refused(t, err, fairlead.CodeInvalid)
		live, err := d.c.ListRuns(ctx, mainWorkspace, RunQuery{Agent: "coder", Status: "running"})
		d.must(err)
		if len(live.Items) != 1 || live.Items[0].Node != d.node.ID {
			t.Errorf("got %+v, want the one live run", live.Items)
		}
		nodes, err := d.c.ListNodes(ctx)
		d.must(err)
		if len(nodes) != 1 || nodes[0].ID != d.node.ID || nodes[0].DeadAt != nil {
			t.Errorf("got nodes %+v, want the one", nodes)
		}
		spaces, err := d.c.ListWorkspaces(ctx)
		d.must(err)
		if len(spaces) != 1 || spaces[0].Key != mainWorkspace || spaces[0].Prefix != "FL" {
			t.Errorf("got workspaces %+v, want main", spaces)
		}
		_, err = d.c.GetAgent(ctx, mainWorkspace, "nobody")
		refused(t, err, fairlead.CodeNotFound)
		_, err = d.c.GetWorkflow(ctx, mainWorkspace, "none")
		refused(t, err, fairlead.CodeNotFound)
	})
}

func TestADeadRunShowsAsFailedUntilALaterWake(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		task := d.task("asking")
		k := d.turn()
		_, err := d.c.Report(t.Context(), Report{
			Run: k.Run.ID, Fence: k.Run.Fence, Node: d.node, Seq: d.seq + 1, TreeDead: true,
			End: &TurnEnd{StopReason: "failed", Failure: &fairlead.Failure{Class: fairlead.ClassConfiguration, Message: "no such command"}},
		})
		d.must(err)
		if v := d.see(task.ID); v.State != fairlead.StateFailed {
			t.Errorf("got state %s, want failed", v.State)
		}
		if got, _ := d.titles(TaskQuery{State: "failed"}); len(got) != 1 {
			t.Errorf("got %d failed tasks, want 1", len(got))
		}
		_, err = d.c.Comment(t.Context(), owner(), task.ID, fairlead.CommentBody{Text: "try again"})
		d.must(err)
		if v := d.see(task.ID); v.State != fairlead.StateQueued {
			t.Errorf("got state %s, want queued", v.State)
		}
	})
}
