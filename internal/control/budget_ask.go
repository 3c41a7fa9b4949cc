package control

import (
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// askBudget opens the one request about a budget's limit in its period. It is of the budget's scope and of no visit: it
// blocks no move, and it outlives the task's place. The budget's row is locked.
func (w *work) askBudget(b *store.Budget) error {
	id := w.id(fairlead.PrefixRequest)
	fresh, err := w.tx.PutBudgetRequest(b, id)
	if err != nil || !fresh {
		return err
	}
	s := b.Standing()
	q := fairlead.Request{
		ID: id, Workspace: b.Workspace, Kind: fairlead.RequestBudget, Task: b.Task, OpenedBy: fairlead.Engine(), Blocks: fairlead.BlocksNothing,
		Prompt: budgetName(b) + " is used up: " + s.Text() + ". Raise it, so that the work goes on where it stopped, or stop here?",
		Options: []fairlead.Option{
			{ID: fairlead.OptionRaise, Label: "Raise by " + policy.AmountText(b.Meter, b.Limit) + ", or by the amount given", Kind: "allow_once"},
			{ID: fairlead.OptionStop, Label: "Stop", Kind: "reject_once"},
		},
		Payload: map[string]any{
			"budget": b.ID, "generation": b.Generation, "scope": string(b.Scope), "ref": b.Ref, "meter": string(b.Meter), "limit": b.Limit,
			"spent": b.Spent, "unpriced": b.Unpriced, "period": b.Span.Key,
		},
	}
	if w.task != nil && w.task.row.ID == b.Task {
		return w.openRequest(q)
	}
	// The scope's own task is not locked here: the request stands without a line in its journal.
	q.State, q.OpenedAt = fairlead.RequestOpen, w.tx.Now()
	if err := w.tx.InsertRequest(&q); err != nil {
		return err
	}
	w.emit(requestEvent(fairlead.EventRequestOpened, &q, q.OpenedBy))
	return nil
}

// closeBudgetRequest closes the open request about a budget's present limit and period, because the limit was raised by
// another door or the period is over. answer is nil when nobody answered.
func (w *work) closeBudgetRequest(b *store.Budget, state fairlead.RequestState, answer *fairlead.Answer, reason string) error {
	id, err := w.tx.BudgetRequest(b)
	if err != nil || id == "" {
		return err
	}
	q, err := w.tx.LoadRequest(id)
	if err != nil || q.State != fairlead.RequestOpen {
		return err
	}
	if err := w.settle(&q, state, answer, reason); err != nil || w.task == nil || answer == nil {
		return err
	}
	_, err = w.decide(resolutionTrigger(&q))
	return err
}

// budgetAnswered carries out the answer of a budget request, before the request is closed. Whoever raised the limit by
// another door meanwhile was first.
func (w *work) budgetAnswered(q *fairlead.Request, a *fairlead.Answer) error {
	id, _ := q.Payload["budget"].(string)
	b, err := w.lockBudget(id)
	if err != nil {
		return err
	}
	now, err := w.tx.LoadRequest(q.ID)
	if err != nil {
		return err
	}
	if now.State != fairlead.RequestOpen {
		return resolvedAlready(&now)
	}
	if a.Option != fairlead.OptionRaise {
		return nil // what it held stays held
	}
	by := b.Limit
	if text := strings.TrimSpace(a.Text); text != "" {
		if by, err = policy.ParseAmount(b.Meter, text); err != nil {
			return err
		}
	}
	_, err = w.raise(b, b.Limit+bounded(by), q.ID)
	return err
}

// lockBudget locks one budget of the workspace.
func (w *work) lockBudget(id string) (*store.Budget, error) {
	budgets, err := w.tx.LockBudgets(id)
	if err != nil {
		return nil, err
	}
	if len(budgets) == 0 || budgets[0].Workspace != w.meta.Workspace {
		return nil, noSuchBudget()
	}
	return &budgets[0], nil
}

func noSuchBudget() error {
	return fairlead.Errorf(fairlead.CodeNotFound, "no such budget").WithHint("list the budgets with: fairlead budget list")
}
