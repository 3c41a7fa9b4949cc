package control

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// later lets time pass and fires what is due then.
func (f *floor) later(clock *hand, d time.Duration) {
	f.t.Helper()
	clock.add(d)
	_, err := f.c.FireDue(f.t.Context())
	f.must(err)
}

// runEvents returns a run's log lines of a kind, "" for all.
func (f *floor) runEvents(run, kind string) (lines []fairlead.RunEvent) {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) error {
		all, err := tx.ListRunEvents(run, 0, 1000)
		for _, e := range all {
			if kind == "" || e.Kind == kind {
				lines = append(lines, e)
			}
		}
		return err
	})
	return lines
}

// notices counts the inbox's notices of a kind.
func (f *floor) notices(kind string) (n int) {
	f.t.Helper()
	box, err := f.c.Inbox(f.t.Context(), mainWorkspace, ownerPerson)
	f.must(err)
	for _, x := range box.Notices {
		if x.Kind == kind {
			n++
		}
	}
	return n
}

// TestR6_MidTurnFailureClimbsTheLadder: four retries with jitter that is recorded, then dead and one agent_error.
func TestR6_MidTurnFailureClimbsTheLadder(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		task := f.task("stay")
		var id string
		for attempt, rung := range policy.StandardLadder() {
			j := f.claimed().start()
			if id == "" {
				id = j.Run.ID
			}
			if j.Run.ID != id || j.Run.Attempt != attempt {
				t.Fatalf("got run %s, attempt %d; want %s, %d", j.Run.ID, j.Run.Attempt, id, attempt)
			}
			j.fails(fairlead.ClassTransient)
			r := f.status(id, fairlead.RunQueued)
			low, high := rung*8/10, rung*12/10
			if wait := r.DueAt.Sub(clock.Now()); r.Due || r.Attempt != attempt+1 || wait > high || wait < low-time.Second {
				t.Fatalf("attempt %d: due %v in %v, want from %v to %v", r.Attempt, r.Due, wait, low, high)
			}
			same(t, "holds", f.held(id), fairlead.HoldDue)
			f.later(clock, low-time.Second)
			f.nothing()
			f.later(clock, high-low+2*time.Second)
		}
		if n := f.notices("agent_error"); n != 0 {
			t.Errorf("%d agent errors before the ladder's end", n)
		}
		f.claimed().start().fails(fairlead.ClassTransient)
		f.status(id, fairlead.RunDead)
		if n := f.notices("agent_error"); n != 1 {
			t.Errorf("got %d agent errors, want 1", n)
		}
		failed := f.runEvents(id, fairlead.RunEventAttemptFailed)
		if len(failed) != 5 || failed[0].Data["class"] != "transient" {
			t.Fatalf("got events %+v, want five of class transient", failed)
		}
		spreads := map[any]bool{}
		for _, e := range failed[:4] {
			spreads[e.Data["spread"]] = true
		}
		if len(spreads) != 4 || spreads[nil] {
			t.Errorf("got jitter %v, want four recorded fractions", spreads)
		}
		if v := f.see(task.ID); v.State != fairlead.StateFailed {
			t.Errorf("the task is %s", v.State)
		}
		f.nothing()
	})
}

// TestR6_ProfileNamesItsLadder: also a launch that fails climbs, a class that no retry mends does not.
func TestR6_ProfileNamesItsLadder(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		f.agent("ann", "retry: [10s]\n")
		f.task("stay")
		j := f.claimed()
		j.fails(fairlead.ClassTransient) // its turn never began
		f.later(clock, 13*time.Second)
		j = f.claimed()
		if j.Run.Attempt != 1 {
			t.Errorf("got attempt %d", j.Run.Attempt)
		}
		j.fails(fairlead.ClassTransient)
		f.status(j.Run.ID, fairlead.RunDead)
		f.task("stay")
		j = f.claimed().start()
		j.fails(fairlead.ClassAuthentication)
		f.status(j.Run.ID, fairlead.RunDead)
	})
}

// TestR6_TreeMustBeDeadBeforeTheRetry: a failed run occupies its task until then; a move meanwhile supersedes it.
func TestR6_TreeMustBeDeadBeforeTheRetry(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		task := f.task("stay")
		failed := &TurnEnd{StopReason: "failed", Failure: &fairlead.Failure{Class: fairlead.ClassTransient, Message: "broken"}}
		j := f.claimed().start()
		j.tell(failed, false)
		f.later(clock, time.Hour)
		f.status(j.Run.ID, fairlead.RunStopping)
		f.nothing()
		j.tell(nil, true)
		f.status(j.Run.ID, fairlead.RunQueued)
		f.later(clock, 0)
		j = f.claimed().start()
		if j.Run.Attempt != 1 {
			t.Errorf("got attempt %d", j.Run.Attempt)
		}
		j.tell(failed, false)
		f.move(task.ID, "other")
		j.tell(nil, true)
		f.status(j.Run.ID, fairlead.RunSuperseded)
	})
}

// TestR6_AMessageEndsTheBackOff: a person's wakes the run early and the attempt stays; a client's does not.
func TestR6_AMessageEndsTheBackOff(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		task := f.task("stay")
		j := f.claimed().start()
		j.fails(fairlead.ClassTransient)
		f.later(clock, 3*time.Minute)
		f.claimed().start().fails(fairlead.ClassTransient) // on the second rung now
		f.comment(asClient(), task.ID, "beep")
		f.nothing()
		f.comment(owner(), task.ID, "go on")
		again := f.claimed()
		if again.Run.ID != j.Run.ID || again.Run.Attempt != 2 {
			t.Errorf("got run %s, attempt %d", again.Run.ID, again.Run.Attempt)
		}
		same(t, "comments", again.texts(), "beep", "go on")
		again.start().fails(fairlead.ClassTransient)
		_, err := f.c.RetryRun(t.Context(), owner(), j.Run.ID, fairlead.OpBody{}) // so does a person's word
		f.must(err)
		f.claimed().start().fails(fairlead.ClassTransient)
		r := f.status(j.Run.ID, fairlead.RunQueued)
		if wait := r.DueAt.Sub(clock.Now()); r.Attempt != 2 || wait < 7*time.Minute || wait > 12*time.Minute {
			t.Errorf("attempt %d, due in %v; want it back on its rung", r.Attempt, wait)
		}
		f.later(clock, 12*time.Minute)
		if j := f.claimed(); !slices.Equal(j.texts(), []string{"beep", "go on"}) {
			t.Errorf("the next try does not hold the comments: %v", j.texts())
		}
	})
}

// TestR34_BackOffAbsorbsTheSecondRun: one queued run, both contents, and a person's comment ends the back-off.
func TestR34_BackOffAbsorbsTheSecondRun(t *testing.T) {
	for by, m := range map[string]Meta{"client": asClient(), "person": owner()} {
		t.Run(by, func(t *testing.T) {
			eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
				task := f.task("stay")
				f.claimed().start().done()
				f.comment(owner(), task.ID, "first")
				j := f.claimed().start()
				f.comment(m, task.ID, "second")
				second := f.queued(task.ID)
				if second.ID == j.Run.ID {
					t.Fatal("the comment was taken by the live run")
				}
				j.fails(fairlead.ClassTransient)
				r := f.queued(task.ID) // fails unless there is exactly one
				if r.ID != j.Run.ID || r.Attempt != 1 || r.Absorbed != 1 || r.Due != (by == "person") {
					t.Errorf("got %+v", r)
				}
				if s := f.status(second.ID, fairlead.RunSuperseded); s.MergedInto != j.Run.ID {
					t.Errorf("the second run was merged into %q", s.MergedInto)
				}
				f.later(clock, 3*time.Minute)
				again := f.claimed()
				same(t, "comments", again.texts(), "first", "second")
				if len(again.Wakes) != 2 {
					t.Errorf("got %d wakes, want 2", len(again.Wakes))
				}
				again.start().done()
				if r := f.status(j.Run.ID, fairlead.RunSucceeded); r.ErrorClass != "" {
					t.Errorf("a good end has the class %s", r.ErrorClass)
				}
				f.nothing()
			})
		})
	}
}
