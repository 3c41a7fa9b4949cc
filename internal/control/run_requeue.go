package control

import (
	"time"

	"github.com/fairlead/fairlead"
)

// requeue sends a live run whose tree is dead back to the queue after an interruption: the same run, a new fence, no
// attempt, due at once.
func (w *work) requeue(r *fairlead.Run, data map[string]any) error {
	r.Due, r.DueAt = true, w.now
	if err := w.goBack(r); err != nil {
		return err
	}
	return w.runEvent(r, fairlead.RunEventInterrupted, data)
}

// backOff sends a live run whose attempt failed and whose tree is dead back to the queue. Its attempt and its time stand
// on it already.
func (w *work) backOff(r *fairlead.Run) error {
	if err := w.coolDown(r); err != nil {
		return err
	}
	if err := w.goBack(r); err != nil {
		return err
	}
	if err := w.givePlaceBack(r); err != nil {
		return err
	}
	data := map[string]any{"reason": reasonRetry, "attempt": r.Attempt, "due": r.Due}
	if !r.Due {
		data["due_at"] = fairlead.StampOf(r.DueAt)
	}
	return w.runEvent(r, fairlead.RunEventQueued, data)
}

// reasonRetry is why a run is queued again after a failed attempt.
const reasonRetry = "retry"

// goBack queues a live run again, due at its DueAt. It absorbs the queued run its assignment may have got meanwhile: a
// person's message there ends the back-off before it began.
func (w *work) goBack(r *fairlead.Run) error {
	if err := w.freeRows(r, fairlead.RunQueued); err != nil {
		return err
	}
	person, err := w.absorbQueued(r)
	if err != nil {
		return err
	}
	if person && !r.Due {
		r.Due, r.DueAt, r.Early = true, w.now, true
	}
	r.Status, r.Settled, r.Direct = fairlead.RunQueued, false, false
	r.Fence = fairlead.Fence{Number: r.Fence.Number + 1}
	r.Node, r.Epoch, r.ClaimedAt, r.StartedAt = "", 0, time.Time{}, time.Time{}
	r.StopReason, r.StopStatus = "", ""
	if err := w.tx.SaveRun(r); err != nil {
		return err
	}
	w.forget()
	w.look() // whatever the run occupied is free
	if r.Due {
		return nil
	}
	return w.dueLater(r)
}

// absorbQueued merges the assignment's queued run into a run that goes back to the queue: its wakes and keys pass over,
// the higher priority counts, and the other ends superseded. person says that a person's wake was among them.
func (w *work) absorbQueued(r *fairlead.Run) (person bool, err error) {
	q, err := w.tx.QueuedFor(r.Assignment)
	if err != nil || q == nil {
		return false, err
	}
	if _, err := w.tx.DeleteTimer(fairlead.TimerRunDue, q.ID); err != nil {
		return false, err
	}
	if _, err := w.tx.MoveWakes(q.ID, r.ID); err != nil {
		return false, err
	}
	r.Absorbed += q.Absorbed + 1
	r.Priority = max(r.Priority, q.Priority)
	r.Person = r.Person || q.Person
	q.MergedInto = r.ID
	return q.Person, w.finishRun(q, fairlead.RunSuperseded)
}

// treeDied gives a stopping run whose process tree is dead the end that was decided for it.
func (w *work) treeDied(r *fairlead.Run) error {
	if r.StopStatus == fairlead.RunQueued {
		return w.backOff(r)
	}
	return w.finishRun(r, r.StopStatus)
}
