package control

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

func TestRunFromWakeToCompletion(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("solo")
		f.nothing()
		f.move(task.ID, "work")
		j := f.claimed()
		if j.Run.Status != fairlead.RunClaimed || j.Run.Agent != "ann" || j.Step.Key != "work" || len(j.Wakes) != 1 {
			t.Fatalf("got run %+v with %d wakes", j.Run, len(j.Wakes))
		}
		f.nothing()
		j.start()
		if s := f.session(j.Session.ID); s.State != fairlead.SessionRunning || s.Execution == "" || s.InFlight != j.Through {
			t.Errorf("got session %+v", s)
		}
		j.says("hello")
		j.done()
		r := f.status(j.Run.ID, fairlead.RunSucceeded)
		if r.Outcome != fairlead.OutcomeCompleted {
			t.Errorf("got outcome %q, want completed", r.Outcome)
		}
		if s := f.session(j.Session.ID); s.State != fairlead.SessionIdle || s.Execution != "" || s.InFlight != 0 || s.Delivered != j.Through {
			t.Errorf("got session %+v", s)
		}
		if v := f.see(task.ID); v.Step != "done" {
			t.Errorf("task stands at %s, want done", v.Step)
		}
		f.nothing()
	})
}

// TestAReportSentAgainIsNotCarriedOutAgain: its answer was lost. It is told by the run's row, for as long as the claim is
// known: during the turn, after its end, and when the run has gone back to the queue.
func TestAReportSentAgainIsNotCarriedOutAgain(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		again := func(j *job, want Directive, end *TurnEnd, facts ...Fact) {
			t.Helper()
			lines, records := len(f.runEvents(j.Run.ID, "")), len(f.records(j.Task.ID))
			j.seq--
			if d, err := j.report(end, end != nil, facts...); err != nil || d != want {
				t.Errorf("got %v, %v; want %v", d, err, want)
			}
			if l, r := len(f.runEvents(j.Run.ID, "")), len(f.records(j.Task.ID)); l != lines || r != records {
				t.Errorf("it added %d lines and %d records", l-lines, r-records)
			}
		}
		f.task("stay")
		j := f.claimed().start()
		j.says("a")
		again(j, Continue, nil, message("a"))
		j.says("b")
		again(j, Continue, nil, message("b"))
		interrupted := TurnEnd{StopReason: "interrupted", Interrupted: true}
		j.tell(&interrupted, true)
		again(j, StopTree, &interrupted)
		next := f.claimed().start()
		next.says("c")
		again(next, Continue, nil, message("c"))
		next.done()
		again(next, StopTree, &TurnEnd{StopReason: "end_turn"})
		if r := f.run(j.Run.ID); r.Outcome != fairlead.OutcomeCompleted && r.Outcome != fairlead.OutcomeYielded {
			t.Errorf("got run %+v", r)
		}
	})
}

// records are all of a task's journal.
func (f *floor) records(task string) (all []fairlead.Record) {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) (err error) { all, err = tx.ListRecords(task, 0, 1000); return err })
	return all
}
