package control

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// Recover takes over what dead epochs left behind, each run in a transaction of its own: a stopping one ends, one whose
// assignment asked a person is parked, any other goes back to the queue and is no attempt. Its process trees are dead
// before it is called. One run that cannot be taken over does not stop the others.
func (c *Control) Recover(ctx context.Context, n Node) error {
	var left []fairlead.Run
	err := c.db.Read(ctx, func(tx *store.ReadTx) error {
		live, err := tx.LiveNodes()
		if err != nil {
			return err
		}
		works := make(map[int64]bool, len(live))
		for _, l := range live {
			works[l.Epoch] = true
		}
		runs, err := tx.LiveRunsBefore(math.MaxInt64)
		for _, r := range runs {
			if !works[r.Epoch] {
				left = append(left, r)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("find interrupted runs: %w", err)
	}
	var errs []error
	for _, r := range left {
		if err := c.takeOver(ctx, n, r); err != nil {
			errs = append(errs, fmt.Errorf("take over run %s: %w", r.ID, err))
		}
	}
	return errors.Join(append(errs, c.freeStranded(ctx), c.releaseDead(ctx))...)
}

// takeOver ends or queues one run of a dead epoch, unless another node did.
func (c *Control) takeOver(ctx context.Context, n Node, left fairlead.Run) error {
	actor := fairlead.Actor{Kind: fairlead.ActorAgent, Key: left.Agent, Assignment: left.Assignment, Run: left.ID}
	m := Meta{Workspace: left.Workspace, Actor: actor, Op: fairlead.DerivedOp("takeover", left.ID, left.Fence.Claim)}
	return c.act(ctx, m, func(w *work) error {
		if _, err := w.tx.LockNode(n.ID, n.Epoch); err != nil {
			return err
		}
		if err := w.lock(left.Task); err != nil {
			return err
		}
		r, err := w.tx.LoadRun(left.ID)
		if err != nil {
			return err
		}
		if !r.Status.Live() || r.Fence != left.Fence || r.Epoch != left.Epoch {
			return nil
		}
		if r.Status == fairlead.RunStopping {
			return w.treeDied(&r)
		}
		return w.turnEnded(&r, TurnEnd{StopReason: "interrupted", Interrupted: true, Counted: true}, true)
	})
}
