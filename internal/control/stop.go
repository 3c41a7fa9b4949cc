package control

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/store"
)

// Stop cancels the queued and live runs of a task. Later wakes work as ever.
func (c *Control) Stop(ctx context.Context, m Meta, ref string, body fairlead.OpBody) (fairlead.TaskView, error) {
	return onTask(ctx, c, m, "stop task", ref, body, func(w *work) (fairlead.TaskView, error) {
		if err := w.personOnly("what others work on"); err != nil {
			return fairlead.TaskView{}, err
		}
		if err := w.stopAll(reasonStopped, w.meta.Actor); err != nil {
			return fairlead.TaskView{}, err
		}
		return w.view(w.task)
	})
}

// CancelRun cancels one queued or live run.
func (c *Control) CancelRun(ctx context.Context, m Meta, run string, body fairlead.OpBody) (fairlead.RunView, error) {
	return onRun(ctx, c, m, "cancel run", run, body, func(w *work, r *fairlead.Run) (*fairlead.Run, error) {
		if r.Status.Final() {
			return nil, fairlead.Conflict(fairlead.ReasonResolved, "the run has ended already")
		}
		return r, w.endOrStop(r, fairlead.RunCancelled, w.meta.Actor, reasonStopped)
	})
}

// RetryRun wakes the assignment of a run that failed or was cancelled, for a person, and ends the back-off of one that will
// be tried again. It returns the run that will try.
func (c *Control) RetryRun(ctx context.Context, m Meta, run string, body fairlead.OpBody) (fairlead.RunView, error) {
	return onRun(ctx, c, m, "retry run", run, body, func(w *work, r *fairlead.Run) (*fairlead.Run, error) {
		if r.Status == fairlead.RunQueued && r.Attempt > 0 && !r.Due {
			if err := w.dueNow(r); err != nil {
				return nil, err
			}
			w.forget()
			w.look()
			return r, w.tx.SaveRun(r)
		}
		if r.Status != fairlead.RunDead && r.Status != fairlead.RunCancelled {
			return nil, fairlead.Errorf(fairlead.CodeRefused, "only a run that failed or was cancelled can be tried again").
				WithHint("comment on the task to give its agent more to do")
		}
		a, err := w.tx.LoadAssignment(r.Assignment)
		if err != nil {
			return nil, err
		}
		id, err := w.enqueue(a, engine.Wake{
			Assignment: a.ID, Agent: a.Agent, Reason: "retry", Payload: map[string]any{"run": r.ID}, By: w.meta.Actor,
		})
		if err != nil {
			return nil, err
		}
		next, err := w.tx.LoadRun(id)
		return &next, err
	})
}

// onRun is do for a person's command about one run: it locks the run's task.
func onRun(
	ctx context.Context, c *Control, m Meta, name, run string, body any, fn func(*work, *fairlead.Run) (*fairlead.Run, error),
) (fairlead.RunView, error) {
	cmd := command{name: name, run: run, body: struct {
		Run  string
		Body any
	}{run, body}}
	found, err := c.findRun(ctx, run)
	if fairlead.IsCode(err, fairlead.CodeNotFound) || err == nil && found.Workspace != m.Workspace {
		return fairlead.RunView{}, c.refused(ctx, m, cmd, noSuchRun())
	}
	if err != nil {
		return fairlead.RunView{}, err
	}
	cmd.task = found.Task
	return do(ctx, c, m, cmd, func(w *work) (fairlead.RunView, error) {
		if err := w.personOnly("what others work on"); err != nil {
			return fairlead.RunView{}, err
		}
		r, err := w.tx.LoadRun(run)
		if err != nil {
			return fairlead.RunView{}, err
		}
		if err := w.ifVersion(r.Version); err != nil {
			return fairlead.RunView{}, err
		}
		shown, err := fn(w, &r)
		if err != nil {
			return fairlead.RunView{}, err
		}
		if err := w.flush(); err != nil {
			return fairlead.RunView{}, err
		}
		return w.c.RunView(&w.tx.ReadTx, *shown)
	})
}

func noSuchRun() error {
	return fairlead.Errorf(fairlead.CodeNotFound, "no such run").WithHint("list the runs with: fairlead run list")
}

// Stopping returns the ids of the node's runs that were told to stop and whose trees still live. The worker asks at each
// look, so that a stop it was not told of costs a moment and is never lost.
func (c *Control) Stopping(ctx context.Context, n Node) ([]string, error) {
	var ids []string
	err := c.db.Read(ctx, func(tx *store.ReadTx) error {
		runs, err := tx.LiveRunsOnNode(n.ID, n.Epoch)
		for _, r := range runs {
			if r.Status == fairlead.RunStopping {
				ids = append(ids, r.ID)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find stopping runs: %w", err)
	}
	return ids, nil
}
