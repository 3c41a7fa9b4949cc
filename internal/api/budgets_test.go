package api

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

func (f *fake) SetBudget(_ context.Context, m control.Meta, in fairlead.BudgetBody) (fairlead.BudgetView, error) {
	return do(f, "SetBudget", m, in, func() (fairlead.BudgetView, error) { return fairlead.BudgetView{ID: "bud_1", Version: 1}, nil })
}

func (f *fake) RaiseBudget(_ context.Context, m control.Meta, id string, in fairlead.RaiseBody) (fairlead.BudgetView, error) {
	return do(f, "RaiseBudget", m, in, func() (fairlead.BudgetView, error) { return fairlead.BudgetView{ID: id, Version: 2}, nil })
}

func (f *fake) DeleteBudget(_ context.Context, m control.Meta, id string) (fairlead.BudgetView, error) {
	return do(f, "DeleteBudget", m, nil, func() (fairlead.BudgetView, error) { return fairlead.BudgetView{ID: id, Version: 2}, nil })
}

func (f *fake) ListBudgets(context.Context, string) ([]fairlead.BudgetView, error) { return nil, nil }

func (f *fake) ListUsage(context.Context, string, string, string) ([]fairlead.UsageView, error) {
	return nil, nil
}
