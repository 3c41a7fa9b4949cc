package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// timerLife: what is set, found, advanced and deleted; a timer that was deleted comes back under another id, so that a
// generation that fired is never met again.
func timerLife(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	put := func(id, ref, task string, due time.Time) fairlead.Timer {
		v := fairlead.Timer{ID: id, Workspace: "w", Kind: fairlead.TimerRunDue, Task: task, Ref: ref, DueAt: due}
		write(t, db, func(tx *store.Tx) error { return tx.PutTimer(&v) })
		v.Payload = json.RawMessage(`{}`)
		return v
	}
	late, soon := put("tmr_1", "r1", "T1", at.Add(time.Hour)), put("tmr_2", "r2", "T1", at)
	put("tmr_3", "r3", "T2", at)
	read(t, db, func(r *store.ReadTx) error {
		of, err := r.TimersOf("T1")
		same(t, "of the task", []fairlead.Timer{soon, late}, of)
		found, err1 := r.FindTimer(fairlead.TimerRunDue, "r1")
		same(t, "found", &late, found)
		none, err2 := r.FindTimer(fairlead.TimerHold, "r1")
		same(t, "of another kind", nil, none)
		return first(err, err1, err2)
	})
	var took []bool
	write(t, db, func(tx *store.Tx) error {
		took = nil
		for _, try := range []func() (bool, error){
			func() (bool, error) { return tx.AdvanceTimer("tmr_1", 1, at.Add(2*time.Hour)) },
			func() (bool, error) { return tx.AdvanceTimer("tmr_1", 1, at.Add(3*time.Hour)) },
			func() (bool, error) { return tx.FireTimer("tmr_1", 1) },
			func() (bool, error) { return tx.DeleteTimer(fairlead.TimerRunDue, "r2") },
			func() (bool, error) { return tx.DeleteTimer(fairlead.TimerRunDue, "r2") },
		} {
			ok, err := try()
			if err != nil {
				return err
			}
			took = append(took, ok)
		}
		return nil
	})
	same(t, "advanced, again, fired as before, deleted, again", []bool{true, false, false, true, false}, took)
	late.DueAt, late.Generation = at.Add(2*time.Hour), 2
	back := put("tmr_4", "r2", "T1", at)
	same(t, "a new id begins at the first generation", int64(1), back.Generation)
	read(t, db, func(r *store.ReadTx) error {
		of, err := r.TimersOf("T1")
		same(t, "of the task, later", []fairlead.Timer{back, late}, of)
		return err
	})
}

func retention(t *testing.T, b Backend) {
	now := at
	db := b.Open(t, &store.Options{Now: func() time.Time { return now }})
	fill(t, db, "T1")
	write(t, db, func(tx *store.Tx) error {
		for i := range 4 {
			a := anAssignment(fmt.Sprint("asg_", i), "coder")
			v := aRun(fmt.Sprint("run_", i), a.ID, "coder")
			if v.Status, v.FinishedAt = fairlead.RunSucceeded, at.Add(time.Duration(i)*time.Hour); i == 3 {
				v.Status, v.FinishedAt = fairlead.RunQueued, time.Time{}
			}
			w := fairlead.Wake{Task: "T1", Seq: int64(i), Assignment: a.ID, Run: v.ID, Reason: "comment", By: fairlead.Person("anna"), At: at}
			if err := first(tx.InsertAssignment(a), tx.InsertRun(&v), tx.InsertWake(&w)); err != nil {
				return err
			}
			if _, err := tx.AppendRunEvent(v.ID, fairlead.RunEventQueued, nil); err != nil {
				return err
			}
			if _, err := tx.PutKey("w", "coder", fmt.Sprint("k", i), v.ID); err != nil {
				return err
			}
		}
		q := fairlead.Request{ID: "q", Workspace: "w", Task: "T1", Visit: 1, Kind: fairlead.RequestQuestion, Prompt: "?", Assignment: "asg_1", Run: "run_1", State: fairlead.RequestOpen, Version: 1}
		return tx.InsertRequest(&q)
	})
	forget := func(limit int, want int64) {
		t.Helper()
		write(t, db, func(tx *store.Tx) error {
			n, err := tx.ForgetRuns(at.Add(90*time.Minute), limit)
			same(t, "runs forgotten", want, n)
			return err
		})
	}
	forget(1, 1)
	forget(10, 0) // the second is named by an open request, the third is too young, the fourth has not ended
	read(t, db, func(r *store.ReadTx) error {
		var left []string
		list, _, err := r.ListRuns(store.RunFilter{Workspace: "w"}, store.Page{Limit: 10})
		for _, v := range list {
			left = append(left, v.ID)
		}
		same(t, "runs", []string{"run_3", "run_2", "run_1"}, left)
		wakes, err1 := r.ListWakes("run_0")
		events, err2 := r.ListRunEvents("run_0", 0, 10)
		gone, err3 := r.KeyRun("w", "coder", "k0")
		kept, err4 := r.KeyRun("w", "coder", "k1")
		same(t, "what went with it", []any{0, 0, "", "run_1"}, []any{len(wakes), len(events), gone, kept})
		return first(err, err1, err2, err3, err4)
	})
	forgetOld(t, db, func(d time.Duration) { now = at.Add(d) })
}

// forgetOld: operations, deliveries and nodes by their age.
func forgetOld(t *testing.T, db *store.DB, until func(time.Duration)) {
	for i := range 3 {
		until(time.Duration(i) * time.Hour)
		write(t, db, func(tx *store.Tx) error {
			op := fairlead.OpID(fmt.Sprint("op", i))
			if _, err := tx.Op("w", "person:anna", op, "f", fairlead.Seed{}); err != nil {
				return err
			}
			return first(tx.PutResult("w", "person:anna", op, 0, []byte(`{}`)),
				tx.InsertOutbox(fairlead.Outbox{Workspace: "w", Task: "T1", Op: op, Kind: fairlead.OutboxNotify}))
		})
	}
	var rows []fairlead.Outbox
	read(t, db, func(r *store.ReadTx) (err error) { rows, err = r.PendingNotifies(10); return err })
	for i, row := range rows[:2] {
		until(time.Duration(i) * time.Hour)
		write(t, db, func(tx *store.Tx) error { return tx.OutboxDone(row.ID, "") })
	}
	write(t, db, func(tx *store.Tx) error {
		ops, err := tx.ForgetOps(at.Add(90*time.Minute), 1)
		more, err1 := tx.ForgetOps(at.Add(90*time.Minute), 10)
		sent, err2 := tx.ForgetOutbox(at.Add(90*time.Minute), 1)
		rest, err3 := tx.ForgetOutbox(at.Add(90*time.Minute), 10)
		same(t, "operations and deliveries", []int64{1, 1, 1, 1}, []int64{ops, more, sent, rest})
		return first(err, err1, err2, err3)
	})
	write(t, db, func(tx *store.Tx) error {
		again, err := tx.Op("w", "person:anna", "op2", "f", fairlead.Seed{})
		if again == nil {
			t.Error("the youngest operation is forgotten")
		}
		return err
	})
	forgetNodes(t, db, until)
}

func forgetNodes(t *testing.T, db *store.DB, until func(time.Duration)) {
	var nodes []fairlead.Node
	for i := range 4 {
		until(time.Duration(i) * time.Hour)
		n, err := db.BeginEpoch(t.Context(), fairlead.Node{ID: fmt.Sprint("n", i), Host: "h", PID: 1, Slots: 1})
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
		write(t, db, func(tx *store.Tx) error { _, err := tx.MarkDead(n.ID, n.Epoch); return err })
	}
	write(t, db, func(tx *store.Tx) error {
		v := aRun("run_live", "asg_0", "coder")
		v.Status, v.Node, v.Epoch = fairlead.RunRunning, nodes[1].ID, nodes[1].Epoch
		return tx.InsertRun(&v)
	})
	write(t, db, func(tx *store.Tx) error {
		n, err := tx.ForgetNodes(at.Add(10 * time.Hour))
		same(t, "nodes forgotten", int64(2), n)
		return err
	})
	read(t, db, func(r *store.ReadTx) error {
		left, err := r.ListNodes()
		if len(left) != 2 || left[0].ID != "n1" || left[1].ID != "n3" {
			t.Errorf("got nodes %+v, want the one with a live run and the newest", left)
		}
		clock, err1 := r.Clock()
		if time.Since(clock).Abs() > time.Minute {
			t.Errorf("the database's clock says %v, whatever the store's is told", clock)
		}
		return first(err, err1)
	})
}

// occupation: everything a live run takes at once, and what of it was taken already.
func occupation(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	base := store.Occupation{Run: "r1", Assignment: "a1", Task: "T1", Workspace: "w", Agent: "coder", Slot: 1}
	write(t, db, func(tx *store.Tx) error { taken, err := tx.Occupy(base); same(t, "free", "", taken); return err })
	for want, change := range map[string]func(o *store.Occupation){
		store.OccupiedAssignment: func(o *store.Occupation) { o.Assignment, o.Light = "a1", true },
		store.OccupiedCheckout:   func(o *store.Occupation) { o.Task = "T1" },
		store.OccupiedSlot:       func(o *store.Occupation) { o.Slot = 1 },
		"":                       func(o *store.Occupation) { o.Light, o.Task, o.Slot = true, "T1", 1 },
	} {
		undone := fmt.Errorf("given up")
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			o := store.Occupation{Run: "r2", Assignment: "a2", Task: "T2", Workspace: "w", Agent: "coder", Slot: 2}
			change(&o)
			taken, err := tx.Occupy(o)
			same(t, "taken already", want, taken)
			return first(err, undone)
		})
		if err == nil {
			t.Error("a command that was given up came through")
		}
	}
	write(t, db, func(tx *store.Tx) error {
		_, err := tx.PutPlace("w", "k", "s", 1, "T1")
		_, err1 := tx.PutPlace("w", "k", "s2", 1, "T1")
		return first(err, err1, tx.DropPlace("w", "k", "s", "T1"))
	})
	read(t, db, func(r *store.ReadTx) error {
		none, err := r.PlacesOf("w", "k", "s")
		one, err1 := r.PlacesOf("w", "k", "s2")
		same(t, "places", []int{0, 1}, []int{len(none), len(one)})
		slots, err2 := r.SlotsOf("w", "coder")
		same(t, "what was given up is free", []int{1}, slots)
		return first(err, err1, err2)
	})
}
