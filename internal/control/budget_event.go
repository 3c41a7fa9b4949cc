package control

import (
	"maps"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// budgetEvent tells the event log what became of a budget; more may be nil.
func (w *work) budgetEvent(kind fairlead.EventKind, b *store.Budget, more map[string]any) {
	data := map[string]any{
		"id": b.ID, "scope": b.Scope, "ref": b.Ref, "meter": b.Meter, "limit": b.Limit, "spent": b.Spent, "unpriced": b.Unpriced, "action": b.Action,
		"period": b.Span.Key, "generation": b.Generation,
	}
	maps.Copy(data, more)
	w.emit(fairlead.Event{Kind: kind, Workspace: b.Workspace, Task: b.Task, Version: b.Version, Data: marshal(data)})
}

// charged tells that a charge reached the limit of a budget: the one charge that crossed it.
func (w *work) charged(b *store.Budget, amount int64) {
	if b.Spent >= b.Limit && b.Spent-amount < b.Limit {
		w.budgetEvent(fairlead.EventBudgetReached, b, nil)
	}
}

// limited tells of a limit that was set, and that it is used up already.
func (w *work) limited(kind fairlead.EventKind, b *store.Budget) {
	w.budgetEvent(kind, b, nil)
	if b.Standing().Reached() {
		w.budgetEvent(fairlead.EventBudgetReached, b, nil)
	}
}

// crossed tells of a threshold.
func (w *work) crossed(b *store.Budget, a policy.Alert) {
	w.budgetEvent(fairlead.EventBudgetAlert, b, map[string]any{"threshold": a.Threshold, "percent": a.Percent})
}
