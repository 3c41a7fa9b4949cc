package storetest

import (
	"testing"
	"time"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// worktrees ties a task to a home: claims of others leave it out, its place is found when no home has it.
func worktrees(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1")
	tree := fairlead.Worktree{
		Home: "a", Node: "nod_a_1", Host: "h", Repository: true, Unpushed: "why", Since: 7, Restore: true,
		Checkpoint: &fairlead.Checkpoint{Ref: "r", Commit: "c", Head: "d", Seq: 3, At: fairlead.StampOf(at)},
	}
	v := aRun("run_1", "asg_1", "coder")
	s := fairlead.Session{
		ID: "ses_1", Task: "T1", Agent: "coder", Capacity: fairlead.CapacityPrimary, State: fairlead.SessionIdle, External: "there", CreatedAt: at,
	}
	var version int64
	write(t, db, func(tx *store.Tx) error {
		row, err := tx.LockTask("T1")
		if err != nil {
			return err
		}
		version = row.Version
		_, err = tx.EnsureSession(s)
		_, err1 := tx.PutPlace("w", "flow", "todo", 1, "T1")
		return first(err, err1, tx.InsertAssignment(anAssignment("asg_1", "coder")), tx.InsertRun(&v), tx.SaveWorktree("T1", tree))
	})
	read(t, db, func(r *store.ReadTx) error {
		row, err := r.LoadTask("T1")
		if err != nil {
			return err
		}
		same(t, "worktree", tree, row.Worktree)
		same(t, "version", version, row.Version)
		for home, want := range map[string]int{"a": 1, "b": 0, "": 0} {
			some, err := r.FirstCandidates(store.CandidateFilter{Home: home})
			all, err1 := r.Candidates(store.CandidateFilter{Home: home})
			if len(some) != want || len(all) != want || err != nil || err1 != nil {
				t.Errorf("home %q: got %d and %d candidates, %v, %v", home, len(some), len(all), err, err1)
			}
		}
		stranded, err := r.PlacesElsewhere([]string{"b"})
		same(t, "places whose home is gone", []store.TaskRef{{ID: "T1", Workspace: "w"}}, stranded)
		none, err1 := r.PlacesElsewhere([]string{"b", "a"})
		same(t, "places whose home is there", 0, len(none))
		return first(err, err1)
	})
	write(t, db, func(tx *store.Tx) error {
		if _, err := tx.LockTask("T1"); err != nil {
			return err
		}
		known, err := tx.LoadSession("ses_1")
		same(t, "conversation", "there", known.External)
		if err := first(err, tx.ForgetConversations("T1"), tx.SaveWorktree("T1", fairlead.Worktree{})); err != nil {
			return err
		}
		known, err = tx.LoadSession("ses_1")
		same(t, "conversation", "", known.External)
		return err
	})
	read(t, db, func(r *store.ReadTx) error {
		row, err := r.LoadTask("T1")
		same(t, "no worktree", fairlead.Worktree{}, row.Worktree)
		known, err1 := r.LoadSession("ses_1")
		same(t, "conversation", "", known.External)
		free, err2 := r.FirstCandidates(store.CandidateFilter{Home: "b"})
		same(t, "candidates of anybody", 1, len(free))
		return first(err, err1, err2)
	})
}

// loads counts what live nodes work on, and how far their clocks are off.
func loads(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1")
	n, err := db.BeginEpoch(t.Context(), fairlead.Node{ID: "nod_a_1", Host: "h", Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	load := func(runs int, off time.Duration, free bool) {
		t.Helper()
		read(t, db, func(r *store.ReadTx) error {
			all, err := r.NodeLoads()
			if err != nil || len(all) != 1 || all[0].ID != n.ID || all[0].Runs != runs || all[0].ClockOff != off || all[0].Free() != free {
				t.Errorf("got %+v, %v; want %d runs, %v off, free %t", all, err, runs, off, free)
			}
			return nil
		})
	}
	load(0, 0, true)
	v := aRun("run_1", "asg_1", "coder")
	v.Status, v.Node, v.Epoch = fairlead.RunRunning, n.ID, n.Epoch
	write(t, db, func(tx *store.Tx) error {
		return first(tx.InsertAssignment(anAssignment("asg_1", "coder")), tx.InsertRun(&v))
	})
	load(1, 0, false)
	v.Status = fairlead.RunSucceeded
	write(t, db, func(tx *store.Tx) error { return first(tx.SaveRun(&v), tx.SetClockOff(n.ID, -time.Hour)) })
	load(0, -time.Hour, false)
	write(t, db, func(tx *store.Tx) error {
		_, err := tx.MarkDead(n.ID, n.Epoch)
		return err
	})
	read(t, db, func(r *store.ReadTx) error {
		all, err := r.NodeLoads()
		same(t, "live nodes", 0, len(all))
		return err
	})
}
