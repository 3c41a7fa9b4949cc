package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// TestR35_ClaimAgainstAPersonsMove: 1,000 times on SQLite a claim and a move start together.
func TestR35_ClaimAgainstAPersonsMove(t *testing.T) {
	t.Parallel()
	storetest.EachWith(t, nil, func(t *testing.T, db *store.DB) {
		f := newFloor(t, db)
		f.agent("ann", "parallel: 40\n")
		const lanes = 8
		rounds := 1000 / lanes
		if db.Dialect() == "postgres" || testing.Short() {
			rounds = 160 / lanes
		}
		var wg sync.WaitGroup
		for range lanes {
			task := f.task("stay")
			wg.Go(func() {
				for i := range rounds {
					if err := f.race(t.Context(), task.ID, []string{"other", "work"}[i%2]); err != nil {
						t.Errorf("round %d: %v", i, err)
						return
					}
				}
			})
		}
		wg.Wait()
		f.noneLive()
	})
}

// race lets a claim and a move start together, checks the task, and ends what was claimed, be it this task's run or
// another lane's.
func (f *floor) race(ctx context.Context, task, to string) error {
	begin := make(chan struct{})
	var wg sync.WaitGroup
	var k *Claimed
	var claimErr, moveErr error
	wg.Go(func() {
		<-begin
		k, claimErr = f.c.Claim(ctx, f.node)
	})
	wg.Go(func() {
		<-begin
		_, moveErr = f.c.Move(ctx, owner(), task, fairlead.MoveBody{Step: to})
	})
	close(begin)
	wg.Wait()
	if err := errors.Join(claimErr, moveErr, f.noStrays(ctx, task)); err != nil || k == nil {
		return err
	}
	j := &job{Claimed: k, f: f}
	// A run that was moved away under its worker answers StopTree and becomes final with its tree's death.
	if _, err := j.report(nil, false, Fact{Turn: &TurnStarted{Through: j.Through, Prompt: "work"}}); err != nil {
		return err
	}
	_, err := j.report(&TurnEnd{StopReason: "end_turn"}, true)
	return err
}

// noStrays checks that no run of an ended visit works on.
func (f *floor) noStrays(ctx context.Context, task string) error {
	return f.db.Read(ctx, func(tx *store.ReadTx) error {
		row, err := tx.LoadTask(task)
		if err != nil {
			return err
		}
		runs, err := tx.ActiveRuns(task)
		for _, r := range runs {
			if r.Visit != row.Visit && r.Status != fairlead.RunStopping {
				return fmt.Errorf("run %s of visit %d is %s in visit %d", r.ID, r.Visit, r.Status, row.Visit)
			}
		}
		return err
	})
}

// noneLive checks that nothing is left that nobody works on.
func (f *floor) noneLive() {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) error {
		runs, err := tx.LiveRunsOnNode(f.node.ID, f.node.Epoch)
		for _, r := range runs {
			f.t.Errorf("run %s is still %s", r.ID, r.Status)
		}
		return err
	})
}
