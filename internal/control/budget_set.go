package control

import (
	"context"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// policySpan is a budget's period.
type policySpan = policy.Span

// SetBudget makes a limit or changes the one of the same scope, meter and period. What was spent in the running period
// counts from the first moment.
func (c *Control) SetBudget(ctx context.Context, m Meta, body fairlead.BudgetBody) (fairlead.BudgetView, error) {
	if m.Op == "" {
		m.Op = body.Op
	}
	body.Op = ""
	cmd := command{name: "set budget", run: m.Actor.Run, body: body}
	b, err := budgetOf(body)
	if err == nil {
		cmd.task, err = c.scopeTask(ctx, m.Workspace, &b)
	}
	if err != nil {
		return fairlead.BudgetView{}, c.refused(ctx, m, cmd, err)
	}
	return do(ctx, c, m, cmd, func(w *work) (fairlead.BudgetView, error) {
		if err := w.personOnly("budgets"); err != nil {
			return fairlead.BudgetView{}, err
		}
		row, err := w.setBudget(b, cmd.task)
		if err != nil {
			return fairlead.BudgetView{}, err
		}
		return read.BudgetView(&w.tx.ReadTx, *row)
	})
}

// budgetOf reads a body.
func budgetOf(body fairlead.BudgetBody) (policy.Budget, error) {
	b := policy.Budget{
		Scope: policy.BudgetScope(body.Scope), Ref: body.Ref, Meter: policy.Meter(body.Meter), Limit: 1, Period: policy.Period(body.Period),
		Zone: body.Zone, Alerts: slices.Compact(slices.Sorted(slices.Values(body.Alerts))), Action: policy.LimitAction(body.Action), Generation: 1,
	}
	if b.Zone == "" {
		b.Zone = "UTC"
	}
	if len(b.Alerts) == 0 {
		b.Alerts = policy.StandardAlerts()
	}
	if b.Action == "" {
		b.Action = policy.LimitPark
	}
	if err := b.Validate(); err != nil {
		return b, err
	}
	limit, err := policy.ParseAmount(b.Meter, body.Limit)
	b.Limit = min(limit, maxCharge)
	return b, err
}

// scopeTask finds what a budget's scope names, writes its id into Ref, and returns the task that the scope is about.
func (c *Control) scopeTask(ctx context.Context, ws string, b *policy.Budget) (task string, err error) {
	switch b.Scope {
	case policy.ScopeWorkspace:
	case policy.ScopeProject:
		err = fairlead.CheckKey("the project", b.Ref)
	case policy.ScopeAgent:
		_, err = c.GetAgent(ctx, ws, b.Ref)
	case policy.ScopeTask:
		if task, err = c.resolve(ctx, ws, b.Ref); err == nil {
			b.Ref = task
		}
	case policy.ScopeAssignment:
		err = c.db.Read(ctx, func(tx *storeReadTx) error {
			a, err := tx.LoadAssignment(b.Ref)
			if fairlead.IsCode(err, fairlead.CodeNotFound) || err == nil && a.Workspace != ws {
				return fairlead.Errorf(fairlead.CodeNotFound, "no such assignment").WithHint("a run shows its assignment: fairlead run show RUN --json")
			}
			task = a.Task
			return err
		})
	}
	return task, err
}

func (w *work) setBudget(b policy.Budget, task string) (*store.Budget, error) {
	old, err := w.tx.FindBudget(w.meta.Workspace, b)
	if err != nil {
		return nil, err
	}
	if old == nil {
		made, err := w.makeBudget(b, task)
		if err != nil || made != nil {
			return made, err
		}
		if old, err = w.tx.FindBudget(w.meta.Workspace, b); err != nil || old == nil {
			return nil, fairlead.Conflict(fairlead.ReasonBusy, "the budget is being made by somebody else").WithHint("set it again")
		}
	}
	row, err := w.lockBudget(old.ID)
	if err != nil {
		return nil, err
	}
	if err := w.ifVersion(row.Version); err != nil {
		return nil, err
	}
	return row, w.changeBudget(row, b)
}

// makeBudget inserts a new budget with what its scope has spent already; nil: somebody else has made it meanwhile.
func (w *work) makeBudget(b policy.Budget, task string) (*store.Budget, error) {
	if err := w.ifVersion(0); err != nil {
		return nil, err
	}
	b.ID = w.id(fairlead.PrefixBudget)
	row := &store.Budget{Budget: b, Workspace: w.meta.Workspace, Task: task, By: w.meta.Actor}
	var err error
	if row.Span, err = spanAt(row, w.now); err != nil {
		return nil, err
	}
	spent, err := w.tx.SpentSince(row.Workspace, b, row.Span.Start)
	if err != nil {
		return nil, err
	}
	row.Spent = bounded(spent.Of(b.Meter))
	if b.Meter == policy.MeterMoney {
		row.Unpriced = spent.Unpriced
	}
	if ok, err := w.tx.InsertBudget(row); err != nil || !ok {
		return nil, err
	}
	w.limited(fairlead.EventBudgetSet, row)
	if err := w.nextPeriod(row); err != nil {
		return nil, err
	}
	if err := w.weighBudget(row); err != nil {
		return nil, err
	}
	return row, w.workspaceChanged()
}

// changeBudget gives a locked budget other settings. Another limit is another generation: thresholds and the question
// begin anew.
func (w *work) changeBudget(row *store.Budget, b policy.Budget) error {
	same := row.Limit == b.Limit && row.Zone == b.Zone && row.Action == b.Action && slices.Equal(row.Alerts, b.Alerts)
	if same {
		return nil
	}
	if row.Limit != b.Limit || row.Action != b.Action {
		state, answer := fairlead.RequestSuperseded, (*fairlead.Answer)(nil)
		if b.Limit > row.Limit {
			state, answer = fairlead.RequestAnswered, &fairlead.Answer{Option: fairlead.OptionRaise, Text: policy.AmountText(b.Meter, b.Limit-row.Limit)}
		}
		if err := w.closeBudgetRequest(row, state, answer, "the budget was changed"); err != nil {
			return err
		}
		row.Generation++
	}
	zone := row.Zone != b.Zone
	row.Limit, row.Zone, row.Action, row.Alerts = b.Limit, b.Zone, b.Action, b.Alerts
	if zone {
		var err error
		if row.Span, err = spanAt(row, w.now); err != nil {
			return err
		}
		if err := w.nextPeriod(row); err != nil {
			return err
		}
	}
	if err := w.tx.SaveBudget(row); err != nil {
		return err
	}
	w.limited(fairlead.EventBudgetSet, row)
	return w.releaseBudget(row)
}
