package control

import (
	"context"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// Short names for what nearly every file of this package takes.
type (
	storeTx      = store.Tx
	storeReadTx  = store.ReadTx
	storeTaskRow = store.TaskRow
)

// resolve turns an id or an identifier ("FL-123") into an id. Neither ever changes, so it is safe outside the command.
func (c *Control) resolve(ctx context.Context, workspace, ref string) (id string, err error) {
	if strings.HasPrefix(ref, fairlead.PrefixTask+"_") {
		return ref, nil // whether it exists is seen when it is locked
	}
	err = c.db.Read(ctx, func(tx *storeReadTx) (err error) {
		id, err = tx.TaskID(workspace, ref)
		return err
	})
	return id, err
}

// onTask is do for a command about one existing task, named by id or identifier.
func onTask[R any](ctx context.Context, c *Control, m Meta, name, ref string, body any, fn func(w *work) (R, error)) (R, error) {
	cmd := command{name: name, body: body}
	id, err := c.resolve(ctx, m.Workspace, ref)
	if err != nil {
		var zero R
		return zero, c.refused(ctx, m, cmd, err)
	}
	cmd.task = id
	return do(ctx, c, m, cmd, func(w *work) (R, error) {
		if err := w.ifVersion(w.task.row.Version); err != nil {
			var zero R
			return zero, err
		}
		return fn(w)
	})
}
