package read

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// ListBudgets lists the budgets of a workspace with where they stand, by scope.
func (r *Reader) ListBudgets(ctx context.Context, ws string) ([]fairlead.BudgetView, error) {
	return ask(ctx, r, "list budgets", func(tx *store.ReadTx) ([]fairlead.BudgetView, error) {
		out := []fairlead.BudgetView{}
		if err := CheckWorkspace(tx, ws); err != nil {
			return out, err
		}
		budgets, err := tx.ListBudgets(ws)
		if err != nil {
			return out, err
		}
		for _, b := range budgets {
			v, err := BudgetView(tx, b)
			if err != nil {
				return out, err
			}
			out = append(out, v)
		}
		return out, nil
	})
}

// BudgetView shows a budget as it stands in the caller's transaction.
func BudgetView(tx *store.ReadTx, b store.Budget) (fairlead.BudgetView, error) {
	s := b.Standing()
	v := fairlead.BudgetView{
		ID: b.ID, Scope: string(b.Scope), Ref: b.Ref, Task: b.Task, Meter: string(b.Meter), Limit: b.Limit, Spent: b.Spent, Unpriced: b.Unpriced,
		Percent: s.Percent(), Text: s.Text(), Reached: s.Reached(), Period: string(b.Period), Zone: b.Zone, BeganAt: fairlead.StampPtr(b.Span.Start),
		EndsAt: fairlead.StampPtr(b.Span.End), Alerts: b.Alerts, Action: string(b.Action), Generation: b.Generation,
		CreatedAt: fairlead.StampOf(b.CreatedAt), UpdatedAt: fairlead.StampOf(b.UpdatedAt), Version: b.Version,
	}
	if b.Task != "" {
		row, err := tx.LoadTask(b.Task)
		if err != nil {
			return v, err
		}
		v.Identifier = row.Identifier
	}
	waiters, err := tx.BudgetWaiters(b.ID)
	if err != nil {
		return v, err
	}
	v.Waiting = len(waiters)
	id, err := tx.BudgetRequest(&b)
	if err != nil || id == "" {
		return v, err
	}
	q, err := tx.LoadRequest(id)
	if err == nil && q.State == fairlead.RequestOpen {
		v.Request = id
	}
	return v, err
}

// ListUsage lists what runs used from one day to another (UTC, both included), by day. An empty day is today.
func (r *Reader) ListUsage(ctx context.Context, ws, from, to string) ([]fairlead.UsageView, error) {
	return ask(ctx, r, "list usage", func(tx *store.ReadTx) ([]fairlead.UsageView, error) {
		out := []fairlead.UsageView{}
		if err := CheckWorkspace(tx, ws); err != nil {
			return out, err
		}
		today := r.db.Now().UTC().Format(time.DateOnly)
		for _, day := range []*string{&from, &to} {
			if *day == "" {
				*day = today
			}
			if _, err := time.Parse(time.DateOnly, *day); err != nil {
				return out, fairlead.Errorf(fairlead.CodeInvalid, "a day cannot be read").WithHint("write it as 2026-12-31")
			}
		}
		rows, err := tx.ListUsage(ws, from, to)
		for _, u := range rows {
			out = append(out, fairlead.UsageView{
				Day: u.Day, Agent: u.Agent, Task: u.Task, Run: u.Run, Model: u.Model, Calls: u.Calls, Input: u.Input, Output: u.Output,
				CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Cost: u.Money, Unpriced: u.Unpriced,
			})
		}
		return out, err
	})
}
