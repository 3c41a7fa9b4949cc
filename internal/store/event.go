package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	fairlead "github.com/fairlead/fairlead"
)

const eventColumns = `position, kind, at, workspace, task, visit, run, actor, version, data`

// stmtEventInsert[n-1] inserts n events.
var stmtEventInsert = defineInserts("event_insert", "events", eventColumns)

// appendEvents writes what the function emitted. On SQLite the rows get their positions here, inside the transaction;
// on Postgres a sequencer gives them after the commit, because commits and insertions come in different orders.
func (tx *Tx) appendEvents() error {
	if len(tx.events) == 0 {
		return nil
	}
	var head int64
	places := tx.session.placesEvents()
	if places {
		var err error
		if head, err = tx.Head(); err != nil {
			return err
		}
	}
	return insertBatches(tx, stmtEventInsert, tx.events, func(args []any, e *fairlead.Event) []any {
		var position any // NULL
		if places {
			head++
			position = head
		}
		return append(args, position, string(e.Kind), micros(e.At), e.Workspace, e.Task, e.Visit, e.Run, actorArg(e.Actor), e.Version, string(e.Data))
	})
}

// EventFilter narrows what a reader of the event log sees; empty fields match everything.
type EventFilter struct {
	Workspace string
	Task      string
	Run       string
	// Topics are kinds ("run.queued") or whole families ("run").
	Topics []string
}

var stmtEventsAfter = define("events_after", `
SELECT `+eventColumns+` FROM events
WHERE position > ?1 AND position <= ?2
  AND (?3 = '' OR workspace = ?3) AND (?4 = '' OR task = ?4) AND (?5 = '' OR run = ?5)
ORDER BY position LIMIT ?6`)

func scanEvent(s scanner, e *fairlead.Event) error {
	var at int64
	var actor, data string
	if err := s.Scan(&e.Position, (*string)(&e.Kind), &at, &e.Workspace, &e.Task, &e.Visit, &e.Run, &actor, &e.Version, &data); err != nil {
		return err
	}
	e.At = fromMicros(at)
	if data != "" {
		e.Data = json.RawMessage(data)
	}
	return fromJSON(actor, &e.Actor)
}

// EventsAfter returns at most limit events behind position, in order, and the position up to which the log was read:
// the next call goes on from there, also when the filter let nothing pass.
func (r *ReadTx) EventsAfter(position int64, limit int, f EventFilter) (events []fairlead.Event, upTo int64, err error) {
	head, err := r.Head()
	if err != nil || head <= position {
		return nil, position, err
	}
	// Without an upper bound a filter that matches nothing would scan the whole log in one read.
	upTo = min(head, position+max(int64(limit), scanWindow))
	n := 0
	last := position
	err = r.list(stmtEventsAfter, func(s scanner) error {
		var e fairlead.Event
		if err := scanEvent(s, &e); err != nil {
			return err
		}
		n++
		last = e.Position
		if f.matchesTopic(e.Kind) {
			events = append(events, e)
		}
		return nil
	}, position, upTo, f.Workspace, f.Task, f.Run, limit)
	if n == limit {
		upTo = last
	}
	return events, upTo, err
}

// scanWindow is how many rows one read of the log looks at, at most.
const scanWindow = 5000

func (f EventFilter) matchesTopic(kind fairlead.EventKind) bool {
	for _, t := range f.Topics {
		if string(kind) == t || strings.HasPrefix(string(kind), t+".") {
			return true
		}
	}
	return len(f.Topics) == 0
}

var (
	stmtEventHead = define("event_head", `SELECT COALESCE(MAX(position), 0) FROM events`)
	stmtEventTail = define("event_tail", `SELECT COALESCE(MIN(position), 0) FROM events`)
)

// Head returns the newest position, 0 for an empty log.
func (r *ReadTx) Head() (head int64, err error) {
	_, err = r.get(stmtEventHead, into(&head))
	return head, err
}

// Tail returns the oldest position that is kept, 0 for an empty log.
func (r *ReadTx) Tail() (tail int64, err error) {
	_, err = r.get(stmtEventTail, into(&tail))
	return tail, err
}

// EventsAfter is ReadTx.EventsAfter in a transaction of its own.
func (db *DB) EventsAfter(ctx context.Context, position int64, limit int, f EventFilter) (events []fairlead.Event, upTo int64, err error) {
	err = db.Read(ctx, func(r *ReadTx) error {
		events, upTo, err = r.EventsAfter(position, limit, f)
		return err
	})
	return events, upTo, err
}

// Head returns the log's epoch and newest position.
func (db *DB) Head(ctx context.Context) (epoch string, position int64, err error) {
	err = db.Read(ctx, func(r *ReadTx) error {
		position, err = r.Head()
		return err
	})
	return db.epoch, position, err
}

// LogEpoch names this incarnation of the event log. A restored copy gets a new one.
func (db *DB) LogEpoch() string { return db.epoch }

// EventID is an event's id for the outside: "<log epoch>-<position>".
func (db *DB) EventID(position int64) string { return db.epoch + "-" + strconv.FormatInt(position, 10) }

// ParseEventID returns the position of an id. ok is false for an id of another epoch and for anything else that is not
// an id of this log: such a reader has to begin anew.
func (db *DB) ParseEventID(id string) (position int64, ok bool) {
	text, ok := strings.CutPrefix(id, db.epoch+"-")
	if !ok {
		return 0, false
	}
	position, err := strconv.ParseInt(text, 10, 64)
	return position, err == nil && position >= 0
}

// logEpochKey is the key of the log's epoch in meta.
const logEpochKey = "log_epoch"

// ensureLogEpoch reads the epoch, or makes it in a new database.
func ensureLogEpoch(ctx context.Context, d dialect) (string, error) {
	_, err := d.handle().ExecContext(ctx, `INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING`, logEpochKey, newEpoch())
	if err != nil {
		return "", fmt.Errorf("make log epoch: %w", err)
	}
	var epoch string
	if err := d.handle().QueryRowContext(ctx, `SELECT value FROM meta WHERE key = $1`, logEpochKey).Scan(&epoch); err != nil {
		return "", fmt.Errorf("read log epoch: %w", err)
	}
	return epoch, nil
}

// newEpoch is random: two copies of one database must not agree on the name of their next incarnation.
func newEpoch() string { return strings.ToLower(rand.Text()[:10]) }
