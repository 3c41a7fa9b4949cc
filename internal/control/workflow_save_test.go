package control

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

const lineWorkflow = `
workflow: line
name: Line
start: todo
steps:
  - {key: todo, name: Todo, on: {manual: {go: [{move: {to: work}}]}}}
  - {key: work, name: Work, on: {manual: {go: [{move: {to: done}}]}}}
  - {key: done, name: Done, terminal: done}
`

// lineWithoutWork is the same line without its middle.
const lineWithoutWork = `
workflow: line
name: Line
start: todo
steps:
  - {key: todo, name: Todo, on: {manual: {go: [{move: {to: build}}]}}}
  - {key: build, name: Build, on: {manual: {go: [{move: {to: done}}]}}}
  - {key: done, name: Done, terminal: done}
`

func TestE6_AFaultyWorkflowStoresNothing(t *testing.T) {
	t.Parallel()
	faulty := map[string]string{
		"yaml":      "workflow: [",
		"action":    "workflow: w\nstart: a\nsteps:\n  - {key: a, on: {comment: [{teleport: {to: a}}]}}\n",
		"trigger":   "workflow: w\nstart: a\nsteps:\n  - {key: a, on: {moonrise: [{comment: {text: hi}}]}}\n",
		"guard":     "workflow: w\nstart: a\nsteps:\n  - {key: a, on: {comment: [{move: {to: b, if: 'task.colour == 1'}}]}}\n  - {key: b}\n",
		"step":      "workflow: w\nstart: a\nsteps:\n  - {key: a, on: {comment: [{move: {to: nowhere}}]}}\n",
		"role":      "workflow: w\nstart: a\nsteps:\n  - {key: a, participants: [{role: judge, agent: coder}]}\n",
		"threshold": "workflow: w\nstart: a\nsteps:\n  - {key: a, on: {decision: [{move: {to: b, if: 'quorum(\"reviewer\", \"most\")'}}]}}\n  - {key: b}\n",
		"agent":     "workflow: w\nstart: a\nsteps:\n  - {key: a, agent: nobody, on: {enter: [{queue_run: {to: primary}}]}}\n",
		"no end":    "workflow: coordination\nstart: a\nsteps:\n  - {key: a}\n  - {key: b, terminal: done}\n",
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		before := h.dump()
		for name, source := range faulty {
			_, err := h.c.SaveWorkflow(t.Context(), owner(), fairlead.WorkflowBody{Source: source})
			e := refused(t, err, fairlead.CodeInvalid)
			if len(e.Fields) == 0 || e.Fields[0].Line == 0 || e.Fields[0].Column == 0 {
				t.Errorf("%s: got fields %+v, want a line and a column", name, e.Fields)
			}
		}
		if diff := cmp.Diff(before, h.dump()); diff != "" {
			t.Errorf("refused saves left something behind:\n%s", diff)
		}
		if n := h.audits("save workflow"); n != len(faulty) {
			t.Errorf("got %d audit rows, want %d", n, len(faulty))
		}
	})
}

func TestSavingTheSameContentIsTheSameVersion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		first := h.save(lineWorkflow)
		if first.Version != 1 || !first.Saved {
			t.Fatalf("got version %d, saved %v; want 1, true", first.Version, first.Saved)
		}
		if again := h.save(lineWorkflow); again.Version != 1 || again.Saved {
			t.Errorf("got version %d, saved %v; want 1, false", again.Version, again.Saved)
		}
		_, err := h.c.SaveWorkflow(t.Context(), owner(), fairlead.WorkflowBody{Source: lineWithoutWork, ExpectedVersion: 2})
		refused(t, err, fairlead.CodeStale)
		v, err := h.c.SaveWorkflow(t.Context(), owner(), fairlead.WorkflowBody{Source: lineWithoutWork, ExpectedVersion: 1})
		h.must(err)
		got, err := h.c.GetWorkflow(t.Context(), mainWorkspace, "line")
		h.must(err)
		if v.Version != 2 || got.Version != 2 || got.Source != lineWithoutWork || len(got.Steps) != 3 {
			t.Errorf("got %+v, want version 2 as saved", got)
		}
		if diff := cmp.Diff([]string{"build"}, got.Steps[0].Moves); diff != "" {
			t.Errorf("moves of the first step:\n%s", diff)
		}
	})
}

func TestE19_RemovingAnOccupiedStep(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		ctx := t.Context()
		h.save(lineWorkflow)
		a, b, idle := h.task("line"), h.task("line"), h.task("line")
		for _, task := range []fairlead.TaskView{a, b} {
			_, err := h.c.Move(ctx, owner(), task.ID, fairlead.MoveBody{Step: "work"})
			h.must(err)
		}
		before := h.dump()
		_, err := h.c.SaveWorkflow(ctx, owner(), fairlead.WorkflowBody{Source: lineWithoutWork})
		e := refused(t, err, fairlead.CodeRefused)
		want := map[string]any{"steps": map[string][]string{"work": {a.Identifier, b.Identifier}}, "count": 2}
		if diff := cmp.Diff(want, e.Data); diff != "" {
			t.Errorf("the refusal names other tasks:\n%s", diff)
		}
		if h.dump() != before {
			t.Error("the refused save left something behind")
		}
		_, err = h.c.SaveWorkflow(ctx, owner(), fairlead.WorkflowBody{Source: lineWithoutWork, Remap: map[string]string{"work": "nowhere"}})
		refused(t, err, fairlead.CodeInvalid)
		v, err := h.c.SaveWorkflow(ctx, owner(), fairlead.WorkflowBody{Source: lineWithoutWork, Remap: map[string]string{"work": "build"}})
		h.must(err)
		if diff := cmp.Diff([]string{a.Identifier, b.Identifier}, v.Moved); diff != "" {
			t.Errorf("the save moves others:\n%s", diff)
		}
		for _, task := range []fairlead.TaskView{a, b} {
			got := h.see(task.ID)
			if got.Step != "build" || got.WorkflowVersion != 2 {
				t.Errorf("got step %s of version %d, want build of 2", got.Step, got.WorkflowVersion)
			}
			visits, err := h.c.Transitions(ctx, mainWorkspace, task.ID)
			h.must(err)
			if last := visits.Items[len(visits.Items)-1]; last.Reason != "remap" || last.By.Kind != fairlead.ActorEngine || last.From != "work" {
				t.Errorf("got the last visit %+v, want one that says remap", last)
			}
		}
		if got := h.see(idle.ID); got.Step != "todo" || got.Visit != 1 {
			t.Errorf("the task elsewhere stands at %s in visit %d, want todo in 1", got.Step, got.Visit)
		}
	})
}

func TestE20_AStandingVisitKeepsItsVersion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		ctx := t.Context()
		h.save(lineWorkflow)
		a, b := h.task("line"), h.task("line")
		v := h.save(lineWorkflow + "  - {key: extra, name: Extra}\n")
		if got := h.see(a.ID); got.WorkflowVersion != 1 {
			t.Errorf("the standing visit has version %d, want 1", got.WorkflowVersion)
		}
		_, err := h.c.Move(ctx, owner(), a.ID, fairlead.MoveBody{Step: "extra"})
		h.must(err)
		if got := h.see(a.ID); got.WorkflowVersion != v.Version || got.StepName != "Extra" {
			t.Errorf("the next visit has version %d at %q, want %d at Extra", got.WorkflowVersion, got.StepName, v.Version)
		}
		before := h.dump()
		dry, err := h.c.Repin(ctx, owner(), b.ID, fairlead.RepinBody{DryRun: true})
		h.must(err)
		if !dry.DryRun || h.dump() != before {
			t.Error("a dry repin changed something")
		}
		_, err = h.c.Repin(ctx, owner(), b.ID, fairlead.RepinBody{})
		h.must(err)
		if got := h.see(b.ID); got.WorkflowVersion != v.Version || got.Visit != 1 {
			t.Errorf("after the repin: version %d, visit %d; want %d, 1", got.WorkflowVersion, got.Visit, v.Version)
		}
	})
}

func TestE20_ALiveRunGoesOnInTheVersionItsVisitBeganWith(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		task := d.task("asking")
		k := d.turn()
		v := d.save(askingWorkflow + "  - {key: late, name: Late}\n")
		if v.Version != 2 || k.Workflow.Version != 1 {
			t.Fatalf("got versions %d and %d, want 2 saved while 1 is worked", v.Version, k.Workflow.Version)
		}
		if got := d.see(task.ID); got.WorkflowVersion != 1 || got.State != fairlead.StateRunning {
			t.Errorf("got version %d, state %s; want the run to go on in version 1", got.WorkflowVersion, got.State)
		}
		d.end(k)
		if got := d.see(task.ID); got.Step != "done" || got.WorkflowVersion != 2 {
			t.Errorf("got step %s of version %d, want done of 2", got.Step, got.WorkflowVersion)
		}
	})
}

func TestLintStoresNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t).Open(t, nil))
	before := h.dump()
	r, err := h.c.LintWorkflow(t.Context(), mainWorkspace, lineWorkflow)
	h.must(err)
	if !r.OK || r.Key != "line" {
		t.Errorf("got %+v, want a good file", r)
	}
	if r, err = h.c.LintWorkflow(t.Context(), mainWorkspace, "workflow: w\n"); err != nil || r.OK || len(r.Errors) == 0 {
		t.Errorf("got %+v, %v; want errors", r, err)
	}
	if h.dump() != before {
		t.Error("lint changed the database")
	}
}
