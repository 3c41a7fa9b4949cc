package api

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

// Budgets are the limits on what agents may spend, and what they spent.
type Budgets interface {
	SetBudget(ctx context.Context, m control.Meta, in fairlead.BudgetBody) (fairlead.BudgetView, error)
	RaiseBudget(ctx context.Context, m control.Meta, id string, in fairlead.RaiseBody) (fairlead.BudgetView, error)
	DeleteBudget(ctx context.Context, m control.Meta, id string) (fairlead.BudgetView, error)
	ListBudgets(ctx context.Context, workspace string) ([]fairlead.BudgetView, error)
	ListUsage(ctx context.Context, workspace, from, to string) ([]fairlead.UsageView, error)
}

// budgetRoutes are the routes of spending.
func (s *Server) budgetRoutes() {
	a := s.api
	route(a, get, prefix+"/budgets", "list-budgets", "List budgets", 200, s.listBudgets)
	route(a, post, prefix+"/budgets", "set-budget", "Set a budget", 200, s.setBudget)
	route(a, post, prefix+"/budgets/{id}/raise", "raise-budget", "Raise a budget: its work goes on", 200, s.raiseBudget)
	route(a, remove, prefix+"/budgets/{id}", "delete-budget", "Delete a budget: its work goes on", 200, s.deleteBudget)
	route(a, get, prefix+"/usage", "list-usage", "List what runs used", 200, s.listUsage)
}

func budget(v fairlead.BudgetView, err error) (*object[fairlead.BudgetView], error) {
	if v.Alerts == nil {
		v.Alerts = []int{}
	}
	return one(200, v.Version, v, err)
}

func (s *Server) listBudgets(ctx context.Context, in *inScope) (*list[fairlead.BudgetView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return all(s.Budgets.ListBudgets(ctx, workspace))
}

func (s *Server) setBudget(ctx context.Context, in *create[fairlead.BudgetBody]) (*object[fairlead.BudgetView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	return budget(s.Budgets.SetBudget(ctx, m, in.Body))
}

func (s *Server) raiseBudget(ctx context.Context, in *onID[fairlead.RaiseBody]) (*object[fairlead.BudgetView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	return budget(s.Budgets.RaiseBudget(ctx, m, in.ID.ID, in.Body))
}

type budgetInput struct {
	Write
	ID
	Body *fairlead.OpBody
}

func (s *Server) deleteBudget(ctx context.Context, in *budgetInput) (*object[fairlead.BudgetView], error) {
	m, err := in.meta(ctx, opOf(in.Body).Op)
	if err != nil {
		return nil, err
	}
	return budget(s.Budgets.DeleteBudget(ctx, m, in.ID.ID))
}

type usageInput struct {
	Scope
	From string `query:"from" maxLength:"10" doc:"First day, 2006-01-02 in UTC; default today."`
	To   string `query:"to" maxLength:"10" doc:"Last day; default today."`
}

func (s *Server) listUsage(ctx context.Context, in *usageInput) (*list[fairlead.UsageView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return all(s.Budgets.ListUsage(ctx, workspace, in.From, in.To))
}
