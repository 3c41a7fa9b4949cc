package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// releaseDead lets queued runs go from homes that have been dead for the time of Options.ReleaseAfter, by that rule
// instead of a person's word. What cannot be released waits on.
func (c *Control) releaseDead(ctx context.Context) error {
	if c.releaseAfter <= 0 || c.skewed.Load() {
		return nil
	}
	var waiting []fairlead.Run
	err := c.db.Read(ctx, func(tx *store.ReadTx) error {
		waiting = nil
		nodes, err := tx.ListNodes()
		if err != nil {
			return err
		}
		runs, err := tx.QueuedAtHomes(goneSince(nodes, c.db.Now().Add(-c.releaseAfter)))
		if err != nil {
			return err
		}
		for i := range runs {
			row, err := tx.LoadTask(runs[i].Task)
			if err != nil {
				return err
			}
			if row.ArchivedAt.IsZero() && row.Worktree.Checkpoint != nil {
				waiting = append(waiting, runs[i])
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("find work of dead nodes: %w", err)
	}
	var errs []error
	for i := range waiting {
		if err := c.releaseByRule(ctx, &waiting[i]); err != nil {
			errs = append(errs, fmt.Errorf("release run %s: %w", waiting[i].ID, err))
		}
	}
	return errors.Join(errs...)
}

// goneSince are the homes whose last start was dead at an instant already.
func goneSince(nodes []fairlead.Node, at time.Time) []string {
	last := map[string]fairlead.Node{}
	for _, n := range nodes { // by epoch: later ones replace earlier ones
		last[fairlead.NodeHome(n.ID)] = n
	}
	var homes []string
	for home, n := range last {
		if !n.DeadAt.IsZero() && !n.DeadAt.After(at) {
			homes = append(homes, home)
		}
	}
	return homes
}

func (c *Control) releaseByRule(ctx context.Context, run *fairlead.Run) error {
	return c.act(ctx, Meta{Workspace: run.Workspace, Actor: fairlead.Engine()}, func(w *work) error {
		if err := w.lock(run.Task); err != nil {
			return err
		}
		r, err := w.tx.LoadRun(run.ID)
		if err != nil || r.Status != fairlead.RunQueued {
			return err
		}
		err = w.releaseTree(&r)
		if fairlead.IsCode(err, fairlead.CodeConflict) || fairlead.IsCode(err, fairlead.CodeRefused) {
			return nil // it is back, or somebody was faster
		}
		return err
	})
}
