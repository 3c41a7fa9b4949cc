package control

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// budgetPeriod begins a budget's next period: nothing is spent, what it held is free, what it stopped goes on, and the
// question about the old period is superseded.
func (w *work) budgetPeriod(t fairlead.Timer) error {
	w.now = w.tx.Now()
	b, err := w.lockBudget(t.Ref)
	if fairlead.IsCode(err, fairlead.CodeNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	span, err := spanAt(b, w.now)
	if err != nil || span.Key == b.Span.Key {
		return err
	}
	if err := w.closeBudgetRequest(b, fairlead.RequestSuperseded, nil, "the budget's period is over"); err != nil {
		return err
	}
	b.Span, b.Spent, b.Unpriced = span, 0, 0
	if err := w.tx.SaveBudget(b); err != nil {
		return err
	}
	w.budgetEvent(fairlead.EventBudgetPeriod, b, nil)
	if err := w.nextPeriod(b); err != nil {
		return err
	}
	return w.releaseBudget(b)
}

// nextPeriod sets the timer of a budget's period; one for ever has none.
func (w *work) nextPeriod(b *store.Budget) error {
	if b.Span.End.IsZero() {
		return nil
	}
	return w.tx.PutTimer(&fairlead.Timer{
		ID: w.id(fairlead.PrefixTimer), Workspace: b.Workspace, Kind: fairlead.TimerBudgetPeriod, Task: b.Task, Ref: b.ID, DueAt: b.Span.End,
	})
}

// spanAt is the period of a budget at a time.
func spanAt(b *store.Budget, at time.Time) (span policySpan, err error) {
	zone, err := time.LoadLocation(b.Zone)
	if err != nil {
		return span, fmt.Errorf("load zone of budget: %w", err)
	}
	return b.Period.Span(at, zone), nil
}
