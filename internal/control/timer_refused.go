package control

import (
	"context"
	"errors"

	"github.com/fairlead/fairlead"
)

// takeTimer locks what a timer is about and takes its generation; false: somebody else did, or it was set anew.
func (w *work) takeTimer(t fairlead.Timer) (bool, error) {
	switch {
	case t.Task != "":
		if err := w.lock(t.Task); err != nil {
			return false, err
		}
	case t.Kind == fairlead.TimerRoutine, t.Kind == fairlead.TimerRoutineWait:
		if err := w.tx.LockWorkspace(t.Workspace); err != nil {
			return false, err
		}
		w.now = w.tx.Now()
	}
	return w.tx.FireTimer(t.ID, t.Generation)
}

// isRefused reports whether an error is a refusal: the same command would be refused again.
func isRefused(err error) bool {
	var e *fairlead.Error
	return errors.As(err, &e) && isRefusal(e)
}

// refusedKinds are the timers that come again: what is written instead of a fire that was refused, and the next timer.
func refusedKinds() map[string]func(w *work, t fairlead.Timer, cause error) error {
	return map[string]func(w *work, t fairlead.Timer, cause error) error{
		fairlead.TimerHeartbeat:   (*work).beatRefused,
		fairlead.TimerRoutine:     (*work).routineRefused,
		fairlead.TimerRoutineWait: (*work).waitingRefused,
	}
}

// refusedTimer consumes the generation of a fire that was refused, and leaves its one audit record.
func (c *Control) refusedTimer(ctx context.Context, m Meta, t fairlead.Timer, cause error) (fired bool, err error) {
	again := refusedKinds()[t.Kind]
	err = c.act(ctx, m, func(w *work) error {
		if again == nil {
			fired, err = w.tx.FireTimer(t.ID, t.Generation)
			return err
		}
		if fired, err = w.takeTimer(t); err != nil || !fired {
			return err
		}
		return again(w, t, cause)
	})
	if err != nil || !fired {
		return fired, err
	}
	cause = c.refused(ctx, m, command{name: "fire timer", task: t.Task}, cause)
	c.log.Warn("a timer's fire was refused", "timer", t.Kind, "ref", t.Ref, "error", cause)
	return true, nil
}
