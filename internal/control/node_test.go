package control

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// sharedOnly skips databases that one process has for itself.
func sharedOnly(t *testing.T, f *floor) {
	t.Helper()
	if f.db.Dialect() == "sqlite" {
		t.Skip("one process has the home")
	}
}

// TestR10_DeathFencesAndTheLateReportIsRefused: the work goes on elsewhere, and what the dead epoch still tells changes
// nothing and is on record.
func TestR10_DeathFencesAndTheLateReportIsRefused(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		sharedOnly(t, f)
		f.task("stay")
		j := f.claimed().start()
		heir := f.epoch()
		f.must(f.c.bury(t.Context(), f.node.ID, f.node.Epoch))
		if c, err := f.c.Claim(t.Context(), f.node); !fairlead.IsCode(err, fairlead.CodeConflict) && c != nil {
			t.Errorf("a dead epoch claimed %v (%v)", c, err)
		}
		f.must(f.c.Recover(t.Context(), heir))
		f.status(j.Run.ID, fairlead.RunQueued)
		d, err := f.c.Report(t.Context(), Report{
			Run: j.Run.ID, Fence: j.Run.Fence, Node: f.node, Seq: 99, End: &TurnEnd{StopReason: "end_turn"}, TreeDead: true,
		})
		if err != nil || d != StopTree {
			t.Errorf("got %v %v for a late report, want StopTree", d, err)
		}
		f.status(j.Run.ID, fairlead.RunQueued)
		if r, err := f.c.renew(t.Context(), f.node); err != nil || r.alive {
			t.Errorf("got alive %v %v, want the node to see its death", r.alive, err)
		}
		c, err := f.c.Claim(t.Context(), heir)
		f.must(err)
		if c == nil || c.Run.ID != j.Run.ID || c.Run.Fence.Number <= j.Run.Fence.Number || !c.Interrupted || c.Run.Attempt != 0 {
			t.Fatalf("got claim %+v, want the same run under a higher fence, interrupted, no attempt", c)
		}
	})
}

// TestR10_AnOlderNodeTakesOverFromANewerOne: epochs have an order, heirs have none.
func TestR10_AnOlderNodeTakesOverFromANewerOne(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		sharedOnly(t, f)
		f.task("stay")
		young := f.epoch()
		c, err := f.c.Claim(t.Context(), young)
		f.must(err)
		f.must(f.c.bury(t.Context(), young.ID, young.Epoch))
		f.must(f.c.Recover(t.Context(), f.node))
		f.status(c.Run.ID, fairlead.RunQueued)
		f.must(f.c.Recover(t.Context(), f.node))
		f.claimed()
	})
}

func TestRenewalReadsTheOthersAndTheClock(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		other := f.epoch()
		if f.db.Dialect() == "sqlite" {
			f.node = other // the earlier one is buried
		}
		for want := range int64(3) {
			r, err := f.c.renew(t.Context(), f.node)
			f.must(err)
			if !r.alive || f.db.Dialect() == "postgres" && (len(r.others) != 1 || r.others[0].epoch != other.Epoch || r.others[0].counter != want) {
				t.Errorf("renewal %d: got %+v", want, r)
			}
			if off := time.Since(r.clock); off.Abs() > time.Minute {
				t.Errorf("the database's clock is off by %v", off)
			}
			if f.db.Dialect() == "postgres" {
				_, err = f.c.renew(t.Context(), other)
				f.must(err)
			}
		}
		f.must(f.c.Leave(t.Context(), f.node))
		if r, err := f.c.renew(t.Context(), f.node); err != nil || r.alive {
			t.Errorf("got %+v %v after leaving, want a dead epoch", r, err)
		}
	})
}

// TestR40_AClockThatIsOffClaimsAndFiresNothing until it is right again; one notice says so.
func TestR40_AClockThatIsOffClaimsAndFiresNothing(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.task("stay")
		f.must(f.c.setClock(t.Context(), f.node, 80*time.Millisecond))
		j := f.claimed()
		j.start().done()
		waits := f.task("stay")
		for range 3 {
			f.must(f.c.setClock(t.Context(), f.node, -time.Hour))
		}
		f.nothing()
		same(t, "holds", f.held(f.queued(waits.ID).ID), fairlead.HoldNodeClock)
		if wait, err := f.c.fireAndLook(t.Context()); err != nil || wait != timerIdle {
			t.Errorf("got %v %v, want timers to rest", wait, err)
		}
		var found []fairlead.Notice
		f.read(func(tx *store.ReadTx) error {
			all, _, err := tx.ListNotices(mainWorkspace, true, store.Page{Limit: 50})
			for _, n := range all {
				if n.Kind == noticeClock {
					found = append(found, n)
				}
			}
			return err
		})
		if len(found) != 1 || !strings.Contains(found[0].Text, "behind") {
			t.Errorf("got notices %+v, want one that says which way", found)
		}
		f.must(f.c.setClock(t.Context(), f.node, 0))
		same(t, "holds", f.held(f.queued(waits.ID).ID))
		f.claimed()
	})
}
