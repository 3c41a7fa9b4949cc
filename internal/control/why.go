package control

import (
	"context"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// Why lists every hold that keeps a queued run from being claimed, each with what releases it. A run that does not wait
// has none.
func (c *Control) Why(ctx context.Context, workspace, run string) ([]fairlead.Hold, error) {
	holds := []fairlead.Hold{}
	err := c.db.Read(ctx, func(tx *store.ReadTx) error {
		r, err := tx.LoadRun(run)
		if fairlead.IsCode(err, fairlead.CodeNotFound) || err == nil && r.Workspace != workspace {
			return noSuchRun()
		}
		if err != nil {
			return err
		}
		found, err := c.runHolds(tx, r)
		if err == nil && len(found) == 0 && r.Status == fairlead.RunQueued {
			found, err = c.nodesHold(tx, &r)
		}
		holds = append(holds, found...)
		return err
	})
	return holds, err
}

// nodesHold says what keeps every node from a run that nothing else holds. That is no state of its task: the task is queued.
func (c *Control) nodesHold(tx *store.ReadTx, r *fairlead.Run) ([]fairlead.Hold, error) {
	row, err := tx.LoadTask(r.Task)
	if err != nil {
		return nil, err
	}
	g, err := c.gate(tx, row, *r)
	if err != nil {
		return nil, err
	}
	nodes, err := tx.NodeLoads()
	if err != nil {
		return nil, err
	}
	nodes = slices.DeleteFunc(nodes, func(n store.NodeLoad) bool { return !carries(n.Labels, g.agent.Labels) })
	kind := fairlead.HoldNodeClock
	for i := range nodes {
		if nodes[i].Free() {
			return nil, nil
		}
		if nodes[i].ClockOff == 0 {
			kind = fairlead.HoldNodeBusy
		}
	}
	if len(nodes) == 0 {
		return nil, nil
	}
	h := policy.Hold(kind, r.ID)
	h.Data = map[string]any{"nodes": len(nodes)}
	return one(h)
}

// runHolds says what holds a run, as the caller's transaction sees it.
func (c *Control) runHolds(tx *store.ReadTx, r fairlead.Run) ([]fairlead.Hold, error) {
	if r.Status != fairlead.RunQueued {
		return nil, nil
	}
	row, err := tx.LoadTask(r.Task)
	if err != nil {
		return nil, err
	}
	g, err := c.gate(tx, row, r)
	if err != nil {
		return nil, err
	}
	g.inLine = true
	return g.holds()
}
