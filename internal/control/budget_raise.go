package control

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// RaiseBudget raises a limit: what the budget stopped goes on where it was, what it held is free, its open request is
// answered. Agents never do this.
func (c *Control) RaiseBudget(ctx context.Context, m Meta, id string, body fairlead.RaiseBody) (fairlead.BudgetView, error) {
	if m.Op == "" {
		m.Op = body.Op
	}
	body.Op = ""
	cmd := command{name: "raise budget", run: m.Actor.Run, body: struct {
		Budget string
		Body   fairlead.RaiseBody
	}{id, body}}
	var err error
	if cmd.task, err = c.budgetTask(ctx, m.Workspace, id); err != nil {
		return fairlead.BudgetView{}, c.refused(ctx, m, cmd, err)
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
		limit, err := raised(b, body)
		if err != nil {
			return none, err
		}
		if b, err = w.raise(b, limit, ""); err != nil {
			return none, err
		}
		return read.BudgetView(&w.tx.ReadTx, *b)
	})
}

// raised is the new limit that a body asks for.
func raised(b *store.Budget, body fairlead.RaiseBody) (int64, error) {
	switch {
	case (body.By == "") == (body.To == ""):
		return 0, invalidField("by", "a raise takes one amount", "write by, what is added, or to, the new limit")
	case body.To != "":
		return policy.ParseAmount(b.Meter, body.To)
	}
	by, err := policy.ParseAmount(b.Meter, body.By)
	return b.Limit + bounded(by), err
}

// raise gives a locked budget a higher limit. answering is the request whose answer this is, "" for none: its caller
// closes it.
func (w *work) raise(b *store.Budget, limit int64, answering string) (*store.Budget, error) {
	next, err := b.Raise(limit)
	if err != nil {
		return nil, err
	}
	if answering == "" {
		text := policy.AmountText(b.Meter, limit-b.Limit)
		if err := w.closeBudgetRequest(b, fairlead.RequestAnswered, &fairlead.Answer{Option: fairlead.OptionRaise, Text: text}, "raised"); err != nil {
			return nil, err
		}
	}
	b.Budget = next
	if err := w.tx.SaveBudget(b); err != nil {
		return nil, err
	}
	w.limited(fairlead.EventBudgetRaised, b)
	return b, w.releaseBudget(b)
}

// releaseBudget lets go on what a changed budget stops no longer. One that is used up at once again keeps everything as
// it was and asks anew.
func (w *work) releaseBudget(b *store.Budget) error {
	if err := w.weighBudget(b); err != nil {
		return err
	}
	if c := policy.CheckBudgets(policy.CheckClaim, []*policy.Standing{b.Standing()}); c.Hold {
		return nil
	}
	return w.letGo(b, budgetName(b)+" stands at "+b.Standing().Text()+" now.")
}

// letGo tells the tasks of all runs that a budget stopped that they go on, and nodes to look at what it held.
func (w *work) letGo(b *store.Budget, text string) error {
	waiters, err := w.tx.ReleaseBudgetWaiters(b.ID)
	if err != nil {
		return err
	}
	last := ""
	for _, waiter := range waiters {
		if waiter.Task == last {
			continue
		}
		last = waiter.Task
		payload := budgetRelease{Budget: b.ID, By: w.meta.Actor, Text: text}
		if err := w.post(waiter.Task, w.derivedOp("budget", b.ID, waiter.Task), fairlead.OutboxBudget, payload); err != nil {
			return err
		}
	}
	w.look() // what was held is free
	return nil
}
