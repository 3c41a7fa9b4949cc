package control

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
	"github.com/fairlead/fairlead/internal/workflow"
)

func (h *house) apply(source string) fairlead.AgentView {
	h.t.Helper()
	v, err := h.c.ApplyAgent(h.t.Context(), owner(), fairlead.AgentBody{Source: source})
	h.must(err)
	return v
}

func TestApplyAgent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		ctx := t.Context()
		const source = "agent: tester\nname: Tester\nadapter: llm\nparallel: 2\n"
		if v := h.apply(source); v.Version != 1 || v.Parallel != 2 {
			t.Errorf("got %+v, want version 1 with two slots", v)
		}
		if v := h.apply(source + "# the same profile\n"); v.Version != 1 {
			t.Errorf("got version %d for the same profile, want 1", v.Version)
		}
		_, err := h.c.PauseAgent(ctx, owner(), "tester", fairlead.PauseBody{Reason: "too loud"})
		h.must(err)
		v := h.apply("agent: tester\nadapter: llm\n")
		if !v.Paused || v.PauseReason != "too loud" {
			t.Errorf("got %+v, want it still paused: a profile says nothing about that", v)
		}
		m := owner()
		m.IfVersion = 1
		_, err = h.c.ApplyAgent(ctx, m, fairlead.AgentBody{Source: source})
		refused(t, err, fairlead.CodeStale)
		_, err = h.c.ApplyAgent(ctx, owner(), fairlead.AgentBody{Source: "agent: tester\nadaptor: llm\n"})
		refused(t, err, fairlead.CodeInvalid)
		if v, err = h.c.ResumeAgent(ctx, owner(), "tester", fairlead.PauseBody{}); err != nil || v.Paused || v.PauseReason != "" {
			t.Errorf("got %+v, %v; want it resumed", v, err)
		}
		_, err = h.c.ResumeAgent(ctx, owner(), "nobody", fairlead.PauseBody{})
		refused(t, err, fairlead.CodeNotFound)
		// The new agent can be named at once.
		h.save("workflow: t\nstart: a\nsteps:\n  - {key: a, agent: tester, on: {comment: [{queue_run: {to: primary}}]}}\n")
	})
}

func TestAnAgentWithADutyHasOneStandingTask(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		h.apply("agent: chief\nname: Chief\nadapter: llm\nduty: ceo\n")
		standing := func() []fairlead.TaskView {
			p, err := h.c.ListTasks(t.Context(), mainWorkspace, TaskQuery{Workflow: coordinationWorkflow})
			h.must(err)
			return p.Items
		}
		if got := standing(); len(got) != 0 {
			t.Fatalf("got tasks %+v on a workflow that is not there", got)
		}
		h.save(string(workflow.TemplateSource(coordinationWorkflow)))
		h.apply("agent: chief\nname: Chief\nadapter: llm\nduty: ceo\nparallel: 2\n")
		h.apply("agent: second\nadapter: llm\nduty: cfo\n")
		h.must(h.c.ensureCoordination(t.Context(), mainWorkspace, "chief"))
		got := standing()
		if len(got) != 2 || got[0].Agent != "second" || got[1].Agent != "chief" || got[1].Title != "Coordination by Chief" {
			t.Errorf("got tasks %+v, want one for each agent with a duty", got)
		}
		h.must(h.c.ensureCoordination(t.Context(), mainWorkspace, "coder"))
		if got := standing(); len(got) != 2 {
			t.Errorf("got %d tasks, want none for an agent without a duty", len(got))
		}
	})
}

func TestAPausedAgentShowsOnItsTasks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		task := d.task("asking")
		if v := d.see(task.ID); v.State != fairlead.StateQueued {
			t.Errorf("got state %s, want queued", v.State)
		}
		_, err := d.c.PauseAgent(t.Context(), owner(), "coder", fairlead.PauseBody{Reason: "budget"})
		d.must(err)
		v := d.see(task.ID)
		if v.State != fairlead.StatePaused || len(v.Holds) == 0 || v.Holds[0].Kind != fairlead.HoldAgentPaused {
			t.Errorf("got state %s with holds %+v, want paused by agent_paused", v.State, v.Holds)
		}
		_, err = d.c.ResumeAgent(t.Context(), owner(), "coder", fairlead.PauseBody{})
		d.must(err)
		k := d.turn()
		if v := d.see(task.ID); v.State != fairlead.StateRunning || v.Checkout == nil || v.Checkout.Run != k.Run.ID {
			t.Errorf("got state %s with checkout %+v, want running", v.State, v.Checkout)
		}
		a, err := d.c.GetAgent(t.Context(), mainWorkspace, "coder")
		d.must(err)
		if len(a.Live) != 1 || a.Live[0] != k.Run.ID || a.Queued != 0 {
			t.Errorf("got live %v and %d queued, want the one run", a.Live, a.Queued)
		}
		d.end(k)
		if v := d.see(task.ID); v.State != fairlead.StateDone {
			t.Errorf("got state %s, want done", v.State)
		}
	})
}

func TestTheInboxHoldsRequestsAndNotices(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		ctx := t.Context()
		_, err := d.c.AddPerson(ctx, owner(), fairlead.KeyNameBody{Key: "anna"})
		d.must(err)
		task := d.task("asking")
		mine := d.put(task.ID, fairlead.Request{Kind: fairlead.RequestQuestion, Prompt: "anna?", AskedOf: []string{"person:anna"}, Blocks: fairlead.BlocksNothing})
		d.put(task.ID, fairlead.Request{Kind: fairlead.RequestQuestion, Prompt: "owner?", AskedOf: []string{"person:owner"}, Blocks: fairlead.BlocksNothing})
		all := d.put(task.ID, fairlead.Request{Kind: fairlead.RequestQuestion, Prompt: "anybody?", Blocks: fairlead.BlocksNothing})
		_, err = do(ctx, d.c, Meta{Workspace: mainWorkspace, Actor: fairlead.Engine()}, command{name: "note", task: task.ID}, func(w *work) (int, error) {
			return 0, w.addNotice(engine.AddNotice{Kind: "agent_error", Text: "it broke"})
		})
		d.must(err)
		in, err := d.c.Inbox(ctx, mainWorkspace, "anna")
		d.must(err)
		var got []string
		for _, q := range in.Requests {
			got = append(got, q.ID)
		}
		if len(got) != 2 || got[0]+got[1] != all+mine && got[0]+got[1] != mine+all {
			t.Errorf("got requests %v, want %s and %s", got, mine, all)
		}
		if len(in.Notices) != 1 || in.Notices[0].Identifier != task.Identifier {
			t.Fatalf("got notices %+v, want one of the task", in.Notices)
		}
		for range 2 {
			d.must(d.c.DismissNotice(ctx, asPerson("anna"), in.Notices[0].ID, fairlead.OpBody{}))
		}
		if in, err = d.c.Inbox(ctx, mainWorkspace, "anna"); err != nil || len(in.Notices) != 0 {
			t.Errorf("got notices %+v, %v; want none", in.Notices, err)
		}
		refused(t, d.c.DismissNotice(ctx, asPerson("anna"), "not_there", fairlead.OpBody{}), fairlead.CodeNotFound)
	})
}

func TestTheJournalIsReadInPages(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		task := d.task("asking")
		for range 7 {
			_, err := d.c.Comment(t.Context(), owner(), task.ID, fairlead.CommentBody{Text: "hello"})
			d.must(err)
		}
		var after int64
		var pages int
		for {
			p, err := d.c.Journal(t.Context(), mainWorkspace, task.Identifier, after, 4)
			d.must(err)
			pages++
			for _, r := range p.Items {
				if after++; r.Seq != after {
					t.Fatalf("got record %d, want %d", r.Seq, after)
				}
			}
			if p.NextCursor == "" {
				break
			}
		}
		row := d.row(task.ID)
		if after != row.RecordSeq || pages < 3 {
			t.Errorf("got %d records on %d pages, want all %d", after, pages, row.RecordSeq)
		}
		comments, err := d.c.Comments(t.Context(), mainWorkspace, task.ID)
		d.must(err)
		runs, err := d.c.TaskRuns(t.Context(), mainWorkspace, task.ID)
		d.must(err)
		sessions, err := d.c.Sessions(t.Context(), mainWorkspace, task.ID)
		d.must(err)
		if len(comments.Items) != 7 || len(runs.Items) != 1 || len(runs.Items[0].Wakes) != 8 || len(sessions.Items) != 1 {
			t.Errorf("got %d comments, %d runs, %d sessions", len(comments.Items), len(runs.Items), len(sessions.Items))
		}
		events, err := d.c.RunEvents(t.Context(), mainWorkspace, runs.Items[0].ID, 0)
		d.must(err)
		if len(events.Items) == 0 || events.Items[0].Seq != 1 {
			t.Errorf("got run events %+v, want them from 1", events.Items)
		}
	})
}

func (h *house) row(task string) (row fairlead.Task) {
	h.t.Helper()
	h.must(h.db.Read(h.t.Context(), func(tx *store.ReadTx) error {
		r, err := tx.LoadTask(task)
		if err == nil {
			row = r.Task
		}
		return err
	}))
	return row
}
