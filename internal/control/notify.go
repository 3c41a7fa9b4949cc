package control

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

// MaxNotifyTries is how often a webhook is tried before it is given up, visibly.
const MaxNotifyTries = 10

// PendingNotifies returns webhooks that wait to be sent, oldest first.
func (c *Control) PendingNotifies(ctx context.Context, limit int) (rows []fairlead.Outbox, err error) {
	err = c.db.Read(ctx, func(tx *storeReadTx) (err error) {
		rows, err = tx.PendingNotifies(limit)
		return err
	})
	return rows, err
}

// NotifySent records that a webhook was taken.
func (c *Control) NotifySent(ctx context.Context, row fairlead.Outbox) error {
	return c.db.Write(ctx, func(tx *storeTx) error { return tx.OutboxDone(row.ID, "") })
}

// TakeNotify gives the next try of a webhook to this node; false: another one has it, or it was sent.
func (c *Control) TakeNotify(ctx context.Context, row fairlead.Outbox) (taken bool, err error) {
	err = c.db.Write(ctx, func(tx *storeTx) (err error) {
		taken, err = tx.TakeOutbox(row.ID, row.Attempts)
		return err
	})
	return taken, err
}

// NotifyFailed says that a try, taken with row, came to nothing. After the last one the row is closed and the inbox says so.
func (c *Control) NotifyFailed(ctx context.Context, row fairlead.Outbox, why string) error {
	if row.Attempts+1 < MaxNotifyTries {
		return nil
	}
	return c.db.Write(ctx, func(tx *storeTx) error {
		w := &work{c: c, ctx: ctx, tx: tx, meta: Meta{Workspace: row.Workspace, Actor: fairlead.Engine(), Op: row.Op}}
		if err := w.begin0(row.Task); err != nil {
			return err
		}
		if err := w.lock(row.Task); err != nil {
			return err
		}
		if err := tx.OutboxDone(row.ID, why); err != nil {
			return err
		}
		if err := w.addNotice(noticeUnsent(why)); err != nil {
			return err
		}
		return w.flush()
	})
}

func noticeUnsent(why string) engine.AddNotice {
	return engine.AddNotice{Kind: "notify_failed", Text: "A webhook of this task could not be sent: " + why}
}
