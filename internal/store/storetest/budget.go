package storetest

import (
	"sync"
	"testing"
	"time"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

func aBudget(id string, scope policy.BudgetScope, ref string, meter policy.Meter) store.Budget {
	return store.Budget{
		Budget: policy.Budget{
			ID: id, Scope: scope, Ref: ref, Meter: meter, Limit: 1000, Period: policy.PeriodDay, Zone: "Europe/Berlin", Alerts: []int{50, 100},
			Action: policy.LimitPark, Generation: 1,
		},
		Workspace: "w", Span: policy.Span{Start: at, End: at.Add(24 * time.Hour), Key: "2026-03-01"}, By: fairlead.Person("anna"),
	}
}

func budgets(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1")
	money, tokens := aBudget("bud_2", policy.ScopeWorkspace, "", policy.MeterMoney), aBudget("bud_1", policy.ScopeTask, "T1", policy.MeterTokens)
	tokens.Task = "T1"
	write(t, db, func(tx *store.Tx) error {
		for _, v := range []*store.Budget{&money, &tokens} {
			if ok, err := tx.InsertBudget(v); err != nil || !ok {
				t.Errorf("insert %s: %v, %v", v.ID, ok, err)
			}
		}
		again := aBudget("bud_3", policy.ScopeWorkspace, "", policy.MeterMoney)
		ok, err := tx.InsertBudget(&again)
		same(t, "a second one of its scope, meter and period", false, ok)
		return err
	})
	sameBudget := func(what string, want, got store.Budget) {
		t.Helper()
		same(t, what+": made at", want.CreatedAt.UnixMicro(), got.CreatedAt.UnixMicro())
		want.CreatedAt, want.UpdatedAt, got.CreatedAt, got.UpdatedAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
		same(t, what, want, got)
	}
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.LoadBudget("bud_1")
		sameBudget("budget", tokens, got)
		if _, err := r.LoadBudget("none"); !fairlead.IsCode(err, fairlead.CodeNotFound) {
			t.Errorf("unknown budget: got %v", err)
		}
		found, err1 := r.FindBudget("w", money.Budget)
		sameBudget("by its scope", money, *found)
		none, err2 := r.FindBudget("other", money.Budget)
		same(t, "of another workspace", nil, none)
		scopes, err3 := r.BudgetScopes("w")
		same(t, "scopes", []policy.Budget{
			{ID: "bud_1", Scope: policy.ScopeTask, Ref: "T1", Meter: policy.MeterTokens}, {ID: "bud_2", Scope: policy.ScopeWorkspace, Meter: policy.MeterMoney},
		}, scopes)
		list, err4 := r.ListBudgets("w")
		in, err5 := r.BudgetsIn([]string{"bud_2", "none", "bud_1"})
		same(t, "by scope, and by id", []string{"bud_1", "bud_2", "bud_1", "bud_2"}, append(budgetIDs(list), budgetIDs(in)...))
		return first(err, err1, err2, err3, err4, err5)
	})
	charges(t, db)
	write(t, db, func(tx *store.Tx) error {
		locked, err := tx.LockBudgets("bud_2", "bud_1", "none")
		same(t, "locked", []string{"bud_1", "bud_2"}, budgetIDs(locked))
		raised := locked[1]
		raised.Limit, raised.Generation, raised.Span.Key, raised.Spent = 5000, 2, "2026-03-02", 0
		return first(err, tx.SaveBudget(&raised))
	})
	stale(t, "save budget", db.Write(t.Context(), func(tx *store.Tx) error { return tx.SaveBudget(&money) }))
	budgetStops(t, db)
}

func budgetIDs(all []store.Budget) (ids []string) {
	for _, b := range all {
		ids = append(ids, b.ID)
	}
	return ids
}

// charges: of charges that meet, each sees what it made of the sum, so exactly one crosses a threshold.
func charges(t *testing.T, db *store.DB) {
	var mu sync.Mutex
	crossed := 0
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			err := db.Write(t.Context(), func(tx *store.Tx) error {
				b, err := tx.ChargeBudget("bud_2", 60, 1)
				if err == nil && b.Spent >= 500 && b.Spent-60 < 500 {
					mu.Lock()
					defer mu.Unlock()
					crossed++
				}
				return err
			})
			if err != nil {
				t.Errorf("charge: %v", err)
			}
		})
	}
	wg.Wait()
	same(t, "charges that crossed the half", 1, crossed)
	write(t, db, func(tx *store.Tx) error {
		all, err := tx.StopBudgets([]string{"bud_2"})
		if len(all) != 1 || all[0].Spent != 1200 || all[0].Unpriced != 20 || all[0].Version != 1 {
			t.Errorf("got %+v, want 1200 spent, 20 calls unpriced, the limit as it was", all)
		}
		_, err1 := tx.ChargeBudget("none", 1, 0)
		if !fairlead.IsCode(err1, fairlead.CodeNotFound) {
			t.Errorf("a charge of an unknown budget: got %v", err1)
		}
		return err
	})
}

// budgetStops: one request and one alert of each threshold for a limit in its period; waiters are there once.
func budgetStops(t *testing.T, db *store.DB) {
	var b store.Budget
	read(t, db, func(r *store.ReadTx) (err error) { b, err = r.LoadBudget("bud_2"); return err })
	next := b
	next.Span.Key = "2026-03-03"
	w1 := store.BudgetWaiter{Run: "r1", Budget: "bud_2", Task: "T2", Assignment: "a1"}
	w2 := store.BudgetWaiter{Run: "r2", Budget: "bud_2", Task: "T1", Assignment: "a2"}
	w3 := store.BudgetWaiter{Run: "r1", Budget: "bud_1", Task: "T2", Assignment: "a1"}
	write(t, db, func(tx *store.Tx) error {
		var took []bool
		for _, ask := range []struct {
			b *store.Budget
			q string
		}{{&b, "q1"}, {&b, "q2"}, {&next, "q3"}} {
			ok, err := tx.PutBudgetRequest(ask.b, ask.q)
			if err != nil {
				return err
			}
			took = append(took, ok)
		}
		for _, n := range []int{100, 50, 50} {
			ok, err := tx.PutBudgetAlert(&b, n)
			if err != nil {
				return err
			}
			took = append(took, ok)
		}
		same(t, "requests and alerts taken", []bool{true, false, true, true, true, false}, took)
		return first(tx.PutBudgetWaiter(w1), tx.PutBudgetWaiter(w1), tx.PutBudgetWaiter(w2), tx.PutBudgetWaiter(w3))
	})
	read(t, db, func(r *store.ReadTx) error {
		q, err := r.BudgetRequest(&b)
		other := b
		other.Generation++
		none, err1 := r.BudgetRequest(&other)
		same(t, "requests", []string{"q1", ""}, []string{q, none})
		alerts, err2 := r.BudgetAlerts(&b)
		same(t, "alerts", []int{50, 100}, alerts)
		of, err3 := r.BudgetWaiters("bud_2")
		same(t, "waiters of the budget", []store.BudgetWaiter{w2, w1}, of)
		task, err4 := r.BudgetWaitersOf("T2")
		same(t, "waiters of the task", []store.BudgetWaiter{w3, w1}, task)
		run, err5 := r.BudgetWaits("r2")
		same(t, "budgets of the run", []store.BudgetWaiter{w2}, run)
		return first(err, err1, err2, err3, err4, err5)
	})
	write(t, db, func(tx *store.Tx) error {
		free, err := tx.ReleaseBudgetWaiters("bud_2")
		if len(free) != 2 || !free[0].Released || !free[1].Released {
			t.Errorf("released %+v", free)
		}
		return first(err, tx.DropBudgetWaiter("r1"))
	})
	read(t, db, func(r *store.ReadTx) error {
		w2.Released = true
		left, err := r.BudgetWaiters("bud_2")
		same(t, "who is left", []store.BudgetWaiter{w2}, left)
		none, err1 := r.BudgetWaiters("bud_1")
		same(t, "a run is dropped from every budget", nil, none)
		return first(err, err1)
	})
}
