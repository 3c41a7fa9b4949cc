package control

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// asks opens a question of the job's agent.
func (j *job) asks() string {
	j.f.t.Helper()
	v, err := j.f.c.Ask(j.f.t.Context(), j.as(), fairlead.AskBody{Prompt: "which?"})
	j.f.must(err)
	return v.ID
}

func TestR33_FailedTurnsRangeComesAgain(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		task := f.task("stay")
		f.claimed().start().done()
		f.comment(owner(), task.ID, "please")
		j := f.claimed().start()
		j.fails(fairlead.ClassTransient)
		r := f.status(j.Run.ID, fairlead.RunQueued)
		if r.ErrorClass != fairlead.ClassTransient {
			t.Errorf("got class %q", r.ErrorClass)
		}
		if s := f.session(j.Session.ID); s.InFlight != j.Through {
			t.Errorf("range in flight is %d, want %d", s.InFlight, j.Through)
		}
		f.later(clock, 3*time.Minute)
		again := f.claimed()
		same(t, "comments", again.texts(), "please")
		if again.Interrupted {
			t.Error("a failed turn counts as interrupted")
		}
		again.start().done()
		f.nothing()
	})
}

func TestR33_InterruptedTurnsRangeComesAgain(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("stay")
		f.claimed().start().done()
		f.comment(owner(), task.ID, "please")
		j := f.claimed().start()
		f.restart()
		f.status(j.Run.ID, fairlead.RunQueued)
		again := f.claimed()
		if again.Run.ID != j.Run.ID || again.Run.Attempt != 0 || again.Run.Fence.Number <= j.Run.Fence.Number || !again.Interrupted {
			t.Errorf("got run %+v, interrupted %v", again.Run, again.Interrupted)
		}
		same(t, "comments", again.texts(), "please")
		if d, err := j.report(nil, false, message("late")); err != nil || d != StopTree {
			t.Errorf("a stale report was answered %v, %v", d, err)
		}
		if n := f.audits("report"); n != 1 {
			t.Errorf("got %d audit records of the stale report, want 1", n)
		}
		again.start().done()
		f.nothing()
	})
}

// restart begins a new epoch: everything earlier is dead, and what it left is taken over.
func (f *floor) restart() {
	f.t.Helper()
	old := f.node
	f.node = f.epoch()
	f.must(f.db.Write(f.t.Context(), func(tx *store.Tx) error { _, err := tx.MarkDead(old.ID, old.Epoch); return err }))
	f.must(f.c.Recover(f.t.Context(), f.node))
	f.must(f.c.Recover(f.t.Context(), f.node))
}

func TestThreeInterruptionsAreAFailure(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.task("stay")
		var last *job
		for range 3 {
			last = f.claimed().start()
			f.restart()
		}
		if r := f.status(last.Run.ID, fairlead.RunQueued); r.ErrorClass != fairlead.ClassInterrupted || r.Attempt != 1 || r.Due {
			t.Errorf("got class %q, attempt %d, due %v; want interrupted in back-off", r.ErrorClass, r.Attempt, r.Due)
		}
	})
}

func TestR37_AskThenFailureParks(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("solo")
		f.move(task.ID, "work")
		j := f.claimed().start()
		j.asks()
		if d := j.tell(nil, false, message("I asked")); d != ParkAfterTurn {
			t.Errorf("got directive %v, want ParkAfterTurn", d)
		}
		j.fails(fairlead.ClassTransient)
		f.status(j.Run.ID, fairlead.RunParked)
		if a := f.assignment(j.Run.Assignment); a.State != fairlead.AssignmentParked || a.ParkRequested {
			t.Errorf("got assignment %+v", a)
		}
		if n := len(f.open(task.ID)); n != 1 {
			t.Errorf("got %d open requests, want 1", n)
		}
	})
}

func TestR37_AskThenNodeDeathParks(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("solo")
		f.move(task.ID, "work")
		j := f.claimed().start()
		j.asks()
		f.restart()
		f.status(j.Run.ID, fairlead.RunParked)
		f.comment(owner(), task.ID, "by the way")
		q := f.queued(task.ID)
		same(t, "holds", f.held(q.ID), fairlead.HoldRequest)
		f.nothing()
	})
}

func TestR37_AskAndCompleteInOneTurn(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("solo")
		f.move(task.ID, "work")
		j := f.claimed().start()
		j.asks()
		j.done()
		f.status(j.Run.ID, fairlead.RunParked)
		if v := f.see(task.ID); v.Step != "work" {
			t.Errorf("the task moved to %s", v.Step)
		}
	})
}

func TestTreeDeadFreesTheTaskAndNothingElse(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("stay")
		j := f.claimed().start()
		if d := j.tell(&TurnEnd{StopReason: "end_turn"}, false); d != StopTree {
			t.Errorf("got directive %v, want StopTree", d)
		}
		f.status(j.Run.ID, fairlead.RunStopping)
		f.comment(owner(), task.ID, "more")
		q := f.queued(task.ID)
		f.nothing()
		same(t, "holds", f.held(q.ID), fairlead.HoldCheckout, fairlead.HoldAgentBusy)
		j.tell(nil, true)
		f.status(j.Run.ID, fairlead.RunSucceeded)
		if f.claimed().Run.ID != q.ID {
			t.Error("the queued run was not claimed")
		}
	})
}

func TestReportSentAgainIsCarriedOutOnce(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.task("stay")
		j := f.claimed().start()
		j.says("once")
		j.seq--
		j.says("once")
		var n int
		f.read(func(tx *store.ReadTx) error {
			records, err := tx.ListRecordsFor(j.Task.ID, j.Run.Assignment, 0)
			for _, r := range records {
				if r.Kind == fairlead.RecordMessage {
					n++
				}
			}
			return err
		})
		if n != 1 {
			t.Errorf("got %d messages, want 1", n)
		}
	})
}

func TestStopEndsLiveAndQueuedRuns(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("stay")
		j := f.claimed().start()
		f.comment(owner(), task.ID, "more")
		q := f.queued(task.ID)
		_, err := f.c.Stop(t.Context(), owner(), task.ID, fairlead.OpBody{})
		f.must(err)
		f.status(q.ID, fairlead.RunCancelled)
		f.status(j.Run.ID, fairlead.RunStopping)
		ids, err := f.c.Stopping(t.Context(), f.node)
		f.must(err)
		same(t, "stopping", ids, j.Run.ID)
		// Late words count, a late end does not.
		if d := j.tell(&TurnEnd{StopReason: "end_turn"}, false, message("bye")); d != StopTree {
			t.Errorf("got directive %v, want StopTree", d)
		}
		f.status(j.Run.ID, fairlead.RunStopping)
		j.tell(nil, true)
		f.status(j.Run.ID, fairlead.RunCancelled)
		f.nothing()
		f.comment(owner(), task.ID, "go on") // later wakes work, and hear what was never delivered
		same(t, "comments", f.claimed().texts(), "more", "go on")
	})
}
