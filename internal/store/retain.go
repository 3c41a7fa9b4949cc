package store

import "time"

var (
	// A run that an open request names stays: its answer goes on from there.
	stmtRunsOld = define("runs_old", `
SELECT r.id FROM runs r WHERE r.finished_at <> 0 AND r.finished_at < ?1
  AND NOT EXISTS (SELECT 1 FROM requests q WHERE q.task = r.task AND q.run = r.id AND q.state = 'open')
ORDER BY r.finished_at LIMIT ?2`)
	stmtRunsForget      = define("runs_forget", `DELETE FROM runs WHERE id {{in ?1}}`)
	stmtRunEventsForget = define("run_events_forget", `DELETE FROM run_events WHERE run {{in ?1}}`)
	stmtRunWakesForget  = define("run_wakes_forget", `DELETE FROM wakes WHERE run {{in ?1}}`)
	stmtRunKeysForget   = define("run_keys_forget", `DELETE FROM wake_keys WHERE run {{in ?1}}`)

	stmtEventsForget = define("events_forget", `DELETE FROM events WHERE position >= ?2 AND position < ?3 AND at < ?1`)
	stmtOpsForget    = define("ops_forget", `
DELETE FROM operations WHERE (workspace, scope, id) IN (SELECT o.workspace, o.scope, o.id FROM operations o WHERE o.at < ?1 ORDER BY o.at LIMIT ?2)`)
	stmtOutboxForget = define("outbox_forget", `
DELETE FROM outbox WHERE id IN (SELECT o.id FROM outbox o WHERE o.done_at <> 0 AND o.done_at < ?1 ORDER BY o.done_at LIMIT ?2)`)

	stmtNodesForget = define("nodes_forget", `
DELETE FROM nodes WHERE dead_at <> 0 AND dead_at < ?1 AND epoch < (SELECT MAX(m.epoch) FROM nodes m)
  AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.node = nodes.id AND r.status IN `+liveStatuses+`)`)
	stmtBeatsForget = define("beats_forget", `DELETE FROM node_beats WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = node_beats.node)`)
)

// ForgetRuns removes at most limit runs that ended before a time, with their logs, wakes and keys; the journals of their
// tasks keep what they said and did. It returns how many; fewer than limit means that no more are as old.
func (tx *Tx) ForgetRuns(before time.Time, limit int) (int64, error) {
	ids, err := all(&tx.ReadTx, stmtRunsOld, func(s scanner, id *string) error { return s.Scan(id) }, micros(before), limit)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	for _, st := range []*Stmt{stmtRunEventsForget, stmtRunWakesForget, stmtRunKeysForget} {
		if _, err := tx.exec(st, listArg(ids)); err != nil {
			return 0, err
		}
	}
	return tx.exec(stmtRunsForget, listArg(ids))
}

// ForgetEvents removes what is older than a time among the first limit events of the log. The newest event stays: the
// log's head is read from it.
func (tx *Tx) ForgetEvents(before time.Time, limit int) (int64, error) {
	tail, err := tx.Tail()
	if err != nil {
		return 0, err
	}
	head, err := tx.Head()
	if err != nil {
		return 0, err
	}
	return tx.exec(stmtEventsForget, micros(before), tail, min(tail+int64(limit), head))
}

// ForgetOps removes at most limit operations that began before a time, which must be longer ago than anything that can
// repeat them.
func (tx *Tx) ForgetOps(before time.Time, limit int) (int64, error) {
	return tx.exec(stmtOpsForget, micros(before), limit)
}

// ForgetOutbox removes at most limit rows that were delivered before a time.
func (tx *Tx) ForgetOutbox(before time.Time, limit int) (int64, error) {
	return tx.exec(stmtOutboxForget, micros(before), limit)
}

// ForgetNodes removes starts that have been dead since before a time. The newest stays: the next epoch is counted from it.
func (tx *Tx) ForgetNodes(before time.Time) (int64, error) {
	n, err := tx.exec(stmtNodesForget, micros(before))
	if err != nil || n == 0 {
		return n, err
	}
	_, err = tx.exec(stmtBeatsForget)
	return n, err
}
