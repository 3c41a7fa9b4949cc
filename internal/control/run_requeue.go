package control

import (
	"time"

	"github.com/fairlead/fairlead"
)

// requeue sends a live run whose tree is dead back to the queue: the same run, a new fence, no attempt. It absorbs the
// queued run its assignment may have got meanwhile.
func (w *work) requeue(r *fairlead.Run, data map[string]any) error {
	if err := w.freeRows(r); err != nil {
		return err
	}
	if err := w.absorbQueued(r); err != nil {
		return err
	}
	r.Status, r.Due, r.Settled, r.Direct, r.DueAt = fairlead.RunQueued, true, false, false, w.now
	r.Fence = fairlead.Fence{Number: r.Fence.Number + 1}
	r.Node, r.Epoch, r.ClaimedAt, r.StartedAt = "", 0, time.Time{}, time.Time{}
	r.StopReason, r.StopStatus = "", ""
	if err := w.tx.SaveRun(r); err != nil {
		return err
	}
	w.forget()
	w.look()
	return w.runEvent(r, fairlead.RunEventInterrupted, data)
}

// absorbQueued merges the assignment's queued run into a run that goes back to the queue: its wakes and keys pass over,
// the higher priority counts, and the other ends superseded.
func (w *work) absorbQueued(r *fairlead.Run) error {
	q, err := w.tx.QueuedFor(r.Assignment)
	if err != nil || q == nil {
		return err
	}
	if _, err := w.tx.DeleteTimer(fairlead.TimerRunDue, q.ID); err != nil {
		return err
	}
	if _, err := w.tx.MoveWakes(q.ID, r.ID); err != nil {
		return err
	}
	r.Absorbed += q.Absorbed + 1
	r.Priority = max(r.Priority, q.Priority)
	r.Person = r.Person || q.Person
	q.MergedInto = r.ID
	return w.finishRun(q, fairlead.RunSuperseded)
}
