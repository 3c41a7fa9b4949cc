package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/store"
)

// Retention says from when on things are kept; the zero time of a member keeps them all.
type Retention struct {
	Runs   time.Time // ended runs, with their logs and the idempotency keys of their wakes; receipts of schedules, counters of heartbeats
	Events time.Time // the event log: a reader that was away for longer begins anew
	// Operations are the memory of what was done under which operation id, and what of the outbox was delivered. Nothing
	// may be repeated under its id after this time.
	Operations time.Time
}

// forgetBatch is how much one transaction removes: others must not wait for a cleaning.
const forgetBatch = 1000

// Prune removes what is older than what is to be kept, in small transactions, and returns how many rows went. One kind
// that fails does not stop the others. Journals, tasks and audit records are never touched.
func (c *Control) Prune(ctx context.Context, keep Retention) (int64, error) {
	var gone int64
	var errs []error
	for _, kind := range []struct {
		name   string
		before time.Time
		forget func(tx *store.Tx, before time.Time) (n int64, more bool, err error)
	}{
		{"runs", keep.Runs, inBatches((*store.Tx).ForgetRuns)},
		{"events", keep.Events, inBatches((*store.Tx).ForgetEvents)},
		{"operations", keep.Operations, inBatches((*store.Tx).ForgetOps)},
		{"outbox", keep.Operations, inBatches((*store.Tx).ForgetOutbox)},
		{"receipts", keep.Runs, inBatches((*store.Tx).ForgetReceipts)},
		{"heartbeats", keep.Runs, inBatches((*store.Tx).ForgetHeartbeats)},
		{"nodes", keep.Runs, func(tx *store.Tx, before time.Time) (int64, bool, error) {
			n, err := tx.ForgetNodes(before)
			return n, false, err
		}},
	} {
		if kind.before.IsZero() {
			continue
		}
		n, err := c.forget(ctx, kind.before, kind.forget)
		gone += n
		if err != nil {
			errs = append(errs, fmt.Errorf("prune %s: %w", kind.name, err))
		}
	}
	return gone, errors.Join(errs...)
}

func inBatches(forget func(*store.Tx, time.Time, int) (int64, error)) func(*store.Tx, time.Time) (int64, bool, error) {
	return func(tx *store.Tx, before time.Time) (int64, bool, error) {
		n, err := forget(tx, before, forgetBatch)
		return n, n == forgetBatch, err
	}
}

// forget removes one kind, batch by batch, until nothing of it is old enough or ctx ends.
func (c *Control) forget(ctx context.Context, before time.Time, once func(*store.Tx, time.Time) (int64, bool, error)) (gone int64, err error) {
	for ctx.Err() == nil {
		var n int64
		var more bool
		err := c.db.Write(ctx, func(tx *store.Tx) (err error) {
			n, more, err = once(tx, before)
			return err
		})
		if err != nil {
			return gone, err
		}
		gone += n
		if !more {
			return gone, nil
		}
	}
	return gone, ctx.Err()
}
