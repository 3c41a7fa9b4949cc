package storetest

import (
	"testing"
	"time"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

func aUsage(run, task, agent, day string) fairlead.Usage {
	return fairlead.Usage{
		Workspace: "w", Run: run, Model: "m", Day: day, Agent: agent, Task: task, Assignment: "asg_" + run, Calls: 1, Input: 10, Output: 5,
		CacheRead: 3, CacheWrite: 2, Money: 100, Unpriced: 1,
	}
}

// family is T1 with its child T2 and that one's child T3, and T4 alone; T2 is of project x, T4 has ended.
func family(t *testing.T, db *store.DB) {
	fill(t, db)
	write(t, db, func(tx *store.Tx) error {
		for i, id := range []string{"T1", "T2", "T3", "T4"} {
			v := plainTask(id, int64(i+1))
			switch id {
			case "T2":
				v.Parent, v.Labels = "T1", []string{"project:x"}
			case "T3":
				v.Parent, v.Agent = "T2", "coder"
			case "T4":
				v.Terminal = fairlead.TerminalDone
			}
			if err := tx.InsertTask(v); err != nil {
				return err
			}
		}
		return nil
	})
}

func usage(t *testing.T, b Backend) {
	now := at
	db := b.Open(t, &store.Options{Now: func() time.Time { return now }})
	family(t, db)
	one, old, other := aUsage("r1", "T2", "coder", "2026-03-01"), aUsage("r1", "T2", "coder", "2026-02-28"), aUsage("r3", "T3", "ada", "2026-03-01")
	write(t, db, func(tx *store.Tx) error { return tx.AddUsage(old) })
	now = at.Add(time.Hour)
	write(t, db, func(tx *store.Tx) error { return first(tx.AddUsage(one), tx.AddUsage(other)) })
	now = at.Add(2 * time.Hour)
	write(t, db, func(tx *store.Tx) error { return tx.AddUsage(one) })
	old.FirstAt, old.LastAt = at, at
	other.FirstAt, other.LastAt = at.Add(time.Hour), at.Add(time.Hour)
	twice := one
	twice.Calls, twice.Input, twice.Output, twice.CacheRead, twice.CacheWrite, twice.Money, twice.Unpriced = 2, 20, 10, 6, 4, 200, 2
	twice.FirstAt, twice.LastAt = at.Add(time.Hour), now
	read(t, db, func(r *store.ReadTx) error {
		run, err := r.UsageOf("r1")
		same(t, "of the run", []fairlead.Usage{old, twice}, run)
		day, err1 := r.ListUsage("w", "2026-03-01", "2026-03-01")
		same(t, "of the day", []fairlead.Usage{twice, other}, day)
		none, err2 := r.ListUsage("other", "2026-01-01", "2026-12-31")
		same(t, "of another workspace", nil, none)
		up, err3 := r.Ancestors("T3")
		same(t, "ancestors", []string{"T1", "T2"}, up)
		return first(err, err1, err2, err3)
	})
	spent(t, db)
	standing(t, db)
}

// spent adds two runs to what was used and sums by every scope: descendants count for a task, and a live run until its claim.
func spent(t *testing.T, db *store.DB) {
	write(t, db, func(tx *store.Tx) error {
		done, live := aRun("r1", "asg_r1", "coder"), aRun("r3", "asg_r3", "ada")
		done.Task, done.Status, done.ClaimedAt, done.FinishedAt = "T2", fairlead.RunSucceeded, at, at.Add(3*time.Second)
		live.Task, live.Status, live.ClaimedAt = "T3", fairlead.RunRunning, at.Add(time.Hour)
		a1, a3 := anAssignment("asg_r1", "coder"), anAssignment("asg_r3", "ada")
		a1.Task, a3.Task = "T2", "T3"
		return first(tx.InsertAssignment(a1), tx.InsertAssignment(a3), tx.InsertRun(&done), tx.InsertRun(&live))
	})
	r1 := policy.Spend{Money: 300, Unpriced: 3, Tokens: 60, Runs: 1, Wall: 3000}
	r3 := policy.Spend{Money: 100, Unpriced: 1, Tokens: 20, Runs: 1}
	both := r1.Add(r3)
	for _, c := range []struct {
		scope policy.BudgetScope
		ref   string
		since time.Time
		want  policy.Spend
	}{
		{policy.ScopeWorkspace, "", time.Time{}, both},
		{policy.ScopeWorkspace, "", at.Add(time.Minute), policy.Spend{Money: 300, Unpriced: 3, Tokens: 60, Runs: 1}}, // what ended before is left out
		{policy.ScopeProject, "x", time.Time{}, r1},
		{policy.ScopeProject, "y", time.Time{}, policy.Spend{}},
		{policy.ScopeAgent, "ada", time.Time{}, r3},
		{policy.ScopeTask, "T1", time.Time{}, both},
		{policy.ScopeTask, "T3", time.Time{}, r3},
		{policy.ScopeTask, "T4", time.Time{}, policy.Spend{}},
		{policy.ScopeAssignment, "asg_r1", time.Time{}, r1},
	} {
		read(t, db, func(r *store.ReadTx) error {
			got, err := r.SpentSince("w", policy.Budget{Scope: c.scope, Ref: c.ref}, c.since)
			same(t, string(c.scope)+" "+c.ref, c.want, got)
			return err
		})
	}
}

func standing(t *testing.T, db *store.DB) {
	for _, c := range []struct {
		scope     policy.BudgetScope
		ref, task string
		want      []string
	}{
		{policy.ScopeWorkspace, "", "", []string{"T1", "T2", "T3"}},
		{policy.ScopeAgent, "ada", "", []string{"T1", "T2", "T3"}},
		{policy.ScopeProject, "x", "", []string{"T2"}},
		{policy.ScopeTask, "T2", "T2", []string{"T2", "T3"}},
		{policy.ScopeTask, "T4", "T4", nil},
		{policy.ScopeAssignment, "asg_r3", "T3", []string{"T3"}},
	} {
		read(t, db, func(r *store.ReadTx) error {
			all, err := r.Standing(&store.Budget{Workspace: "w", Task: c.task, Budget: policy.Budget{Scope: c.scope, Ref: c.ref}})
			var got []string
			for _, p := range all {
				got = append(got, p.Task)
				want := store.Standpoint{Task: p.Task, Workflow: "kanban", Version: 1, Step: "todo", Visit: 1}
				if p.Task == "T3" {
					want.Agent = "coder"
				}
				same(t, "where it stands", want, p)
			}
			same(t, string(c.scope)+" "+c.ref, c.want, got)
			return err
		})
	}
}
