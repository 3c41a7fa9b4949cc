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

// janitor takes the trees of archived tasks away, after saving what is in them. It never holds archiving up, and what it
// does not hear of is found by the sweep.
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
	archived, err := a.control.Archived(ctx, all)
	if err != nil {
		return err
	}
	var errs []error
	for _, identifier := range archived {
		gone, err := trees.Remove(ctx, identifier)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", identifier, err))
			continue
		}
		a.log.Info("workspace removed", "task", identifier, "rescued", gone.Rescued, "kept", gone.Kept)
	}
	return errors.Join(errs...)
}
