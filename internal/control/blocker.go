package control

import (
	"context"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

// AddBlocker makes a task wait for another one. A cycle over blockers and parents together is refused with its path.
func (c *Control) AddBlocker(ctx context.Context, m Meta, ref string, body fairlead.BlockerBody) (fairlead.TaskView, error) {
	return c.onEdge(ctx, m, "add blocker", ref, body, body.BlockedBy, func(w *work, blocker string) error {
		t := &w.task.row.Task
		path, err := w.tx.PathTo(t.Workspace, blocker, t.ID)
		if err != nil {
			return err
		}
		if path != nil {
			return cycle(path)
		}
		ok, err := w.tx.InsertBlocker(fairlead.Blocker{Task: t.ID, BlockedBy: blocker, By: w.meta.Actor, At: w.now})
		if err != nil {
			return err
		}
		if !ok {
			return fairlead.Conflict(fairlead.ReasonExists, "the task waits for that one already")
		}
		w.record(fairlead.Record{Kind: fairlead.RecordBlockerAdded}, map[string]any{"blocked_by": blocker})
		if err := w.tellEnded(); err != nil {
			return err
		}
		return w.edgeChanged(nil)
	})
}

// RemoveBlocker takes an edge away; if it was the last open one, blocker_resolved fires.
func (c *Control) RemoveBlocker(ctx context.Context, m Meta, ref, blocker string, body fairlead.OpBody) (fairlead.TaskView, error) {
	type fingerprint struct {
		Blocker string
		fairlead.OpBody
	}
	return c.onEdge(ctx, m, "remove blocker", ref, fingerprint{blocker, body}, blocker, func(w *work, blocker string) error {
		s, err := w.load()
		if err != nil {
			return err
		}
		var payload map[string]any
		for _, b := range s.Blockers {
			if b.Task == blocker && b.Open {
				payload = map[string]any{"removed": []any{blocker}}
			}
		}
		ok, err := w.tx.DeleteBlocker(w.task.row.ID, blocker)
		if err != nil {
			return err
		}
		if !ok {
			return fairlead.Errorf(fairlead.CodeNotFound, "the task does not wait for that one")
		}
		w.record(fairlead.Record{Kind: fairlead.RecordBlockerRemoved}, map[string]any{"blocked_by": blocker})
		return w.edgeChanged(payload)
	})
}

// onEdge runs a command that changes an edge, under the lock of the workspace: of two opposite edges one is refused.
func (c *Control) onEdge(ctx context.Context, m Meta, name, ref string, body any, other string, fn func(w *work, other string) error) (fairlead.TaskView, error) {
	cmd := command{name: name, body: body, edges: true}
	id, err := c.resolve(ctx, m.Workspace, ref)
	if err != nil {
		return fairlead.TaskView{}, c.refused(ctx, m, cmd, err)
	}
	cmd.task = id
	return do(ctx, c, m, cmd, func(w *work) (fairlead.TaskView, error) {
		if err := w.mayTouch(); err != nil {
			return fairlead.TaskView{}, err
		}
		if err := w.ifVersion(w.task.row.Version); err != nil {
			return fairlead.TaskView{}, err
		}
		otherID, err := w.tx.TaskID(m.Workspace, other)
		if _, inBody := body.(fairlead.BlockerBody); err != nil && inBody {
			err = fieldNotFound(err, "blocked_by") // in a path it is what is not found
		}
		if err != nil {
			return fairlead.TaskView{}, err
		}
		if err := fn(w, otherID); err != nil {
			return fairlead.TaskView{}, err
		}
		return w.view(w.task)
	})
}

// edgeChanged looks at the edges again: in this transaction, and once more after the commit, so that an edge that
// crosses the end of its blocker is not forgotten.
func (w *work) edgeChanged(payload map[string]any) error {
	w.changed()
	if _, err := w.decide(engine.Trigger{Kind: engine.KindRecheck, Payload: payload}); err != nil {
		return err
	}
	w.c.dispatch.WakeTx(w.tx)
	return w.post(w.task.row.ID, w.derivedOp("recheck"), fairlead.OutboxRecheck, nil)
}

// tellEnded notes blockers that had ended before their edge was made: there was never anything to wait for.
func (w *work) tellEnded() error {
	w.changed()
	s, err := w.load()
	if err != nil {
		return err
	}
	for _, b := range s.Blockers {
		if !b.Open && !b.Told {
			if err := w.tx.InsertTold(w.task.row.ID, toldBlocker, b.Task, b.Visit); err != nil {
				return err
			}
			w.changed()
		}
	}
	return nil
}

// cycle refuses an edge and names the tasks on the way.
func cycle(path []string) error {
	e := fairlead.Errorf(fairlead.CodeRefused, "this would make a circle of tasks that wait for each other: %s", strings.Join(path, " → "))
	e.Data = map[string]any{"path": path}
	return e.WithHint("remove one of these edges first")
}
