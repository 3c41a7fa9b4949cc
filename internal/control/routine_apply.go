package control

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/schedule"
	"github.com/fairlead/fairlead/internal/workflow"
)

// routineRef names a routine's timers.
func routineRef(r *fairlead.Routine) string { return r.Workspace + "/" + r.Key }

// ApplyRoutine makes or changes a routine of the workspace from a YAML document. The same routine again changes nothing.
// A new schedule counts from now; one that stays keeps its place.
func (c *Control) ApplyRoutine(ctx context.Context, m Meta, body fairlead.RoutineBody) (fairlead.RoutineView, error) {
	if m.Op == "" {
		m.Op = body.Op
	}
	body.Op = ""
	return do(ctx, c, m, command{name: "apply routine", run: m.Actor.Run, body: body}, func(w *work) (fairlead.RoutineView, error) {
		none := fairlead.RoutineView{}
		if err := w.peopleOnly("routines"); err != nil {
			return none, err
		}
		if err := w.tx.LockWorkspace(w.meta.Workspace); err != nil {
			return none, err
		}
		w.now = w.tx.Now()
		f, err := w.facts()
		if err != nil {
			return none, err
		}
		names := f.Names()
		r, report := workflow.ParseRoutine([]byte(body.Source), workflow.Names{Agents: names.Agents, Workflows: f.Workflows})
		if err := report.Err(); err != nil {
			return none, err
		}
		return w.applyRoutine(r)
	})
}

func (w *work) applyRoutine(r fairlead.Routine) (fairlead.RoutineView, error) {
	none := fairlead.RoutineView{}
	r.Workspace = w.meta.Workspace
	old, err := w.tx.LoadRoutine(r.Workspace, r.Key)
	there := err == nil
	if err != nil && !fairlead.IsCode(err, fairlead.CodeNotFound) {
		return none, err
	}
	if there && bytes.Equal(marshal(old), marshal(r)) && old.Secret == r.Secret {
		return read.RoutineView(&w.tx.ReadTx, old)
	}
	if err := w.ifVersion(old.Version); err != nil {
		return none, err
	}
	r.Anchor = w.now
	pending, err := w.pendingOf(&r)
	if err != nil {
		return none, err
	}
	if there {
		r.Paused, r.PauseReason, r.PausedAt = old.Paused, old.PauseReason, old.PausedAt
		r.Waiting, r.LastAt, r.LastTask = old.Waiting, old.LastAt, old.LastTask
		if r.Cron == old.Cron && r.Zone == old.Zone && r.Every == old.Every {
			r.Anchor = old.Anchor
		} else if pending, err = nil, w.skipPending(&r, pending, reasonReplaced); err != nil {
			return none, err
		}
	}
	if err := w.armRoutine(&r, pending); err != nil {
		return none, err
	}
	return w.saveRoutine(&r)
}

// saveRoutine writes a routine and shows it.
func (w *work) saveRoutine(r *fairlead.Routine) (fairlead.RoutineView, error) {
	if err := w.putRoutine(r); err != nil {
		return fairlead.RoutineView{}, err
	}
	return read.RoutineView(&w.tx.ReadTx, *r)
}

func (w *work) putRoutine(r *fairlead.Routine) error {
	if err := w.tx.PutRoutine(r); err != nil {
		return err
	}
	w.emit(fairlead.Event{
		Kind: fairlead.EventRoutineUpdated, Workspace: r.Workspace, Version: r.Version,
		Data: marshal(map[string]any{"routine": r.Key, "paused": r.Paused, "last_task": r.LastTask}),
	})
	return nil
}

// PauseRoutine keeps a routine from firing by its schedule and from outside; people may still fire it.
func (c *Control) PauseRoutine(ctx context.Context, m Meta, key string, body fairlead.PauseBody) (fairlead.RoutineView, error) {
	return c.changeRoutine(ctx, m, "pause routine", key, body, func(w *work, r *fairlead.Routine) error {
		if r.Paused && r.PauseReason == body.Reason {
			return errUnchanged
		}
		if !r.Paused {
			r.PausedAt = w.now
		}
		pending, err := w.pendingOf(r)
		if err != nil {
			return err
		}
		if err := w.skipPending(r, pending, schedule.ReasonPaused); err != nil {
			return err
		}
		r.Paused, r.PauseReason = true, body.Reason
		return w.armRoutine(r, nil)
	})
}

// ResumeRoutine lets a routine fire again from now on. What came due in the pause leaves receipts and does not fire.
func (c *Control) ResumeRoutine(ctx context.Context, m Meta, key string, body fairlead.PauseBody) (fairlead.RoutineView, error) {
	return c.changeRoutine(ctx, m, "resume routine", key, body, func(w *work, r *fairlead.Routine) error {
		if !r.Paused {
			return errUnchanged
		}
		if err := w.pausedReceipts(r); err != nil {
			return err
		}
		r.Paused, r.PauseReason, r.PausedAt, r.Anchor = false, "", time.Time{}, w.now
		if r.Waiting != nil {
			if err := w.lookAtWaiting(r.Workspace, r.Key); err != nil {
				return err
			}
		}
		return w.armRoutine(r, nil)
	})
}

// errUnchanged says that a command finds what it asks for.
var errUnchanged = errors.New("unchanged")

// changeRoutine is a command on a routine under its workspace's lock.
func (c *Control) changeRoutine(
	ctx context.Context, m Meta, name, key string, body fairlead.PauseBody, change func(w *work, r *fairlead.Routine) error,
) (fairlead.RoutineView, error) {
	if m.Op == "" {
		m.Op = body.Op
	}
	cmd := command{name: name, run: m.Actor.Run, body: struct{ Routine, Reason string }{key, body.Reason}}
	return do(ctx, c, m, cmd, func(w *work) (fairlead.RoutineView, error) {
		none := fairlead.RoutineView{}
		if err := w.peopleOnly("routines"); err != nil {
			return none, err
		}
		r, err := w.lockRoutine(key)
		if err != nil {
			return none, err
		}
		if err := w.ifVersion(r.Version); err != nil {
			return none, err
		}
		switch err := change(w, &r); {
		case errors.Is(err, errUnchanged):
			return read.RoutineView(&w.tx.ReadTx, r)
		case err != nil:
			return none, err
		}
		return w.saveRoutine(&r)
	})
}

// lockRoutine loads a routine under the lock of its workspace, which every change of a routine and every fire holds.
func (w *work) lockRoutine(key string) (fairlead.Routine, error) {
	if err := w.tx.LockWorkspace(w.meta.Workspace); err != nil {
		return fairlead.Routine{}, err
	}
	w.now = w.tx.Now()
	return read.Routine(&w.tx.ReadTx, w.meta.Workspace, key)
}

// pausedReceipts tells what came due in a pause.
func (w *work) pausedReceipts(r *fairlead.Routine) error {
	s, _, scheduled, err := workflow.RoutineSchedule(r)
	if err != nil || !scheduled {
		return err
	}
	// The shortest grace: nothing in a pause is on time.
	_, receipts := s.Missed(schedule.Policy{Grace: 1}, r.Anchor, w.now)
	for _, x := range receipts {
		x.Reason = schedule.ReasonPaused
		if err := w.routineReceipt(r, x, fairlead.CauseSchedule, ""); err != nil {
			return err
		}
	}
	return nil
}
