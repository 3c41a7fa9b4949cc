package control

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// stopByBudget notes every used-up budget that stops a live run, and reports whether any does or did. What a run was told
// once stays told, even if somebody raises the limit before its turn has ended: its runtime may be ending it already.
func (w *work) stopByBudget(r *fairlead.Run) (bool, error) {
	f, err := w.facts()
	if err != nil || len(f.Budgets) == 0 {
		return false, err
	}
	ids, err := budgetsOver(&w.tx.ReadTx, f, &w.task.row.Task, r, stopping)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	waits, err := w.tx.BudgetWaits(r.ID)
	if err != nil {
		return false, err
	}
	budgets, err := w.tx.BudgetsIn(ids)
	if err != nil {
		return false, err
	}
	var over []string
	for i := range budgets {
		known := slices.ContainsFunc(waits, func(x store.BudgetWaiter) bool { return x.Budget == budgets[i].ID })
		if !known && stops(&budgets[i]) {
			over = append(over, budgets[i].ID)
		}
	}
	if len(over) == 0 {
		return len(waits) > 0, nil
	}
	// Under the lock: a raise either sees the waiter or is seen here.
	locked, err := w.tx.StopBudgets(over)
	if err != nil {
		return false, err
	}
	told := len(waits) > 0
	for i := range locked {
		b := &locked[i]
		if !stops(b) {
			continue
		}
		told = true
		if err := w.tx.PutBudgetWaiter(store.BudgetWaiter{Run: r.ID, Budget: b.ID, Task: r.Task, Assignment: r.Assignment}); err != nil {
			return false, err
		}
		if err := w.runEvent(r, fairlead.RunEventBudget, map[string]any{"budget": b.ID, "text": b.Standing().Text()}); err != nil {
			return false, err
		}
	}
	return told, nil
}

// stoppedByBudget is stopByBudget at a turn's end, when a budget that stopped it may be gone.
func (w *work) stoppedByBudget(r *fairlead.Run) (bool, error) {
	if stopped, err := w.stopByBudget(r); stopped || err != nil {
		return stopped, err
	}
	waits, err := w.tx.BudgetWaits(r.ID)
	return len(waits) > 0, err
}

// stops reports whether a budget stops live work.
func stops(b *store.Budget) bool {
	return len(policy.CheckBudgets(policy.CheckCall, []*policy.Standing{b.Standing()}).Stops) > 0
}

// parkedByBudget ends a turn that a budget stopped before its step was done: it waits, without process or clock, until
// the budget lets it go on. That is no failure and no attempt, whatever the turn's end says.
func (w *work) parkedByBudget(t *turn) error {
	t.status = fairlead.RunParked
	if t.end.Failure != nil {
		if err := w.runEvent(t.run, fairlead.RunEventAttemptFailed, failureData(t.end.Failure)); err != nil {
			return err
		}
		if err := w.refusedToo(t); err != nil {
			return err
		}
	}
	t.a.ParkRequested, t.a.Interruptions, t.a.State = false, 0, fairlead.AssignmentParked
	if err := w.tx.SaveAssignment(&t.a); err != nil {
		return err
	}
	if err := w.closeTurn(t, true); err != nil {
		return err
	}
	if err := w.turnComplete(t, false, w.ownMove(t)); err != nil {
		return err
	}
	waits, err := w.tx.BudgetWaits(t.run.ID)
	if err != nil || slices.ContainsFunc(waits, func(x store.BudgetWaiter) bool { return !x.Released }) {
		return err
	}
	return w.goOn(t.run, budgetRelease{By: fairlead.Engine(), Text: "A budget that stopped the work was raised before its turn had ended."})
}

// budgetRelease tells a task that a budget lets its stopped work go on.
type budgetRelease struct {
	Budget string         `json:"budget"`
	By     fairlead.Actor `json:"by"`
	Text   string         `json:"text"`
}

// budgetReleased lets the stopped runs of the locked task go on. One whose turn has not ended sees it at its end.
func (w *work) budgetReleased(row fairlead.Outbox) error {
	var release budgetRelease
	if err := unmarshal(row.Payload, &release); err != nil {
		return err
	}
	waiters, err := w.tx.BudgetWaitersOf(w.task.row.ID)
	if err != nil {
		return err
	}
	last := ""
	for _, x := range waiters {
		if !x.Released || x.Run == last {
			continue
		}
		last = x.Run
		r, err := w.tx.LoadRun(x.Run)
		if err != nil {
			return err
		}
		if r.Status.Live() && r.StopStatus != fairlead.RunParked {
			continue
		}
		if err := w.goOn(&r, release); err != nil {
			return err
		}
	}
	return nil
}

// goOn wakes the assignment of a run that a budget had parked. Of a run that ended otherwise it only forgets that it was
// stopped.
func (w *work) goOn(r *fairlead.Run, release budgetRelease) error {
	if err := w.tx.DropBudgetWaiter(r.ID); err != nil {
		return err
	}
	if r.Status != fairlead.RunParked && r.StopStatus != fairlead.RunParked {
		return nil
	}
	a, err := w.tx.LoadAssignment(r.Assignment)
	if err != nil || a.State == fairlead.AssignmentEnded {
		return err
	}
	open, err := w.hasOpenQuestion(a.ID)
	if err != nil {
		return err
	}
	if a.State == fairlead.AssignmentParked && !open {
		a.State = fairlead.AssignmentOpen
		if err := w.saveAssignment(a); err != nil {
			return err
		}
		if a, err = w.tx.LoadAssignment(a.ID); err != nil {
			return err
		}
	}
	payload := map[string]any{"budget": release.Budget, "text": release.Text}
	return w.wake(a, engine.Wake{Assignment: a.ID, Agent: a.Agent, Reason: fairlead.ReasonBudget, Payload: payload, By: release.By})
}
