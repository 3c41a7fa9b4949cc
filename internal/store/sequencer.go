package store

import (
	"context"
	"fmt"
	"time"
)

// sequencePause is how long a sequencer waits before it looks again while rows lack a position: whoever holds the lock
// may have died.
const sequencePause = 250 * time.Millisecond

// sequence gives positions to committed events. Every node runs one; the one that gets the lock works for all.
func (d *postgres) sequence(ctx context.Context) {
	waiting := true
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if waiting {
			timer.Reset(sequencePause)
		}
		more, err := d.position(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			waiting = true
		case more:
			waiting = true
		default:
			waiting = false
		}
		if !waiting {
			select {
			case <-d.kick:
			case <-ctx.Done():
				return
			}
			continue
		}
		select {
		case <-timer.C:
		case <-d.kick:
		case <-ctx.Done():
			return
		}
	}
}

const (
	sqlTryLock = `SELECT pg_try_advisory_xact_lock($1)`
	// The order of insertion is the order of commits for all rows of one task, because they are inserted under its lock.
	sqlPosition = `
WITH head AS (SELECT COALESCE(MAX(position), 0) AS at FROM events),
     rows AS (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS n
              FROM (SELECT id FROM events WHERE position IS NULL ORDER BY id LIMIT 5000) AS waiting)
UPDATE events SET position = head.at + rows.n FROM head, rows WHERE events.id = rows.id`
	sqlUnpositioned = `SELECT EXISTS (SELECT 1 FROM events WHERE position IS NULL)`
)

// position makes passes until no row lacks a position or another node is at it; more says that rows were left.
func (d *postgres) position(ctx context.Context) (more bool, err error) {
	for {
		won, err := d.positionOnce(ctx)
		if err != nil {
			return true, err
		}
		// Once more after the lock is free: a row that was committed after the pass took its snapshot, by somebody who
		// did not get the lock, waits for nobody else.
		if err := d.db.QueryRowContext(ctx, sqlUnpositioned).Scan(&more); err != nil {
			return true, fmt.Errorf("look for events: %w", err)
		}
		if !more || !won {
			return more, nil
		}
	}
}

// positionOnce makes one pass. The lock is taken in a statement of its own, so that the next statement's snapshot is
// younger than the last holder's commit.
func (d *postgres) positionOnce(ctx context.Context) (won bool, err error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo after the commit
	if err := tx.QueryRowContext(ctx, sqlTryLock, lockSequencer).Scan(&won); err != nil || !won {
		return false, err
	}
	res, err := tx.ExecContext(ctx, sqlPosition)
	if err != nil {
		return false, fmt.Errorf("position events: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil || n == 0 {
		return true, err
	}
	if _, err := tx.ExecContext(ctx, `SELECT pg_notify($1, $2)`, channelEvents, headMoved); err != nil {
		return false, fmt.Errorf("notify: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return false, fmt.Errorf("commit: %w", err)
	}
	return true, nil
}
