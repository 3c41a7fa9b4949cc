package control

import (
	"context"

	"github.com/fairlead/fairlead/internal/store"
)

// act is do for what workers, timers and recovery cause: it has no operation row, because a fence, a generation or a
// compare and swap makes a repetition harmless.
func (c *Control) act(ctx context.Context, m Meta, fn func(w *work) error) error {
	var pending []string
	err := c.db.Write(ctx, func(tx *store.Tx) error {
		pending = nil
		w := &work{c: c, ctx: ctx, tx: tx, meta: m}
		var err error
		if w.seed, err = c.newSeed(); err != nil {
			return err
		}
		if err := fn(w); err != nil {
			return err
		}
		if err := w.flush(); err != nil {
			return err
		}
		pending = w.deliver
		return w.handOver()
	})
	if err != nil {
		return err
	}
	for _, task := range pending {
		c.deliverTo(background(ctx), m.Workspace, task)
	}
	return nil
}

// forget drops what this command has loaded for decisions: runs or assignments were written since. The task's own row
// is as it was.
func (w *work) forget() { w.task.snap = nil }
