package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// sequencePause is how long a sequencer waits before it looks again while rows lack a position: whoever holds the lock
// may have died.
const sequencePause = 250 * time.Millisecond

// sequenceRest is the shortest time from one pass to the next. Without it a busy log would have a pass for every commit,
// each at several times the cost of the rows it is for; an event of an idle log waits for nothing.
const sequenceRest = 3 * time.Millisecond

// sequence gives positions to committed events. Every node runs one; the one that gets the lock works for all.
func (d *postgres) sequence(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		more, err := d.position(ctx)
		timer.Reset(sequenceRest)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		again := (<-chan time.Time)(nil)
		if more || err != nil {
			timer.Reset(sequencePause)
			again = timer.C
		}
		select {
		case <-again:
		case <-d.kick:
		case <-ctx.Done():
			return
		}
	}
}

const (
	// The lock is taken in a statement of its own, so that the next statement's snapshot is younger than the last holder's
	// commit. What came of it is kept in a setting of the transaction, where that statement finds it: so a pass is one
	// round trip.
	sqlTryLock = `SELECT set_config('fairlead.sequencer', CASE WHEN pg_try_advisory_xact_lock($1) THEN 'won' ELSE 'lost' END, true)`
	// The order of insertion is the order of commits for all rows of one task, because they are inserted under its lock.
	sqlPosition = `
WITH head AS (SELECT COALESCE(MAX(position), 0) AS at FROM events),
     rows AS (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS n
              FROM (SELECT id FROM events WHERE position IS NULL AND current_setting('fairlead.sequencer') = 'won' ORDER BY id LIMIT 5000) AS waiting),
     placed AS (UPDATE events SET position = head.at + rows.n FROM head, rows WHERE events.id = rows.id RETURNING 1),
     told AS (SELECT pg_notify($1, $2) WHERE EXISTS (SELECT 1 FROM placed))
SELECT current_setting('fairlead.sequencer') = 'won', (SELECT COUNT(*) FROM told)`
	sqlUnpositioned = `SELECT EXISTS (SELECT 1 FROM events WHERE position IS NULL)`
)

// position makes passes until no row lacks a position or another node is at it; more says that rows were left. The look
// at what is left comes after the lock is free: a row that was committed after the pass took its snapshot, by somebody
// who did not get the lock, waits for nobody else.
func (d *postgres) position(ctx context.Context) (more bool, err error) {
	for {
		var won bool
		if won, more, err = d.pass(ctx); err != nil {
			return true, fmt.Errorf("position events: %w", err)
		}
		if !more || !won {
			return more, nil
		}
	}
}

// pass gives positions to what is committed, if no other node is at it, and looks for what is left.
func (d *postgres) pass(ctx context.Context) (won, more bool, err error) {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return false, false, err
	}
	defer conn.Release()
	var told int
	var b pgx.Batch
	b.Queue("BEGIN")
	b.Queue(sqlTryLock, lockSequencer)
	b.Queue(sqlPosition, channelEvents, headMoved).QueryRow(func(row pgx.Row) error { return row.Scan(&won, &told) })
	b.Queue("END") // another word than that of commands, whose outcome matters
	b.Queue(sqlUnpositioned).QueryRow(func(row pgx.Row) error { return row.Scan(&more) })
	if err := conn.SendBatch(ctx, &b).Close(); err != nil {
		// Nobody else may get a connection in the middle of a transaction.
		_ = conn.Conn().Close(context.WithoutCancel(ctx))
		return false, false, err
	}
	return won, more, nil
}
