package control

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/policy"
)

// reasonAnswer is the wake of an assignment whose question was answered.
const reasonAnswer = "answer"

// wake gives an assignment a reason to be looked at: one record of the journal and, if none is there, one queued run.
// A key that was used before changes nothing.
func (w *work) wake(a fairlead.Assignment, e engine.Wake) error {
	_, err := w.enqueue(a, e)
	return err
}

// enqueue is wake; it returns the run that will see the wake, which for a key used before is the first one's run.
func (w *work) enqueue(a fairlead.Assignment, e engine.Wake) (string, error) {
	if a.State == fairlead.AssignmentEnded {
		return "", fairlead.Conflict(fairlead.ReasonVisitEnded, "the visit of this assignment is over").
			WithHint("wake the agent at the step where the task stands now")
	}
	run, err := w.tx.QueuedRunOf(a.Task, a.ID)
	if err != nil {
		return "", err
	}
	id := w.id(fairlead.PrefixRun)
	if run != nil {
		id = run.ID
	}
	if e.Key != "" {
		// The key's row comes first: whoever loses the race for it has written nothing yet.
		holder, err := w.tx.PutKey(a.Workspace, a.Agent, e.Key, id)
		if err != nil || holder != id {
			return holder, err
		}
	}
	fresh := run == nil
	if fresh {
		run, err = w.newRun(id, a, e)
	} else {
		err = w.absorb(run, e)
	}
	if err != nil {
		return "", err
	}
	return run.ID, w.addWake(a, e, run, fresh)
}

func (w *work) newRun(id string, a fairlead.Assignment, e engine.Wake) (*fairlead.Run, error) {
	person := byPerson(e)
	r := &fairlead.Run{
		ID: id, Workspace: a.Workspace, Agent: a.Agent, Task: a.Task, Assignment: a.ID, Visit: a.Visit,
		Step: a.Step, Session: a.Session, Status: fairlead.RunQueued, Reason: e.Reason, Person: person,
		Priority: policy.RunRank(person, w.task.row.Priority), Due: true, DueAt: w.now, RequestedAt: w.now,
	}
	if !e.Settle || person {
		return r, nil
	}
	settle, err := w.settleOf(a)
	if err != nil || settle <= 0 {
		return r, err
	}
	r.Due, r.Settled, r.DueAt = false, true, w.now.Add(settle)
	return r, w.dueLater(r)
}

// settleOf is the window in which a step collects comments of agents and outside systems.
func (w *work) settleOf(a fairlead.Assignment) (time.Duration, error) {
	t := &w.task.row.Task
	d, err := w.c.catalog.Definition(&w.tx.ReadTx, t.Workspace, t.Workflow, t.WorkflowVersion)
	if err != nil {
		return 0, err
	}
	if step := d.Step(a.Step); step != nil {
		return step.Settle, nil
	}
	return 0, nil
}

// dueLater sets the timer that makes a queued run due.
func (w *work) dueLater(r *fairlead.Run) error {
	return w.tx.PutTimer(&fairlead.Timer{
		ID: w.id(fairlead.PrefixTimer), Workspace: r.Workspace, Kind: fairlead.TimerRunDue, Task: r.Task, Ref: r.ID, DueAt: r.DueAt,
	})
}

// absorb lets a queued run take up one more wake. Due only moves earlier: a person or an answer ends settle and
// back-off, any wake but another settling one ends settle.
func (w *work) absorb(r *fairlead.Run, e engine.Wake) error {
	person := byPerson(e)
	r.Absorbed++
	r.Person = r.Person || person
	r.Priority = max(r.Priority, policy.RunRank(person, w.task.row.Priority))
	if r.Due || !person && (!r.Settled || e.Settle) {
		return nil
	}
	return w.dueNow(r)
}

// dueNow makes a waiting run due; its timer goes.
func (w *work) dueNow(r *fairlead.Run) error {
	r.Due, r.Settled, r.DueAt, r.Early = true, false, w.now, r.Attempt > 0
	if _, err := w.tx.DeleteTimer(fairlead.TimerRunDue, r.ID); err != nil {
		return err
	}
	return w.runEvent(r, fairlead.RunEventDueEarlier, nil)
}

// addWake writes the wake and the run that takes it up.
func (w *work) addWake(a fairlead.Assignment, e engine.Wake, r *fairlead.Run, fresh bool) error {
	by := e.By
	if by.Kind == "" {
		by = w.meta.Actor
	}
	data := wakeData{Reason: e.Reason, Payload: e.Payload, Op: w.meta.Op, Key: e.Key}
	seq := w.record(fairlead.Record{Kind: fairlead.RecordWake, Assignment: a.ID, Visit: a.Visit, Run: r.ID, Actor: by}, data)
	err := w.tx.InsertWake(&fairlead.Wake{
		Task: a.Task, Seq: seq, Assignment: a.ID, Run: r.ID, Reason: e.Reason, Payload: e.Payload, Op: w.meta.Op, Key: e.Key, By: by, At: w.now,
		Trace: w.traceparent(),
	})
	if err != nil {
		return err
	}
	kind := fairlead.RunEventAbsorbed
	if fresh {
		kind = fairlead.RunEventQueued
		err = w.tx.InsertRun(r)
	} else {
		err = w.tx.SaveRun(r)
	}
	if err != nil {
		return err
	}
	if err := w.runEvent(r, kind, map[string]any{"reason": e.Reason, "by": by.String(), "wake": seq}); err != nil {
		return err
	}
	w.forget()
	if r.Due {
		w.look()
	}
	return w.reopen(a)
}

// reopen takes a completed assignment up again.
func (w *work) reopen(a fairlead.Assignment) error {
	if a.State != fairlead.AssignmentDone {
		return nil
	}
	a.State = fairlead.AssignmentOpen
	return w.saveAssignment(a)
}

// wakeData is the record of a wake.
type wakeData struct {
	Reason  string         `json:"reason"`
	Payload map[string]any `json:"payload,omitempty"`
	Op      fairlead.OpID  `json:"op,omitempty"`
	Key     string         `json:"key,omitempty"`
}

// byPerson reports whether people wait for what the wake is about.
func byPerson(e engine.Wake) bool {
	return e.By.Kind == fairlead.ActorPerson || e.Reason == reasonAnswer
}

// look tells every node that there may be something to claim.
func (w *work) look() { w.c.dispatch.WakeTx(w.tx) }
