package store

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	fairlead "github.com/fairlead/fairlead"
)

// TestMemoIsWhatTheDatabaseSays changes runs of a locked task at random: after each change, what the transaction
// remembers is what a fresh question finds.
func TestMemoIsWhatTheDatabaseSays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	space := func(tx *Tx) error {
		_, err := tx.InsertWorkspace(&fairlead.Workspace{Key: "w", Name: "W", Prefix: "W"})
		return err
	}
	b.wantCodes(b.batch(space, memoTask("tsk_1"), memoTask("tsk_2")), "", "", "")
	b.wantCodes(b.batch(func(tx *Tx) error {
		if _, err := tx.LockTask("tsk_1"); err != nil {
			return err
		}
		if around, err := tx.Around("w", "tsk_1", 1); err != nil || around != (Around{}) || !tx.memo.runsKnown {
			t.Errorf("around a new task: %+v, %v", around, err)
		}
		for i := range 60 {
			if err := memoChange(tx, random, i); err != nil {
				return err
			}
			remembered, err := tx.ActiveRuns("tsk_1")
			if err != nil {
				return err
			}
			fresh, err := all(&tx.ReadTx, stmtRunActive, scanRun, "tsk_1")
			if err != nil {
				return err
			}
			if diff := cmp.Diff(append([]fairlead.Run{}, fresh...), append([]fairlead.Run{}, remembered...)); diff != "" {
				t.Errorf("after change %d (-database +memo): %s", i, diff)
			}
		}
		return nil
	}), "")
}

func memoTask(id string) func(*Tx) error {
	return func(tx *Tx) error {
		return tx.InsertTask(&TaskRow{Task: fairlead.Task{ID: id, Workspace: "w", Identifier: id, Number: int64(id[4]), Creator: fairlead.Engine()}})
	}
}

// memoChange adds a run to one of two tasks, or changes or supersedes one of the first task's.
func memoChange(tx *Tx, random *rand.Rand, i int) error {
	active, err := tx.ActiveRuns("tsk_1")
	if err != nil {
		return err
	}
	if len(active) > 0 && random.IntN(8) == 0 {
		_, err := tx.SupersedeQueued("tsk_1", 1)
		return err
	}
	if len(active) > 0 && random.IntN(2) == 0 {
		r := active[random.IntN(len(active))]
		r.Status = []fairlead.RunStatus{fairlead.RunClaimed, fairlead.RunStopping, fairlead.RunDead}[random.IntN(3)]
		return tx.SaveRun(&r)
	}
	task := []string{"tsk_1", "tsk_1", "tsk_2"}[random.IntN(3)]
	id := fmt.Sprintf("%03d_%d", random.IntN(1000), i)
	if err := tx.InsertAssignment(fairlead.Assignment{ID: "asg_" + id, Workspace: "w", Task: task, Visit: 1, Capacity: "primary", State: "open", Version: 1}); err != nil {
		return err
	}
	at := tx.Now()
	if err := tx.InsertRun(&fairlead.Run{
		ID: "run_" + id, Workspace: "w", Task: task, Assignment: "asg_" + id, Visit: 1, Status: fairlead.RunQueued, Reason: "r", Due: true, DueAt: at,
		RequestedAt: at,
	}); err != nil {
		return err
	}
	for want := range random.Int64N(3) {
		if seq, err := tx.AppendRunEvent("run_"+id, "line", nil); err != nil || seq != want+1 {
			return fmt.Errorf("got line %d, %w; want %d", seq, err, want+1)
		}
	}
	return nil
}
