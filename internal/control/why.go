package control

import (
	"context"

	"github.com/fairlead/fairlead"
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
		holds = append(holds, found...)
		return err
	})
	return holds, err
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
