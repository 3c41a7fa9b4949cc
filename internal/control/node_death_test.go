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

// TestR10_DeathAgainstClaimLaunchAndReport: while a node claims, launches for people and reports, it is declared dead and
// taken over at once. Whatever comes through came before the death and is taken over; nothing comes through after it, so
// that no run stays live under a dead epoch; and nobody waits for anybody in a circle.
func TestR10_DeathAgainstClaimLaunchAndReport(t *testing.T) {
	t.Parallel()
	storetest.EachWith(t, nil, func(t *testing.T, db *store.DB) {
		f := newFloor(t, db)
		f.agent("ann", "parallel: 40\n")
		rounds := 25
		if testing.Short() {
			rounds = 5
		}
		for i := range rounds {
			f.deathMeets(i)
		}
	})
}

// deathMeets lets one death meet claims, a launch and reports of the same node.
func (f *floor) deathMeets(round int) {
	f.t.Helper()
	ctx := f.t.Context()
	doomed := f.epoch()
	worked, waits, asked := f.task("stay"), f.task("stay"), f.task("stay")
	k, err := f.c.Claim(ctx, doomed)
	f.must(err)
	j := &job{Claimed: k, f: f}
	j.start()
	h := &hands{node: doomed, free: 10}
	f.c.SetLauncher(h)
	heir := f.heir()

	var mu sync.Mutex
	claimed := map[string]bool{j.Run.ID: true}
	took := func(k *Claimed) {
		mu.Lock()
		defer mu.Unlock()
		if k.Run.Epoch == doomed.Epoch {
			claimed[k.Run.ID] = true
		}
	}
	errs := together(6, func(i int) error {
		switch (i + round) % 6 {
		case 0:
			return f.buries(ctx, doomed, &heir)
		case 1:
			_, err := f.c.Start(ctx, owner(), asked.ID, fairlead.StartBody{})
			return unlessConflict(err)
		case 2:
			_, err := j.report(nil, false, message("at it"))
			return err
		case 3:
			_, err := f.c.Report(ctx, Report{
				Run: j.Run.ID, Fence: j.Run.Fence, Node: doomed, Seq: 100, End: &TurnEnd{StopReason: "interrupted", Interrupted: true}, TreeDead: true,
			})
			return err
		}
		k, err := f.c.Claim(ctx, doomed)
		if k != nil {
			took(k)
		}
		return unlessConflict(err)
	})
	f.must(errors.Join(errs...))
	for _, k := range h.launched {
		took(k)
	}
	// The heir looked once, after the death. Whatever the dead node began stood there by then.
	f.noneUnder(doomed)
	f.goesOnAt(heir, claimed, worked, waits, asked)
}

// heir is a node that will take over. On SQLite only a new boot can, and it comes with the death.
func (f *floor) heir() Node {
	if f.db.Dialect() == "sqlite" {
		return Node{}
	}
	return f.epoch()
}

// buries declares a node dead, and takes over what is left. The new boot on SQLite buries it by its begin.
func (f *floor) buries(ctx context.Context, dead Node, heir *Node) error {
	if heir.ID == "" {
		n, err := f.db.BeginEpoch(ctx, fairlead.Node{ID: fmt.Sprintf("nod_test%d", epochs.Add(1)), Host: "test", PID: 1, Slots: 100})
		if err != nil {
			return err
		}
		*heir = Node{ID: n.ID, Epoch: n.Epoch}
	}
	if err := f.c.bury(ctx, dead.ID, dead.Epoch); err != nil {
		return err
	}
	return f.c.Recover(ctx, *heir)
}

func unlessConflict(err error) error {
	if fairlead.IsCode(err, fairlead.CodeConflict) {
		return nil
	}
	return err
}

// noneUnder checks that no run is live under an epoch.
func (f *floor) noneUnder(n Node) {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) error {
		runs, err := tx.LiveRunsOnNode(n.ID, n.Epoch)
		for _, r := range runs {
			f.t.Errorf("run %s is %s under a dead epoch", r.ID, r.Status)
		}
		return err
	})
}

// goesOnAt works everything off at the heir and clears the board. Every run that the dead node had goes on.
func (f *floor) goesOnAt(heir Node, had map[string]bool, tasks ...fairlead.TaskView) {
	f.t.Helper()
	ctx := f.t.Context()
	for {
		k, err := f.c.Claim(ctx, heir)
		f.must(err)
		if k == nil {
			break
		}
		delete(had, k.Run.ID)
		j := &job{Claimed: k, f: f}
		j.start().done()
	}
	if len(had) > 0 {
		f.t.Errorf("runs %v of the dead node were not taken over", had)
	}
	for _, task := range tasks {
		if active := f.active(task.ID); len(active) > 0 {
			f.t.Errorf("run %s of task %s is %s and nobody has it", active[0].ID, task.ID, active[0].Status)
		}
		_, err := f.c.Archive(ctx, owner(), task.ID, fairlead.OpBody{})
		f.must(err)
	}
	f.must(f.c.Leave(ctx, heir))
}

// TestR10_ManyHeirsTakeOverOnce: several nodes see a death at the same moment; each run goes back once.
func TestR10_ManyHeirsTakeOverOnce(t *testing.T) {
	t.Parallel()
	storetest.EachWith(t, nil, func(t *testing.T, db *store.DB) {
		f := newFloor(t, db)
		if db.Dialect() == "sqlite" {
			t.Skip("one process has the home")
		}
		f.agent("ann", "parallel: 40\n")
		doomed := f.node
		had := map[string]bool{}
		var fences []*job
		for range 12 {
			f.task("stay")
			j := f.claimed().start()
			had[j.Run.ID], fences = true, append(fences, j)
		}
		heirs := make([]Node, 4)
		for i := range heirs {
			heirs[i] = f.epoch()
		}
		f.must(errors.Join(together(len(heirs), func(i int) error { return f.buries(t.Context(), doomed, &heirs[i]) })...))
		for _, j := range fences {
			r := f.status(j.Run.ID, fairlead.RunQueued)
			if r.Fence.Number != j.Run.Fence.Number+1 || r.Attempt != 0 {
				t.Errorf("got fence %d, attempt %d; want the next one and no attempt", r.Fence.Number, r.Attempt)
			}
			if n := f.runEvents(r.ID, fairlead.RunEventInterrupted); len(n) != 1 {
				t.Errorf("got %d interruptions in the log, want 1", len(n))
			}
			if a := f.assignment(r.Assignment); a.Interruptions != 1 {
				t.Errorf("got %d interruptions counted, want 1", a.Interruptions)
			}
		}
		f.noneUnder(doomed)
		for _, left := range heirs[1:] {
			f.must(f.c.Leave(t.Context(), left))
		}
		f.goesOnAt(heirs[0], had)
	})
}

// TestR10_ALateHeirChangesNothing: a node looked at what a dead one had left, and was held up. By now the run was taken
// over, and works elsewhere.
func TestR10_ALateHeirChangesNothing(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.task("stay")
		left := f.claimed().start().Run
		left = f.run(left.ID)
		dead := f.node
		f.node = f.epoch()
		f.must(f.c.bury(t.Context(), dead.ID, dead.Epoch))
		f.must(f.c.Recover(t.Context(), f.node))
		j := f.claimed().start()
		before := f.run(j.Run.ID)
		if before.ID != left.ID {
			t.Fatalf("claimed run %s, want the one that was left", before.ID)
		}
		f.must(f.c.takeOver(t.Context(), f.node, left))
		if after := f.run(j.Run.ID); after != before {
			t.Errorf("the late takeover made run %+v of %+v", after, before)
		}
		j.done()
		f.must(f.c.takeOver(t.Context(), f.node, left))
		f.status(j.Run.ID, fairlead.RunSucceeded)
	})
}
