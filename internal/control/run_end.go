package control

import (
	"github.com/fairlead/fairlead"
)

// Words for why a live run was told to end; a run that ends by its own report has reasonEnded.
const (
	reasonEnded   = "turn ended"
	reasonStopped = "stopped by a person"
)

// endVisitRuns ends the runs of a visit that is over: queued ones are superseded, live ones told to stop. keepRun, whose
// own report caused the move, may finish its turn and then counts as succeeded; with carry it goes on in the new visit
// and is left alone.
func (w *work) endVisitRuns(visit int, by fairlead.Actor, reason, keepRun string, carry bool) error {
	runs, err := w.tx.ActiveRuns(w.task.row.ID)
	if err != nil {
		return err
	}
	for i := range runs {
		r := &runs[i]
		switch {
		case r.Visit != visit || carry && r.ID == keepRun:
		case r.ID == keepRun && r.Status != fairlead.RunStopping && r.Status != fairlead.RunQueued:
			r.StopReason, r.StopStatus = reason, fairlead.RunSucceeded
			err = w.tx.SaveRun(r)
		default:
			err = w.endOrStop(r, fairlead.RunSuperseded, by, reason)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endAssignmentRuns ends the runs of an assignment that ended alone, because its seat was taken away.
func (w *work) endAssignmentRuns(assignment, reason string) error {
	runs, err := w.tx.ActiveRuns(w.task.row.ID)
	if err != nil {
		return err
	}
	for i := range runs {
		if runs[i].Assignment != assignment {
			continue
		}
		if err := w.endOrStop(&runs[i], fairlead.RunSuperseded, w.meta.Actor, reason); err != nil {
			return err
		}
	}
	return nil
}

// stopAll cancels every queued run of the task and tells the live ones to stop. Later wakes work as ever.
func (w *work) stopAll(reason string, by fairlead.Actor) error {
	runs, err := w.tx.ActiveRuns(w.task.row.ID)
	if err != nil {
		return err
	}
	for i := range runs {
		if err := w.endOrStop(&runs[i], fairlead.RunCancelled, by, reason); err != nil {
			return err
		}
	}
	return nil
}

// endOrStop ends a queued run at once with the status, and tells a live one to stop: it takes the status when its
// process tree is dead. One that is stopping already keeps what it was told first.
func (w *work) endOrStop(r *fairlead.Run, status fairlead.RunStatus, by fairlead.Actor, reason string) error {
	w.forget()
	switch r.Status {
	case fairlead.RunQueued:
		r.StopReason = reason
		if !r.Due { // one that is due has no timer any more
			if _, err := w.tx.DeleteTimer(fairlead.TimerRunDue, r.ID); err != nil {
				return err
			}
		}
		return w.finishRun(r, status)
	case fairlead.RunStopping:
		if r.StopStatus != fairlead.RunQueued {
			return nil
		}
		r.StopStatus, r.StopReason = status, reason // it failed and would have been tried again
		return w.tx.SaveRun(r)
	}
	r.Status, r.StopStatus, r.StopReason = fairlead.RunStopping, status, reason
	if err := w.tx.SaveRun(r); err != nil {
		return err
	}
	id := r.ID
	w.tx.AfterCommit(func() { w.c.tellStop(id) })
	return w.runEvent(r, fairlead.RunEventStopping, map[string]any{"reason": reason, "by": by.String(), "becomes": status})
}

// carryRun hands a live run over to an assignment of the new visit: run, slot and checkout go on, and so does the session
// its turn runs in, even where the agent has another one in its new capacity.
func (w *work) carryRun(run, assignment string) error {
	r, err := w.tx.LoadRun(run)
	if err != nil {
		return err
	}
	a, err := w.tx.LoadAssignment(assignment)
	if err != nil {
		return err
	}
	if err := w.tx.DropLive(r.ID); err != nil {
		return err
	}
	if ok, err := w.tx.PutLive(a.ID, r.ID); err != nil || !ok {
		return missed(err, "assignment")
	}
	before := r
	r.Assignment, r.Visit, r.Step = a.ID, a.Visit, a.Step
	r.StopReason, r.StopStatus = "", ""
	if err := w.tx.SaveRun(&r); err != nil {
		return err
	}
	w.forget()
	if err := w.givePlaceBack(&before); err != nil {
		return err
	}
	_, err = w.takePlace(&r, true)
	return err
}
