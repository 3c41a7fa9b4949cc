package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

func aRun(id, assignment, agent string) fairlead.Run {
	return fairlead.Run{
		ID: id, Workspace: "w", Agent: agent, Task: "T1", Assignment: assignment, Visit: 1, Step: "todo", Session: "ses", Status: fairlead.RunQueued,
		Reason: "assigned", Priority: 10, Due: true, DueAt: at, RequestedAt: at, Version: 1,
	}
}

func runs(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1")
	v := aRun("run_1", "asg_1", "coder")
	v.Person, v.Settled, v.Light, v.Direct, v.Early, v.Attempt = true, true, true, true, true, 1
	write(t, db, func(tx *store.Tx) error {
		return first(tx.InsertAssignment(anAssignment("asg_1", "coder")), tx.InsertAssignment(anAssignment("asg_2", "ada")), tx.InsertRun(&v))
	})
	second := aRun("run_2", "asg_1", "coder")
	err := db.Write(t.Context(), func(tx *store.Tx) error { return tx.InsertRun(&second) })
	if !db.IsConstraint(err) {
		t.Errorf("a second queued run of one assignment: got %v", err)
	}
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.QueuedFor("asg_1")
		same(t, "queued run", &v, got)
		none, err1 := r.QueuedFor("asg_2")
		same(t, "no queued run", nil, none)
		return first(err, err1)
	})
	v.Status, v.Fence, v.Node, v.Epoch, v.ClaimedAt, v.StartedAt = fairlead.RunRunning, fairlead.Fence{Number: 2, Claim: "c"}, "n", 3, at, at.Add(1e6)
	v.Absorbed, v.StopReason, v.StopStatus, v.ErrorClass, v.ErrorMessage, v.Outcome = 2, "why", fairlead.RunCancelled, fairlead.ClassEmpty, "msg", "completed"
	write(t, db, func(tx *store.Tx) error { return first(tx.SaveRun(&v), tx.InsertRun(&second)) })
	old := v
	old.Version = 1
	stale(t, "save run", db.Write(t.Context(), func(tx *store.Tx) error { return tx.SaveRun(&old) }))
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.LoadRun("run_1")
		same(t, "run", v, got)
		active, err1 := r.ActiveRuns("T1")
		same(t, "active", []fairlead.Run{v, second}, active)
		live, err2 := r.LiveRunsOfVisit("T1", 1)
		same(t, "live", []fairlead.Run{v}, live)
		node, err3 := r.LiveRunsOnNode("n", 3)
		same(t, "on the node", []fairlead.Run{v}, node)
		before, err4 := r.LiveRunsBefore(4)
		same(t, "of earlier epochs", []fairlead.Run{v}, before)
		queued, err5 := r.QueuedOf("w", "coder")
		same(t, "queued of the agent", 1, queued)
		mine, err6 := r.LiveRunsOf("w", "coder")
		same(t, "live of the agent", []fairlead.Run{v}, mine)
		list, next, err7 := r.ListRuns(store.RunFilter{Workspace: "w"}, store.Page{Limit: 1})
		same(t, "newest", []fairlead.Run{second}, list)
		list, next, err8 := r.ListRuns(store.RunFilter{Task: "T1", Agent: "coder", Step: "todo"}, store.Page{Limit: 1, Cursor: next})
		same(t, "the next page", []fairlead.Run{v}, list)
		same(t, "no third", "", next)
		return first(err, err1, err2, err3, err4, err5, err6, err7, err8)
	})
	wakes(t, db)
	write(t, db, func(tx *store.Tx) error {
		ids, err := tx.SupersedeQueued("T1", 1)
		same(t, "superseded", []string{"run_2"}, ids)
		return err
	})
}

func wakes(t *testing.T, db *store.DB) {
	w := fairlead.Wake{Task: "T1", Seq: 1, Assignment: "asg_1", Run: "run_1", Reason: "comment", Payload: map[string]any{"c": "x"}, Op: "op", Key: "k", By: fairlead.Person("anna"), At: at}
	write(t, db, func(tx *store.Tx) error {
		for _, run := range []string{"run_1", "run_2"} {
			got, err := tx.PutKey("w", "coder", "k", run)
			if err != nil || got != "run_1" {
				t.Errorf("key of %s is of %s (%v)", run, got, err)
			}
		}
		return tx.InsertWake(&w)
	})
	write(t, db, func(tx *store.Tx) error { _, err := tx.MoveWakes("run_1", "run_2"); return err })
	w.Run = "run_2"
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.ListWakes("run_2")
		same(t, "wakes", []fairlead.Wake{w}, got)
		run, err1 := r.KeyRun("w", "coder", "k")
		same(t, "key's run", "run_2", run)
		none, err2 := r.KeyRun("w", "ada", "k")
		same(t, "another agent's key", "", none)
		return first(err, err1, err2)
	})
	write(t, db, func(tx *store.Tx) error {
		for want := range int64(3) {
			seq, err := tx.AppendRunEvent("run_1", fairlead.RunEventUsage, map[string]any{"n": "v"})
			if err != nil || seq != want+1 {
				t.Errorf("run event %d, want %d (%v)", seq, want+1, err)
			}
		}
		return nil
	})
	read(t, db, func(r *store.ReadTx) error {
		events, err := r.ListRunEvents("run_1", 1, 1)
		if err == nil && (len(events) != 1 || events[0].Seq != 2 || events[0].Data["n"] != "v") {
			t.Errorf("run events: %+v", events)
		}
		return err
	})
}

func occupies(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	type put struct {
		what string
		run  func(tx *store.Tx) (bool, error)
		want bool
	}
	puts := []put{
		{"place", func(tx *store.Tx) (bool, error) { return tx.PutPlace("w", "k", "s", 1, "T1") }, true},
		{"the same place", func(tx *store.Tx) (bool, error) { return tx.PutPlace("w", "k", "s", 1, "T2") }, false},
		{"a second place", func(tx *store.Tx) (bool, error) { return tx.PutPlace("w", "k", "s", 2, "T1") }, false},
	}
	takes := []struct {
		what string
		o    store.Occupation
		want string
	}{
		{"everything", store.Occupation{Run: "r1", Assignment: "a1", Task: "T1", Workspace: "w", Agent: "coder", Slot: 1}, ""},
		{"the same assignment", store.Occupation{Run: "r2", Assignment: "a1", Task: "T2", Workspace: "w", Agent: "coder", Slot: 2}, store.OccupiedAssignment},
		{"the same task", store.Occupation{Run: "r3", Assignment: "a3", Task: "T1", Workspace: "w", Agent: "coder", Slot: 3}, store.OccupiedCheckout},
		{"the same slot", store.Occupation{Run: "r4", Assignment: "a4", Task: "T4", Workspace: "w", Agent: "coder", Slot: 1}, store.OccupiedSlot},
		{"a light run, which takes neither", store.Occupation{Run: "r5", Assignment: "a5", Light: true, Task: "T1", Workspace: "w", Agent: "coder", Slot: 1}, ""},
	}
	for _, o := range takes {
		no := errors.New("undone")
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			taken, err := tx.Occupy(o.o)
			if err != nil || taken != o.want {
				t.Errorf("%s: %q is taken, want %q (%v)", o.what, taken, o.want, err)
			}
			if taken != "" {
				return no
			}
			return err
		})
		if err != nil && !errors.Is(err, no) {
			t.Errorf("%s: %v", o.what, err)
		}
	}
	write(t, db, func(tx *store.Tx) error {
		for _, p := range puts {
			if ok, err := p.run(tx); err != nil || ok != p.want {
				t.Errorf("%s: got %v, want %v (%v)", p.what, ok, p.want, err)
			}
		}
		return nil
	})
	read(t, db, func(r *store.ReadTx) error {
		c, err := r.CheckoutOf("T1")
		if c == nil || c.Run != "r1" || c.Since.IsZero() {
			t.Errorf("checkout: %+v", c)
		}
		run, err1 := r.LiveOf("a1")
		same(t, "live run", "r1", run)
		slots, err2 := r.SlotsOf("w", "coder")
		same(t, "slots", []int{1}, slots)
		places, err3 := r.PlacesOf("w", "k", "s")
		same(t, "places", []store.Place{{N: 1, Task: "T1"}}, places)
		return first(err, err1, err2, err3)
	})
	write(t, db, func(tx *store.Tx) error {
		return first(tx.DropPlace("w", "k", "s", "T1"), tx.DropCheckout("r1"), tx.DropLive("r1"), tx.DropSlot("r1"))
	})
	read(t, db, func(r *store.ReadTx) error {
		c, err := r.CheckoutOf("T1")
		same(t, "checkout", nil, c)
		slots, err1 := r.SlotsOf("w", "coder")
		same(t, "slots", nil, slots)
		places, err2 := r.PlacesOf("w", "k", "s")
		same(t, "places", nil, places)
		return first(err, err1, err2)
	})
}

func candidates(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1", "T2")
	write(t, db, func(tx *store.Tx) error {
		for i := range 6 {
			agent := []string{"coder", "ada"}[i%2]
			a := anAssignment(fmt.Sprint("asg_", i), agent)
			v := aRun(fmt.Sprint("run_", i), a.ID, agent)
			v.RequestedAt = at.Add(time.Duration(i) * time.Second)
			switch i {
			case 1:
				v.Due = false
			case 4:
				v.Priority, v.Task, a.Task = 99, "T2", "T2"
			}
			if err := first(tx.InsertAssignment(a), tx.InsertRun(&v)); err != nil {
				return err
			}
		}
		return nil
	})
	check := func(what string, f store.CandidateFilter, want ...string) {
		t.Helper()
		read(t, db, func(r *store.ReadTx) error {
			rows, err := r.Candidates(f)
			var got []string
			for _, v := range rows {
				got = append(got, v.ID)
			}
			same(t, what, want, got)
			return err
		})
	}
	check("all", store.CandidateFilter{}, "run_4", "run_0", "run_2", "run_3", "run_5")
	check("best of each", store.CandidateFilter{PerAgent: 1}, "run_4", "run_3")
	check("but one", store.CandidateFilter{PerAgent: 1, SkipRuns: []string{"run_4"}}, "run_0", "run_3")
	check("but an agent", store.CandidateFilter{SkipAgents: []string{"w/coder"}}, "run_3", "run_5")
	check("the first", store.CandidateFilter{Limit: 1}, "run_4")
	occupy := func(o store.Occupation) {
		o.Workspace = "w"
		write(t, db, func(tx *store.Tx) error { _, err := tx.Occupy(o); return err })
	}
	occupy(store.Occupation{Run: "x", Assignment: "asg_x", Task: "T2", Agent: "nobody", Slot: 1})
	check("a task that is checked out", store.CandidateFilter{PerAgent: 1}, "run_0", "run_3")
	occupy(store.Occupation{Run: "y", Assignment: "asg_0", Light: true})
	check("an assignment that is live", store.CandidateFilter{PerAgent: 1}, "run_2", "run_3")
	h := aHold("hld_1", fairlead.HoldAccount, "agent:ada")
	write(t, db, func(tx *store.Tx) error { _, err := tx.InsertHold(&h); return err })
	check("a held account", store.CandidateFilter{PerAgent: 1}, "run_2")
	h.State = fairlead.HoldReady
	write(t, db, func(tx *store.Tx) error { return tx.SaveHold(&h) })
	check("its time is over", store.CandidateFilter{PerAgent: 1}, "run_2", "run_3")
	write(t, db, func(tx *store.Tx) error { return tx.SetAgentPaused("w", "ada", true, "why") })
	check("a paused agent", store.CandidateFilter{PerAgent: 1}, "run_2")
	occupy(store.Occupation{Run: "z", Assignment: "asg_z", Task: "T9", Agent: "coder", Slot: 1})
	check("no free slot", store.CandidateFilter{})
}

// stats counts what is open.
func stats(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1")
	write(t, db, func(tx *store.Tx) error {
		var errs []error
		for i, change := range []func(v *fairlead.Run){
			func(v *fairlead.Run) { v.RequestedAt = at.Add(time.Second) },
			func(v *fairlead.Run) { v.Attempt, v.Due = 2, false },
			func(v *fairlead.Run) { v.Attempt = 1 },
			func(v *fairlead.Run) { v.Status, v.Attempt = fairlead.RunRunning, 1 },
			func(v *fairlead.Run) { v.Status, v.Attempt = fairlead.RunDead, 4 },
		} {
			v := aRun(fmt.Sprint("run_", i), fmt.Sprint("asg_", i), "coder")
			change(&v)
			errs = append(errs, tx.InsertAssignment(anAssignment(v.Assignment, "coder")), tx.InsertRun(&v))
		}
		return errors.Join(errs...)
	})
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.Stats()
		same(t, "figures", store.Stats{Queued: 3, Due: 2, Live: 1, Retrying: 2, OldestDue: at}, got)
		return err
	})
}
