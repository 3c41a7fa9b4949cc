package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// dueBatch is how many timers are looked at together.
const dueBatch = 100

// NextDue returns when the next timer is due; the zero time = there is none.
func (c *Control) NextDue(ctx context.Context) (time.Time, error) {
	timers, err := c.timers(ctx, 1)
	if err != nil || len(timers) == 0 {
		return time.Time{}, err
	}
	return timers[0].DueAt, nil
}

func (c *Control) timers(ctx context.Context, n int) (timers []fairlead.Timer, err error) {
	err = c.db.Read(ctx, func(tx *store.ReadTx) (err error) {
		timers, err = tx.NextTimers(n)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read timers: %w", err)
	}
	return timers, nil
}

// FireDue fires every timer whose time has come and returns how many it fired. Each is a transaction of its own, by
// compare and swap on its generation: two calls, or two nodes, fire it once. One that fails stays due and does not stop
// the others.
func (c *Control) FireDue(ctx context.Context) (int, error) {
	var errs []error
	fired, failed := 0, map[string]bool{}
	for {
		timers, err := c.timers(ctx, dueBatch+len(failed))
		if err != nil {
			return fired, errors.Join(append(errs, err)...)
		}
		progress := false
		for _, t := range timers {
			if t.DueAt.After(c.db.Now()) || failed[t.ID] {
				continue
			}
			ok, err := c.fireTimer(ctx, t)
			if err != nil {
				errs, failed[t.ID] = append(errs, fmt.Errorf("fire timer %s: %w", t.ID, err)), true
				continue
			}
			progress = true
			if ok {
				fired++
			}
		}
		if !progress {
			return fired, errors.Join(errs...)
		}
	}
}

// fireTimer fires one timer; false: somebody else did, or it was set anew.
func (c *Control) fireTimer(ctx context.Context, t fairlead.Timer) (fired bool, err error) {
	m := Meta{Workspace: t.Workspace, Actor: fairlead.Engine(), Op: fairlead.DerivedOp("timer", t.ID, fmt.Sprint(t.Generation))}
	err = c.act(ctx, m, func(w *work) (err error) {
		if fired, err = w.takeTimer(t); err != nil || !fired {
			return err
		}
		handle, known := timerKinds()[t.Kind]
		if !known {
			return fairlead.Errorf(fairlead.CodeInternal, "no handler for timers of kind %s", t.Kind)
		}
		return handle(w, t)
	})
	if isRefused(err) {
		return c.refusedTimer(ctx, m, t, err)
	}
	return fired, err
}

// runDue writes the fact that a queued run's time has come.
func (w *work) runDue(run string) error {
	r, err := w.tx.LoadRun(run)
	if fairlead.IsCode(err, fairlead.CodeNotFound) {
		return nil
	}
	if err != nil || r.Status != fairlead.RunQueued || r.Due {
		return err
	}
	r.Due, r.Settled = true, false
	if err := w.tx.SaveRun(&r); err != nil {
		return err
	}
	w.forget()
	w.look()
	return nil
}

// RunTimers fires timers as they come due until ctx ends: it sleeps until the next one and is woken when an earlier one
// is set. What is overdue fires at the start. It never sleeps longer than [timerLook]: its sleep is counted by a clock
// that stands still while the machine sleeps and that no correction of the wall clock moves, and times are due by the
// wall clock. An error is logged and backs off.
func (c *Control) RunTimers(ctx context.Context) error {
	signals := c.db.Signals()
	defer signals.Close()
	for {
		wait, err := c.fireAndLook(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			c.log.Error("fire timers", "error", err)
			wait = max(wait, timerBackoff)
		}
		pause(ctx, signals.C(store.TopicTimers), min(wait, timerLook))
	}
}

// timerBackoff is the shortest sleep after an error; timerIdle the wait without timers; timerLook the longest sleep, and
// so how late a timer is at most after the wall clock has leapt.
const (
	timerBackoff = time.Second
	timerIdle    = time.Hour
	timerLook    = 30 * time.Second
)

// fireAndLook fires what is due and returns how long there is nothing more to do.
func (c *Control) fireAndLook(ctx context.Context) (time.Duration, error) {
	if c.skewed.Load() { // the end of it is told with a wake
		return timerIdle, nil
	}
	_, fireErr := c.FireDue(ctx)
	next, err := c.NextDue(ctx)
	if err != nil {
		return timerBackoff, errors.Join(fireErr, err)
	}
	if next.IsZero() {
		return timerIdle, fireErr
	}
	return max(next.Sub(c.db.Now()), 0), fireErr
}

// pause waits for a signal, a time, or the end of ctx.
func pause(ctx context.Context, signal <-chan struct{}, wait time.Duration) {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-signal:
	case <-t.C:
	}
}
