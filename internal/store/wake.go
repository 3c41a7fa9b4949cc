package store

import (
	"time"

	fairlead "github.com/fairlead/fairlead"
)

const wakeColumns = `task, seq, assignment, run, reason, payload, op, key, by_actor, at, trace`

var (
	stmtWakeInsert = define("wake_insert", `
INSERT INTO wakes (`+wakeColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`)
	stmtWakes     = define("wakes", `SELECT `+wakeColumns+` FROM wakes WHERE run = ?1 ORDER BY seq`)
	stmtWakesMove = define("wakes_move", `UPDATE wakes SET run = ?2 WHERE run = ?1`)

	stmtKeyPut   = define("wake_key_put", `INSERT INTO wake_keys (workspace, agent, key, run, at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (workspace, agent, key) DO NOTHING`)
	stmtKeyRun   = define("wake_key_run", `SELECT run FROM wake_keys WHERE workspace = ?1 AND agent = ?2 AND key = ?3`)
	stmtKeyMove  = define("wake_key_move", `UPDATE wake_keys SET run = ?2 WHERE run = ?1`)
	stmtKeyPrune = define("wake_key_prune", `DELETE FROM wake_keys WHERE at < ?1`)
)

func scanWake(s scanner, w *fairlead.Wake) error {
	return s.Scan(&w.Task, &w.Seq, &w.Assignment, &w.Run, &w.Reason, jsonCol{&w.Payload}, &w.Op, &w.Key, jsonCol{&w.By}, timeCol{&w.At}, &w.Trace)
}

// InsertWake keeps one reason to look at an assignment.
func (tx *Tx) InsertWake(w *fairlead.Wake) error {
	return tx.later(stmtWakeInsert, w.Task, w.Seq, w.Assignment, w.Run, w.Reason, mapArg(w.Payload), w.Op, w.Key, actorArg(w.By), micros(w.At), w.Trace)
}

// ListWakes returns the wakes a run has absorbed, its first one included, oldest first.
func (r *ReadTx) ListWakes(run string) ([]fairlead.Wake, error) {
	return all(r, stmtWakes, scanWake, run)
}

// MoveWakes passes the wakes of one run, and their keys, over to another. It returns how many.
func (tx *Tx) MoveWakes(from, to string) (int64, error) {
	if _, err := tx.exec(stmtKeyMove, from, to); err != nil {
		return 0, err
	}
	return tx.exec(stmtWakesMove, from, to)
}

// KeyRun returns the run that an idempotency key of an agent made, "" for none.
func (r *ReadTx) KeyRun(workspace, agent, key string) (run string, err error) {
	_, err = r.get(stmtKeyRun, into(&run), workspace, agent, key)
	return run, err
}

// PutKey gives a key to a run and returns the run that has it: another one when somebody was faster.
func (tx *Tx) PutKey(workspace, agent, key, run string) (string, error) {
	n, err := tx.exec(stmtKeyPut, workspace, agent, key, run, micros(tx.Now()))
	if err != nil || n == 1 {
		return run, err
	}
	return tx.KeyRun(workspace, agent, key)
}

// PruneKeys forgets keys older than before.
func (tx *Tx) PruneKeys(before time.Time) (int64, error) {
	return tx.exec(stmtKeyPrune, micros(before))
}
