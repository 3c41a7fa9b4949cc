package control

import (
	"testing"

	"github.com/fairlead/fairlead"
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
