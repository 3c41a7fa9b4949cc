package control

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// panelFlow is decided by people alone.
const panelFlow = `
workflow: panel
name: Panel
start: review
steps:
  - key: review
    name: Review
    participants:
      - {role: reviewer, person: owner}
      - {role: reviewer, person: eve}
    on:
      decision:
        - move: {to: back, if: 'quorum("reviewer", "any_reject")'}
        - move: {to: done, if: 'quorum("reviewer", "all_approve")'}
  - {key: back, name: Back}
  - {key: done, name: Done, terminal: done}
`

// eachPanel runs fn on both databases, with functions of Write run once so that they really meet.
func eachPanel(t *testing.T, fn func(t *testing.T, h *house)) {
	t.Helper()
	t.Parallel()
	storetest.EachWith(t, &store.Options{}, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		_, err := h.c.AddPerson(t.Context(), owner(), fairlead.KeyNameBody{Key: "eve", Name: "Eve"})
		h.must(err)
		h.save(panelFlow)
		fn(t, h)
	})
}

// together runs n calls at once and returns their errors by their number.
func together(n int, call func(i int) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-begin
			errs[i] = call(i)
		})
	}
	close(begin)
	all.Wait()
	return errs
}

func (h *house) visits(task string) []fairlead.TransitionView {
	h.t.Helper()
	v, err := h.c.Transitions(h.t.Context(), mainWorkspace, task)
	h.must(err)
	return v.Items
}

func TestE13_FiftyOppositeDecisionsMoveOnce(t *testing.T) {
	eachPanel(t, func(t *testing.T, h *house) {
		task := h.task("panel")
		errs := together(50, func(i int) error {
			who, verdict := "owner", "approve"
			if i%2 == 1 {
				who = "eve"
			}
			if i%4 >= 2 {
				verdict = "reject"
			}
			_, err := h.c.Decide(t.Context(), asPerson(who), task.ID, fairlead.DecisionBody{Verdict: verdict, Visit: 1, Round: 1})
			return err
		})
		taken := 0
		for i, err := range errs {
			switch {
			case err == nil:
				taken++
			case !fairlead.IsCode(err, fairlead.CodeConflict):
				t.Errorf("decision %d: got %v, want success or a conflict", i, err)
			}
		}
		if v := h.visits(task.ID); len(v) != 2 {
			t.Fatalf("got %d visits, want the one move", len(v))
		}
		recorded := 0
		h.must(h.db.Read(t.Context(), func(tx *store.ReadTx) error {
			all, err := tx.ListAllDecisions(task.ID)
			recorded = len(all)
			return err
		}))
		if recorded != taken || taken == 0 {
			t.Errorf("got %d decisions on record, want the %d that were taken", recorded, taken)
		}
		if got := h.audits("record decision"); got != 50-taken {
			t.Errorf("got %d audit rows, want one for each of the %d refusals", got, 50-taken)
		}
		h.folds(task.ID)
	})
}

func TestE29_TwoLastVotesAreCountedTogether(t *testing.T) {
	eachPanel(t, func(t *testing.T, h *house) {
		for range 20 {
			task := h.task("panel")
			errs := together(2, func(i int) error {
				_, err := h.c.Decide(t.Context(), asPerson([]string{"owner", "eve"}[i]), task.ID, fairlead.DecisionBody{Verdict: "approve"})
				return err
			})
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			if got := h.see(task.ID); got.Step != "done" || len(h.visits(task.ID)) != 2 {
				t.Fatalf("got step %s after %d visits, want done after one move", got.Step, len(h.visits(task.ID)))
			}
		}
	})
}

func TestE32_OppositeEdgesAtOnce(t *testing.T) {
	eachPanel(t, func(t *testing.T, h *house) {
		for range 10 {
			a, b := h.task("panel"), h.task("panel")
			errs := together(2, func(i int) error {
				from, to := a.ID, b.ID
				if i == 1 {
					from, to = to, from
				}
				_, err := h.c.AddBlocker(t.Context(), owner(), from, fairlead.BlockerBody{BlockedBy: to})
				return err
			})
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("got %v and %v, want exactly one refused", errs[0], errs[1])
			}
			e := refused(t, cmp.Or(errs[0], errs[1]), fairlead.CodeRefused)
			if path, _ := e.Data["path"].([]string); len(path) < 2 {
				t.Errorf("got %v, want the refusal to name the circle", e.Data)
			}
		}
	})
}

func TestE4_OneOperationManyTimesAtOnce(t *testing.T) {
	eachPanel(t, func(t *testing.T, h *house) {
		m := owner()
		m.Op = "create-1"
		ids := make([]string, 20)
		errs := together(20, func(i int) error {
			v, err := h.c.CreateTask(t.Context(), m, fairlead.NewTask{Title: "once", Workflow: "panel"})
			ids[i] = v.ID
			return err
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids[1:] {
			if id != ids[0] {
				t.Fatalf("got tasks %s and %s, want one", ids[0], id)
			}
		}
		_, err := h.c.CreateTask(t.Context(), m, fairlead.NewTask{Title: "other", Workflow: "panel"})
		refused(t, err, fairlead.CodeOpReused)
		// A refusal is not remembered: the same id comes through when the cause is mended.
		m.Op = "create-2"
		_, err = h.c.CreateTask(t.Context(), m, fairlead.NewTask{Title: "later", Workflow: "missing"})
		refused(t, err, fairlead.CodeInvalid)
		h.save("workflow: missing\nstart: a\nsteps: [{key: a}]\n")
		_, err = h.c.CreateTask(t.Context(), m, fairlead.NewTask{Title: "later", Workflow: "missing"})
		h.must(err)
		// After a restart it is still the same operation.
		m.Op = "create-1"
		v, err := h.again().c.CreateTask(t.Context(), m, fairlead.NewTask{Title: "once", Workflow: "panel"})
		h.must(err)
		if v.ID != ids[0] {
			t.Errorf("got task %s after a restart, want %s", v.ID, ids[0])
		}
	})
}

// Property 4: votes and moves that meet end as some serial order of them would.
func TestVotesAndMovesAtOnce(t *testing.T) {
	eachPanel(t, func(t *testing.T, h *house) {
		for round := range 10 {
			task := h.task("panel")
			errs := together(6, func(i int) error {
				ctx := t.Context()
				switch i {
				case 0, 1:
					_, err := h.c.Decide(ctx, asPerson([]string{"owner", "eve"}[i]), task.ID, fairlead.DecisionBody{Verdict: "approve", Visit: 1})
					return err
				case 2:
					_, err := h.c.Move(ctx, owner(), task.ID, fairlead.MoveBody{Step: "back", ExpectedVisit: 1})
					return err
				case 3:
					_, err := h.c.Decide(ctx, asPerson("eve"), task.ID, fairlead.DecisionBody{Verdict: "reject", Visit: 1})
					return err
				}
				_, err := h.c.Comment(ctx, owner(), task.ID, fairlead.CommentBody{Text: fmt.Sprint("comment ", i)})
				return err
			})
			for i, err := range errs {
				if err != nil && !fairlead.IsCode(err, fairlead.CodeConflict) {
					t.Errorf("round %d, call %d: %v", round, i, err)
				}
			}
			// Every order of the calls leaves visit 1 exactly once.
			if v := h.visits(task.ID); len(v) != 2 || v[0].EndedAt == nil || v[1].EndedAt != nil {
				t.Errorf("round %d: got visits %+v", round, v)
			}
			h.folds(task.ID)
		}
	})
}
