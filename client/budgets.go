package client

import (
	"context"
	"net/http"

	"github.com/fairlead/fairlead"
)

// SetBudget sets a limit on what agents may spend, or changes the one of the same scope, meter and period.
func (c *Client) SetBudget(ctx context.Context, in fairlead.BudgetBody) (fairlead.BudgetView, error) {
	return post[fairlead.BudgetView](ctx, c, path("budgets"), in, in.Op)
}

// RaiseBudget raises a limit: what it stopped goes on.
func (c *Client) RaiseBudget(ctx context.Context, id string, in fairlead.RaiseBody) (fairlead.BudgetView, error) {
	return post[fairlead.BudgetView](ctx, c, path("budgets", id, "raise"), in, in.Op)
}

// DeleteBudget takes a limit away: what it stopped goes on.
func (c *Client) DeleteBudget(ctx context.Context, id string, in fairlead.OpBody) (fairlead.BudgetView, error) {
	return write[fairlead.BudgetView](ctx, c, http.MethodDelete, path("budgets", id), nil, nil, in.Op)
}

// ListBudgets returns the budgets with where they stand.
func (c *Client) ListBudgets(ctx context.Context) ([]fairlead.BudgetView, error) {
	return items[fairlead.BudgetView](ctx, c, path("budgets"))
}

// ListUsage returns what runs used from one day to another (2006-01-02, UTC); "" = today.
func (c *Client) ListUsage(ctx context.Context, from, to string) ([]fairlead.UsageView, error) {
	p, err := read[fairlead.Page[fairlead.UsageView]](ctx, c, path("usage"), Page{}.values("from", from, "to", to))
	return p.Items, err
}
