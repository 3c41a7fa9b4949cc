package app

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/dispatch"
	"github.com/fairlead/fairlead/internal/dispatch/local"
	"github.com/fairlead/fairlead/internal/dispatch/river"
)

// How often the server's own duties come round.
const (
	deliverEvery = 30 * time.Second
	pruneEvery   = time.Hour
)

// dispatcher chooses who says "look now": on SQLite this process alone, on Postgres every node, with River for jobs and
// for the leader that has the duties.
func (a *App) dispatcher(ctx context.Context) (d dispatch.Dispatcher, err error) {
	if a.db.Dialect() == sqlite {
		d = local.New(a.db, &local.Options{NoSweep: a.opts.NoSweep, Log: a.log})
	} else if d, err = river.New(ctx, a.db, &river.Options{NoSweep: a.opts.NoSweep, Log: a.log}); err != nil {
		return nil, err
	}
	d.Every(dispatch.Duty{Name: "deliver outbox", Every: deliverEvery, Run: a.deliver})
	d.Every(dispatch.Duty{Name: "retention", Every: pruneEvery, Run: a.prune})
	return d, nil
}

// deliver is the sweep of the outbox: a trigger for another task is delivered right after the commit that caused it, and
// this finds what a crash or an error left behind.
func (a *App) deliver(ctx context.Context) error { return a.control.DeliverOutbox(ctx) }

// prune removes what nobody has to keep any longer.
func (a *App) prune(ctx context.Context) error {
	now := a.db.Now()
	since := func(keep time.Duration) time.Time {
		if keep <= 0 {
			return time.Time{}
		}
		return now.Add(-keep)
	}
	keep := a.cfg.Retain
	n, err := a.control.Prune(ctx, control.Retention{
		Runs: since(keep.Runs), Events: since(keep.Events), Operations: since(keep.Operations),
	})
	if n > 0 {
		a.log.Info("removed what was old enough", "rows", n)
	}
	return err
}

// pruneWire removes old raw output of agents. It lies on each node, so each cleans its own.
func (a *App) pruneWire(ctx context.Context) error {
	if a.cfg.Retain.Wire <= 0 {
		return nil
	}
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		if _, err := a.spool.Prune(time.Now().Add(-a.cfg.Retain.Wire)); err != nil {
			a.log.Error("remove old output of agents", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
