package control

import (
	"testing"

	"github.com/fairlead/fairlead"
)

// circleFlow moves in a circle through guards, so that the save cannot see it.
const circleFlow = `
workflow: circle
name: Circle
start: work
steps:
  - key: work
    name: Work
    agent: ann
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      manual:
        spin: [{move: {to: a}}]
  - key: a
    name: A
    on: {enter: [{move: {to: b, if: "task.title != ''"}}]}
  - key: b
    name: B
    on: {enter: [{move: {to: a, if: "task.title != ''"}}]}
  - {key: done, name: Done, terminal: done}
`

// TestR25_WhyNamesEveryHold piles holds onto one run and takes them off again.
func TestR25_WhyNamesEveryHold(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(circleFlow)
		other := f.task("solo")
		task, err := f.c.CreateTask(t.Context(), asClient(), fairlead.NewTask{Title: "t", Workflow: "circle"})
		f.must(err)
		j := f.claimed().start()
		j.asks()
		q := f.more(task.ID)
		_, err = f.c.AddBlocker(t.Context(), owner(), task.ID, fairlead.BlockerBody{BlockedBy: other.ID})
		f.must(err)
		_, err = f.c.PauseAgent(t.Context(), owner(), "ann", fairlead.PauseBody{Reason: "holiday"})
		f.must(err)
		f.agent("ann", "labels: [gpu]\n")
		same(t, "holds", f.held(q),
			fairlead.HoldAgentPaused, fairlead.HoldNodeLabel, fairlead.HoldCheckout, fairlead.HoldAgentBusy, fairlead.HoldBlocked, fairlead.HoldRequest)
		f.agent("ann", "")
		j.done()
		_, err = f.c.ResumeAgent(t.Context(), owner(), "ann", fairlead.PauseBody{})
		f.must(err)
		same(t, "holds", f.held(q), fairlead.HoldBlocked, fairlead.HoldRequest)
		f.answer(f.open(task.ID)[0].ID, fairlead.Answer{Text: "this"})
		// The answer is a person's wake: it passes the blocker.
		same(t, "holds", f.held(q))
		if f.claimed().Run.ID != q {
			t.Error("the run was not claimed")
		}
	})
}

// more queues one more run of the circle's primary, by an outside system.
func (f *floor) more(task string) string {
	f.t.Helper()
	w := Meta{Workspace: mainWorkspace, Actor: fairlead.Engine()}
	f.must(f.c.act(f.t.Context(), w, func(w *work) error {
		if err := w.lock(task); err != nil {
			return err
		}
		_, err := w.decide(wakeOf("primary"))
		return err
	}))
	return f.queued(task).ID
}

func TestR25_LoopIsAHoldUntilAPersonStarts(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(circleFlow)
		task := f.task("circle")
		_, err := f.c.Trigger(t.Context(), owner(), task.ID, fairlead.TriggerBody{Kind: fairlead.TriggerManual, Key: "spin"}, false)
		f.must(err)
		same(t, "holds", f.held(f.queued(task.ID).ID), fairlead.HoldLoop)
		f.nothing()
		f.hire(1)
		r, err := f.start(task.ID, fairlead.StartBody{})
		if err != nil || !r.Launched {
			t.Errorf("got %+v, %v; want it launched", r, err)
		}
	})
}

func TestWhyOfAnUnknownRun(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		_, err := f.c.Why(t.Context(), mainWorkspace, "run_none")
		refused(t, err, fairlead.CodeNotFound)
		_, err = f.c.CancelRun(t.Context(), owner(), "run_none", fairlead.OpBody{})
		refused(t, err, fairlead.CodeNotFound)
	})
}

const visitsFlow = `
workflow: visits
name: Visits
start: work
steps:
  - key: work
    name: Work
    agent: ann
    max_visits: 2
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      turn_complete: [{move: {to: again}}]
  - key: again
    name: Again
    agent: bob
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      turn_complete: [{move: {to: work}}]
  - {key: done, name: Done, terminal: done}
`

func TestE33_OneVisitTooManyAsksFirst(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(visitsFlow)
		task := f.task("visits")
		for range 12 {
			if j := f.claim(); j != nil {
				j.start().done()
			}
		}
		open := f.open(task.ID)
		if v := f.see(task.ID); v.Step != "work" || len(open) != 1 || open[0].Kind != fairlead.RequestSupervise {
			t.Fatalf("got %s with requests %+v", v.Step, open)
		}
		q := f.queued(task.ID)
		same(t, "holds", f.held(q.ID), fairlead.HoldRequest)
		f.answer(open[0].ID, fairlead.Answer{Option: "go_on"})
		if f.claimed().Run.ID != q.ID {
			t.Error("the answer did not release the run")
		}
	})
}

// TestWhyOfARunThatWaitsForASlot: nothing of its own holds it, and no node has room.
func TestWhyOfARunThatWaitsForASlot(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.dies(f.node)
		f.at("a", "1", 1)
		f.agent("bob", "labels: [gpu]\n")
		f.agent("ann", "parallel: 4\n")
		f.task("stay")
		j := f.claimed().start()
		task := f.task("stay")
		run := f.queued(task.ID).ID
		same(t, "holds", f.held(run), fairlead.HoldNodeBusy)
		if v := f.see(task.ID); v.State != fairlead.StateQueued || len(v.Holds) != 0 {
			t.Errorf("got %s with %v: a task that waits for a slot is queued", v.State, v.Holds)
		}
		j.done()
		same(t, "holds", f.held(run))
	})
}
