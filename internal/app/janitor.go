package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/hub"
	"github.com/fairlead/fairlead/internal/workspace"
)

// janitorEvery is the pause between two sweeps: for tasks that were archived while a run of them was still ending.
const janitorEvery = time.Minute

// janitor takes the trees of archived tasks away, and those whose tasks another node has now, after saving what is in
// them. It never holds archiving up, and what it does not hear of is found by the sweep.
func (a *App) janitor(ctx context.Context, events *hub.Hub, trees *workspace.Manager) error {
	heard, err := events.Open(ctx, "", func(e *fairlead.Event) bool { return e.Kind == fairlead.EventTaskArchived })
	if heard != nil {
		defer heard.Close()
	} else {
		a.log.Warn("watch archived tasks", "error", err)
	}
	for ctx.Err() == nil {
		if err := a.cleanUp(ctx, trees); err != nil && ctx.Err() == nil {
			a.log.Error("clean up workspaces", "error", err)
		}
		pause, cancel := context.WithTimeout(ctx, janitorEvery)
		if heard == nil {
			<-pause.Done()
		} else if _, err := heard.Next(pause); err != nil {
			<-pause.Done() // the time is over, or the log cannot be read now
		}
		cancel()
	}
	return nil
}

func (a *App) cleanUp(ctx context.Context, trees *workspace.Manager) error {
	all, err := trees.List()
	if err != nil || len(all) == 0 {
		return err
	}
	known, err := a.control.Trees(ctx, all)
	if err != nil {
		return err
	}
	var errs []error
	for _, t := range known {
		var gone workspace.Removal
		switch mine := t.Home == "" || t.Home == a.home.mark; {
		case t.Done && mine:
			gone, err = trees.Remove(ctx, t.Identifier)
		case !mine: // the work was released from this node, and another one has it
			gone, err = trees.Evict(ctx, t.Identifier)
		default:
			continue
		}
		if err == nil {
			a.log.Info("workspace removed", "task", t.Identifier, "rescued", gone.Rescued, "kept", gone.Kept)
			err = a.control.TreeRemoved(ctx, a.home.mark, t)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.Identifier, err))
		}
	}
	return errors.Join(errs...)
}
