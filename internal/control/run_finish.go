package control

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
)

// finishRun makes a run final. For one that was claimed its process tree is dead: only here are checkout, slot and live
// row freed, and whoever waits for them is told to look.
func (w *work) finishRun(r *fairlead.Run, status fairlead.RunStatus) error {
	if r.Status.Live() {
		if err := w.freeRows(r, status); err != nil {
			return err
		}
		if err := w.coolDown(r); err != nil {
			return err
		}
	}
	r.Status, r.StopStatus, r.FinishedAt = status, "", w.now
	if err := w.tx.SaveRun(r); err != nil {
		return err
	}
	if err := w.givePlaceBack(r); err != nil {
		return err
	}
	w.forget()
	w.look()
	data := map[string]any{"status": status}
	for key, text := range map[string]string{
		"outcome": r.Outcome, "reason": r.StopReason, "error_class": string(r.ErrorClass), "error_message": r.ErrorMessage, "merged_into": r.MergedInto,
	} {
		if text != "" {
			data[key] = text
		}
	}
	return w.runEvent(r, fairlead.RunEventEnded, data)
}

// freeRows gives back what a live run occupies, and ends its execution. The WIP place is the task's, not the run's. A hold
// behind which the run went first learns how it ended.
func (w *work) freeRows(r *fairlead.Run, becomes fairlead.RunStatus) error {
	if err := w.probed(r, becomes); err != nil {
		return err
	}
	for _, drop := range []func(string) error{w.tx.DropCheckout, w.tx.DropLive, w.tx.DropSlot} {
		if err := drop(r.ID); err != nil {
			return err
		}
	}
	if err := w.charge(r, policy.WallTime(w.now.Sub(r.ClaimedAt))); err != nil {
		return err
	}
	s, err := w.tx.LoadSession(r.Session)
	if err != nil {
		return err
	}
	if s.Execution != "" {
		if err := w.tx.EndExecution(s.Execution, executionExited, w.now); err != nil {
			return err
		}
	}
	if s.State == fairlead.SessionClosed {
		return nil
	}
	s.State, s.Execution = fairlead.SessionIdle, ""
	return w.tx.SaveSession(&s)
}

// States of an execution's row.
const (
	executionStarting = "starting"
	executionRunning  = "running"
	executionExited   = "exited"
)

// givePlaceBack frees the task's place at the step of a run when nothing of the task there is live, about to run, or in
// back-off. A run that something else holds keeps no place: what it waits for may need this very place. The caller tells
// everybody to look.
func (w *work) givePlaceBack(r *fairlead.Run) error {
	runs, err := w.tx.ActiveRuns(r.Task)
	if err != nil {
		return err
	}
	for i := range runs {
		if runs[i].Step != r.Step {
			continue
		}
		keeps, err := w.keepsPlace(&runs[i])
		if err != nil || keeps {
			return err
		}
	}
	workflow := w.task.row.Workflow
	if r.Visit != w.task.row.Visit {
		v, err := w.tx.LoadVisit(r.Task, r.Visit)
		if err != nil {
			return err
		}
		workflow = v.Workflow
	}
	return w.tx.DropPlace(r.Workspace, workflow, r.Step, r.Task)
}

// keepsPlace reports whether a queued or live run is reason enough for its task to stay in its place.
func (w *work) keepsPlace(r *fairlead.Run) (bool, error) {
	if r.Status.Live() {
		return true, nil
	}
	if !r.Due && r.Attempt == 0 {
		return false, nil
	}
	g, err := w.c.gate(&w.tx.ReadTx, w.task.row, *r)
	if err != nil {
		return false, err
	}
	for _, check := range []func() ([]fairlead.Hold, error){g.archived, g.loop, g.blocked, g.request, g.budget, g.paused, g.stranded, g.limited} {
		holds, err := check()
		if err != nil || len(holds) > 0 {
			return false, err
		}
	}
	return true, nil
}
