package control

import (
	"errors"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/schedule"
	"github.com/fairlead/fairlead/internal/workflow"
)

// routineTimer is the payload of a routine's timer.
type routineTimer struct {
	// Pending are occurrences that are still to be fired: a transaction makes one task, so each has a fire of its own.
	Pending []pendingFire `json:"pending,omitempty"`
}

// reasonReplaced is that of occurrences whose schedule was changed before they were fired.
const reasonReplaced = "replaced"

type pendingFire struct {
	At     fairlead.Stamp `json:"at"`
	OnTime bool           `json:"on_time,omitempty"`
}

// armRoutine sets the timer of a routine: now while fires are pending, else at the first occurrence that nobody has
// dealt with. A routine that is paused or has no schedule has none.
func (w *work) armRoutine(r *fairlead.Routine, pending []pendingFire) error {
	s, _, scheduled, err := workflow.RoutineSchedule(r)
	if err != nil {
		return err
	}
	due := s.Next(r.Anchor)
	if len(pending) > 0 {
		due = w.now
	}
	if r.Paused || !scheduled || due.IsZero() {
		_, err := w.tx.DeleteTimer(fairlead.TimerRoutine, routineRef(r))
		return err
	}
	return w.tx.PutTimer(&fairlead.Timer{
		ID: w.id(fairlead.PrefixTimer), Workspace: r.Workspace, Kind: fairlead.TimerRoutine, Ref: routineRef(r), DueAt: due,
		Payload: marshal(routineTimer{Pending: pending}),
	})
}

// pendingOf returns the occurrences that a routine's timer still has to fire.
func (w *work) pendingOf(r *fairlead.Routine) ([]pendingFire, error) {
	t, err := w.tx.FindTimer(fairlead.TimerRoutine, routineRef(r))
	if err != nil || t == nil {
		return nil, err
	}
	var state routineTimer
	err = unmarshal(t.Payload, &state)
	return state.Pending, err
}

// skipPending tells of occurrences that will not be fired any more.
func (w *work) skipPending(r *fairlead.Routine, pending []pendingFire, reason string) error {
	for _, p := range pending {
		if err := w.routineReceipt(r, single(p.At.Time, schedule.OutcomeSkipped, reason), fairlead.CauseSchedule, ""); err != nil {
			return err
		}
	}
	return nil
}

// lookAtWaiting makes the fire that waits be looked at once more.
func (w *work) lookAtWaiting(workspace, key string) error {
	r := fairlead.Routine{Workspace: workspace, Key: key}
	return w.tx.PutTimer(&fairlead.Timer{
		ID: w.id(fairlead.PrefixTimer), Workspace: workspace, Kind: fairlead.TimerRoutineWait, Ref: routineRef(&r), DueAt: w.now,
	})
}

// ofRoutine loads the routine of a timer; nil = it fires nothing now.
func (w *work) ofRoutine(t fairlead.Timer) (*fairlead.Routine, error) {
	_, key, _ := strings.Cut(t.Ref, "/")
	r, err := w.tx.LoadRoutine(t.Workspace, key)
	if fairlead.IsCode(err, fairlead.CodeNotFound) || err == nil && r.Paused {
		return nil, nil
	}
	return &r, err
}

// routineDue fires the next occurrence of a routine.
func (w *work) routineDue(t fairlead.Timer) error {
	r, err := w.ofRoutine(t)
	if err != nil || r == nil {
		return err
	}
	var state routineTimer
	if err := unmarshal(t.Payload, &state); err != nil {
		return err
	}
	pending := state.Pending
	if len(pending) == 0 {
		if pending, err = w.occurrences(r); err != nil {
			return err
		}
	}
	if len(pending) > 0 {
		first := pending[0]
		f := firing{at: first.At.Time, cause: fairlead.CauseSchedule, late: !first.OnTime}
		if _, err := w.fireRoutine(r, f); err != nil {
			return err
		}
		pending = pending[1:]
	}
	if err := w.armRoutine(r, pending); err != nil {
		return err
	}
	return w.putRoutine(r)
}

// occurrences deals with everything that has come due: it returns what is to be fired and writes receipts of the rest.
func (w *work) occurrences(r *fairlead.Routine) (pending []pendingFire, err error) {
	s, policy, _, err := workflow.RoutineSchedule(r)
	if err != nil {
		return nil, err
	}
	fires, receipts := s.Missed(policy, r.Anchor, w.now)
	if w.now.After(r.Anchor) {
		r.Anchor = w.now
	}
	for _, x := range receipts {
		if x.Outcome != schedule.OutcomeSkipped {
			continue // its fire leaves one of its own
		}
		if err := w.routineReceipt(r, x, fairlead.CauseSchedule, ""); err != nil {
			return nil, err
		}
	}
	for _, f := range fires {
		pending = append(pending, pendingFire{At: fairlead.StampOf(f.At), OnTime: f.OnTime})
	}
	return pending, nil
}

// waitingDue fires what waits, if the earlier tasks have ended.
func (w *work) waitingDue(t fairlead.Timer) error {
	r, err := w.ofRoutine(t)
	if err != nil || r == nil || r.Waiting == nil {
		return err
	}
	f := firing{at: r.Waiting.At.Time, cause: r.Waiting.Cause, payload: r.Waiting.Payload, waited: true}
	if _, err := w.fireRoutine(r, f); err != nil {
		return err
	}
	return w.putRoutine(r)
}

// waitingRefused gives up what waited.
func (w *work) waitingRefused(t fairlead.Timer, cause error) error {
	r, err := w.ofRoutine(t)
	if err != nil || r == nil || r.Waiting == nil {
		return err
	}
	f := firing{at: r.Waiting.At.Time, cause: r.Waiting.Cause}
	r.Waiting = nil
	if err := w.routineFailed(r, f, cause); err != nil {
		return err
	}
	return w.putRoutine(r)
}

// routineRefused stands for a fire that was refused: the routine goes on with its next one, and the inbox says why.
func (w *work) routineRefused(t fairlead.Timer, cause error) error {
	r, err := w.ofRoutine(t)
	if err != nil || r == nil {
		return err
	}
	var state routineTimer
	if err := unmarshal(t.Payload, &state); err != nil {
		return err
	}
	pending := state.Pending
	if len(pending) == 0 {
		if pending, err = w.occurrences(r); err != nil {
			return err
		}
	}
	if len(pending) > 0 {
		if err := w.routineFailed(r, firing{at: pending[0].At.Time, cause: fairlead.CauseSchedule}, cause); err != nil {
			return err
		}
		pending = pending[1:]
	}
	if err := w.armRoutine(r, pending); err != nil {
		return err
	}
	return w.putRoutine(r)
}

// routineFailed tells of a fire that could not be carried out, the first time of several in a row also in the inbox.
func (w *work) routineFailed(r *fairlead.Routine, f firing, cause error) error {
	x := w.receiptOf(r, schedule.Receipt{At: f.at, Until: f.at, Count: 1, Outcome: schedule.OutcomeSkipped, Reason: schedule.ReasonError}, f.cause, "")
	if extended, err := w.tx.ExtendReceipt(x); err != nil || extended {
		return err
	}
	if err := w.tx.InsertReceipt(x); err != nil {
		return err
	}
	text := "The routine " + r.Key + " could not make its task"
	var e *fairlead.Error
	if errors.As(cause, &e) {
		text += ": " + e.Message
	}
	n := fairlead.Notice{
		ID: w.id(fairlead.PrefixNotice), Workspace: r.Workspace, Kind: "routine_failed", Text: text + ".", Data: map[string]any{"routine": r.Key}, At: w.now,
	}
	if err := w.tx.InsertNotice(n); err != nil {
		return err
	}
	w.emit(fairlead.Event{
		Kind: fairlead.EventNoticeAdded, Workspace: r.Workspace, Actor: fairlead.Engine(),
		Data: marshal(map[string]any{"id": n.ID, "kind": n.Kind, "text": n.Text}),
	})
	return nil
}
