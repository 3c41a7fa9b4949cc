package store

import (
	"time"

	fairlead "github.com/fairlead/fairlead"
)

const timerColumns = `id, workspace, kind, task, ref, due_at, generation, payload`

var (
	stmtTimerPut = define("timer_put", `
INSERT INTO timers (`+timerColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7)
ON CONFLICT (kind, ref) DO UPDATE SET workspace = ?2, task = ?4, due_at = ?6, generation = timers.generation + 1, payload = ?7
RETURNING id, generation`)
	stmtTimerDelete  = define("timer_delete", `DELETE FROM timers WHERE kind = ?1 AND ref = ?2`)
	stmtTimersOfTask = define("timers_of_task", `SELECT `+timerColumns+` FROM timers WHERE task = ?1 ORDER BY due_at, id`)
	stmtTimerFind    = define("timer_find", `SELECT `+timerColumns+` FROM timers WHERE kind = ?1 AND ref = ?2`)
	stmtTimerNext    = define("timer_next", `SELECT `+timerColumns+` FROM timers ORDER BY due_at, id LIMIT ?1`)
	stmtTimerFire    = define("timer_fire", `DELETE FROM timers WHERE id = ?1 AND generation = ?2`)
	stmtTimerAdvance = define("timer_advance", `
UPDATE timers SET due_at = ?3, generation = generation + 1 WHERE id = ?1 AND generation = ?2`)
)

func scanTimer(s scanner, t *fairlead.Timer) error {
	return s.Scan(&t.ID, &t.Workspace, &t.Kind, &t.Task, &t.Ref, timeCol{&t.DueAt}, &t.Generation, rawCol{&t.Payload})
}

// PutTimer sets the one timer of (kind, ref), a new generation of the one that is there; it fills in id and generation.
// A timer that was deleted comes back under a new id, never under its old one: what it fires is remembered by id and
// generation.
func (tx *Tx) PutTimer(t *fairlead.Timer) error {
	payload := string(t.Payload)
	if payload == "" {
		payload = "{}"
	}
	tx.Wake(TopicTimers)
	return one(&tx.ReadTx, "timer", stmtTimerPut, into(&t.ID, &t.Generation), t.ID, t.Workspace, t.Kind, t.Task, t.Ref, micros(t.DueAt), payload)
}

// DeleteTimer removes a timer and reports whether it was there.
func (tx *Tx) DeleteTimer(kind, ref string) (bool, error) {
	return tx.taken(stmtTimerDelete, kind, ref)
}

// FireTimer takes a timer for firing, in the transaction of what it fires. False: another node fired or changed it.
func (tx *Tx) FireTimer(id string, generation int64) (bool, error) {
	return tx.taken(stmtTimerFire, id, generation)
}

// AdvanceTimer fires a repeating timer: it takes this generation and sets the next due time.
func (tx *Tx) AdvanceTimer(id string, generation int64, due time.Time) (bool, error) {
	tx.Wake(TopicTimers)
	return tx.taken(stmtTimerAdvance, id, generation, micros(due))
}

// FindTimer returns the timer of (kind, ref), nil for none.
func (r *ReadTx) FindTimer(kind, ref string) (*fairlead.Timer, error) {
	return maybe(r, stmtTimerFind, scanTimer, kind, ref)
}

// TimersOf returns the timers of a task, in order of due time.
func (r *ReadTx) TimersOf(task string) ([]fairlead.Timer, error) {
	return all(r, stmtTimersOfTask, scanTimer, task)
}

// NextTimers returns the timers that are due first, in order of due time, whether that has come or not.
func (r *ReadTx) NextTimers(limit int) ([]fairlead.Timer, error) {
	return all(r, stmtTimerNext, scanTimer, limit)
}
