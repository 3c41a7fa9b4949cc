package control

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// budgetEvents returns the kinds of the events about a budget, in order.
func (f *floor) budgetEvents(id string) (kinds []fairlead.EventKind) {
	f.t.Helper()
	all, _, err := f.c.db.EventsAfter(f.t.Context(), 0, 10_000, store.EventFilter{})
	f.must(err)
	for _, e := range all {
		var data struct{ ID, Scope string }
		if json.Unmarshal(e.Data, &data) == nil && data.ID == id && data.Scope != "" {
			kinds = append(kinds, e.Kind)
		}
	}
	return kinds
}

func TestR19_DeletedBudgetLetsGo(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(spendFlow)
		f.agent("ann", "parallel: 2\n")
		b := f.limit(fairlead.BudgetBody{Scope: "workspace", Limit: "1", Period: "day", Alerts: []int{100}})
		f.fill("spend", 3)
		ended, live := f.claimed().start(), f.claimed().start()
		ended.tell(&TurnEnd{StopReason: "end_turn"}, true, call(2_000_000, 1))
		if d := live.tell(nil, false, call(10, 1)); d != ParkAfterTurn {
			t.Fatalf("got directive %v, want park", d)
		}
		f.status(ended.Run.ID, fairlead.RunParked)
		f.askedOnce()
		f.nothing()
		m := owner()
		m.Op = "delete-it"
		for range 2 { // the second time it is gone, and the command has its answer
			v, err := f.c.DeleteBudget(t.Context(), m, b.ID)
			f.must(err)
			if v.ID != b.ID || v.Spent != 2_000_010 {
				t.Errorf("got %+v", v)
			}
		}
		if n := len(f.asked()); n != 0 {
			t.Errorf("%d questions are open", n)
		}
		live.tell(&TurnEnd{StopReason: "cancelled"}, true, call(10, 1))
		f.status(live.Run.ID, fairlead.RunParked)
		seen := map[string]bool{}
		for range 3 { // what it parked, what it stopped on its way, what it held
			j := f.claimed().start()
			seen[j.Run.Task] = true
			j.tell(&TurnEnd{StopReason: "end_turn"}, true, call(9_000_000, 1))
		}
		if len(seen) != 3 {
			t.Errorf("%d tasks went on, want 3", len(seen))
		}
		f.read(func(tx *store.ReadTx) error {
			for _, j := range []*job{ended, live} {
				if waits, err := tx.BudgetWaits(j.Run.ID); err != nil || len(waits) > 0 {
					t.Errorf("still waits for %v, %v", waits, err)
				}
			}
			return nil
		})
		if _, err := f.c.DeleteBudget(t.Context(), owner(), b.ID); !fairlead.IsCode(err, fairlead.CodeNotFound) {
			t.Errorf("deleted again: got %v", err)
		}
		want := []fairlead.EventKind{fairlead.EventBudgetSet, fairlead.EventBudgetReached, fairlead.EventBudgetAlert, fairlead.EventBudgetDeleted}
		if d := cmp.Diff(want, f.budgetEvents(b.ID)); d != "" {
			t.Error(d)
		}
	})
}

func TestBudgetEventsOfARaise(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(spendFlow)
		b := f.limit(fairlead.BudgetBody{Scope: "workspace", Limit: "1", Alerts: []int{100}})
		f.task("spend")
		f.claimed().start().tell(&TurnEnd{StopReason: "end_turn"}, true, call(5_000_000, 1))
		for _, to := range []string{"3", "9"} {
			_, err := f.c.RaiseBudget(t.Context(), owner(), b.ID, fairlead.RaiseBody{To: to})
			f.must(err)
		}
		want := []fairlead.EventKind{
			fairlead.EventBudgetSet, fairlead.EventBudgetReached, fairlead.EventBudgetAlert, fairlead.EventBudgetRaised, fairlead.EventBudgetReached,
			fairlead.EventBudgetAlert, fairlead.EventBudgetRaised,
		}
		if d := cmp.Diff(want, f.budgetEvents(b.ID)); d != "" {
			t.Error(d)
		}
	})
}
