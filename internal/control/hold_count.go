package control

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// CountHolds returns how many standing holds there are of each kind, over all workspaces.
func (c *Control) CountHolds(ctx context.Context) (counts map[fairlead.HoldKind]int, err error) {
	err = c.db.Read(ctx, func(tx *store.ReadTx) (err error) {
		counts, err = tx.CountHolds()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count holds: %w", err)
	}
	return counts, nil
}
