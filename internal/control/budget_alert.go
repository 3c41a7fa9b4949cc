package control

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// noticeBudget is the inbox item of a crossed threshold.
const noticeBudget = "budget_alert"

// alert tells of one threshold, once: an inbox item, and budget_alert on every unfinished task in the budget's scope
// whose step names it.
func (w *work) alert(b *store.Budget, a policy.Alert) error {
	fresh, err := w.tx.PutBudgetAlert(b, a.Threshold)
	if err != nil || !fresh {
		return err
	}
	text := fmt.Sprintf("%s has used %d %% of its limit: %s.", budgetName(b), a.Percent, b.Standing().Text())
	data := map[string]any{
		"budget": b.ID, "scope": string(b.Scope), "ref": b.Ref, "meter": string(b.Meter), "budget_pct": a.Percent, "threshold": a.Threshold,
		"spent": b.Spent, "limit": b.Limit, "unpriced": b.Unpriced, "period": b.Span.Key,
	}
	n := fairlead.Notice{ID: w.id(fairlead.PrefixNotice), Workspace: b.Workspace, Task: b.Task, Kind: noticeBudget, Text: text, Data: data, At: w.tx.Now()}
	if err := w.tx.InsertNotice(n); err != nil {
		return err
	}
	w.emit(fairlead.Event{
		Kind: fairlead.EventNoticeAdded, Task: b.Task, Actor: fairlead.Engine(), Data: marshal(map[string]any{"id": n.ID, "kind": n.Kind, "text": n.Text}),
	})
	w.crossed(b, a)
	tasks, err := w.alerted(b)
	if err != nil {
		return err
	}
	for _, task := range tasks {
		op := fairlead.DerivedOp("budget_alert", a.Key(), task)
		t := engine.Trigger{Kind: fairlead.TriggerBudgetAlert, Actor: fairlead.Engine(), Payload: data}
		if err := w.post(task, op, fairlead.OutboxTrigger, t); err != nil {
			return err
		}
	}
	return nil
}

// alerted returns the unfinished tasks in a budget's scope whose step names budget_alert. In an agent's scope are the
// tasks where that agent is primary or seated.
func (w *work) alerted(b *store.Budget) ([]string, error) {
	all, err := w.tx.Standing(b)
	if err != nil {
		return nil, err
	}
	var tasks []string
	for _, p := range all {
		d, err := w.c.catalog.Definition(&w.tx.ReadTx, b.Workspace, p.Workflow, p.Version)
		if err != nil {
			return nil, err
		}
		step := d.Step(p.Step)
		if step == nil || len(step.On[fairlead.TriggerBudgetAlert]) == 0 {
			continue
		}
		in := b.Scope != policy.ScopeAgent || p.Agent == b.Ref || p.Agent == "" && step.Agent == b.Ref
		if !in {
			seats, err := w.tx.ListSeats(p.Task, p.Visit)
			if err != nil {
				return nil, err
			}
			in = slices.ContainsFunc(seats, func(s fairlead.Seat) bool { return s.Agent == b.Ref && s.RemovedAt.IsZero() })
		}
		if in {
			tasks = append(tasks, p.Task)
		}
	}
	return tasks, nil
}

// budgetName says for people which budget it is.
func budgetName(b *store.Budget) string {
	what := "The budget"
	switch b.Period {
	case policy.PeriodDay:
		what = "The daily budget"
	case policy.PeriodMonth:
		what = "The monthly budget"
	case policy.PeriodTotal:
	}
	if b.Scope == policy.ScopeWorkspace {
		return what + " of the workspace"
	}
	return what + " of " + string(b.Scope) + " " + b.Ref
}
