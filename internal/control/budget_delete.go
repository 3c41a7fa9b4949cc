package control

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
)

// DeleteBudget takes a limit away and returns it as it last stood: what it held is free, what it stopped goes on, and its
// open request is superseded. What was used stays on record. Agents never do this.
func (c *Control) DeleteBudget(ctx context.Context, m Meta, id string) (fairlead.BudgetView, error) {
	cmd := command{name: "delete budget", run: m.Actor.Run, body: struct{ Budget string }{id}}
	var err error
	if cmd.task, err = c.budgetTask(ctx, m.Workspace, id); err != nil {
		// Sent again under its operation id, the command finds no budget, but its answer.
		cmd.task = ""
		if !fairlead.IsCode(err, fairlead.CodeNotFound) {
			return fairlead.BudgetView{}, c.refused(ctx, m, cmd, err)
		}
	}
	return do(ctx, c, m, cmd, func(w *work) (fairlead.BudgetView, error) {
		none := fairlead.BudgetView{}
		if err := w.personOnly("budgets"); err != nil {
			return none, err
		}
		b, err := w.lockBudget(id)
		if err != nil {
			return none, err
		}
		if err := w.ifVersion(b.Version); err != nil {
			return none, err
		}
		if err := w.closeBudgetRequest(b, fairlead.RequestSuperseded, nil, "the budget was deleted"); err != nil {
			return none, err
		}
		view, err := read.BudgetView(&w.tx.ReadTx, *b)
		if err != nil {
			return none, err
		}
		if err := w.letGo(b, budgetName(b)+" was deleted."); err != nil {
			return none, err
		}
		if _, err := w.tx.DeleteTimer(fairlead.TimerBudgetPeriod, b.ID); err != nil {
			return none, err
		}
		if err := w.tx.DeleteBudget(b.ID); err != nil {
			return none, err
		}
		w.budgetEvent(fairlead.EventBudgetDeleted, b, nil)
		return view, w.workspaceChanged()
	})
}

// budgetTask is the task whose scope a budget of the workspace is about, "" for none. It never changes, so it can be
// looked up before the lock.
func (c *Control) budgetTask(ctx context.Context, workspace, id string) (task string, err error) {
	err = c.db.Read(ctx, func(tx *storeReadTx) error {
		b, err := tx.LoadBudget(id)
		if fairlead.IsCode(err, fairlead.CodeNotFound) || err == nil && b.Workspace != workspace {
			return noSuchBudget()
		}
		task = b.Task
		return err
	})
	return task, err
}
