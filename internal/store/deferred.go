package store

// DeferredRow is a put-aside trigger: the engine's own words, which the store does not read.
type DeferredRow struct {
	Seq     int64
	Visit   int
	Trigger []byte
}

// Told is one end (the other task's terminal visit) that a task was told of.
type Told struct {
	Kind  string // "blocker" or "child"; control's words
	Other string
	Visit int
}

var (
	stmtDeferredInsert = define("deferred_insert", `INSERT INTO deferred (task, seq, visit, trigger_json, at) VALUES (?1, ?2, ?3, ?4, ?5)`)
	stmtDeferredDelete = define("deferred_delete", `DELETE FROM deferred WHERE task = ?1 AND seq = ?2`)
	stmtDeferred       = define("deferred", `SELECT seq, visit, trigger_json FROM deferred WHERE task = ?1 AND visit = ?2 ORDER BY seq`)

	stmtToldInsert = define("told_insert", `INSERT INTO told (task, kind, other, visit) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING`)
	stmtTold       = define("told", `SELECT kind, other, visit FROM told WHERE task = ?1 ORDER BY kind, other, visit`)
)

// InsertDeferred puts a trigger aside; seq is the number of its record.
func (tx *Tx) InsertDeferred(task string, seq int64, visit int, trigger []byte) error {
	return tx.later(stmtDeferredInsert, task, seq, visit, string(trigger), micros(tx.Now()))
}

// DeleteDeferred takes one back.
func (tx *Tx) DeleteDeferred(task string, seq int64) error {
	return tx.later(stmtDeferredDelete, task, seq)
}

// ListDeferred returns what was put aside in a visit, oldest first.
func (r *ReadTx) ListDeferred(task string, visit int) ([]DeferredRow, error) {
	return all(r, stmtDeferred, func(s scanner, d *DeferredRow) error {
		var text string
		err := s.Scan(&d.Seq, &d.Visit, &text)
		d.Trigger = []byte(text)
		return err
	}, task, visit)
}

// InsertTold remembers that a task was told of an end; telling it again is nothing.
func (tx *Tx) InsertTold(task, kind, other string, visit int) error {
	return tx.later(stmtToldInsert, task, kind, other, visit)
}

// ListTold returns every end a task was told of, in a fixed order.
func (r *ReadTx) ListTold(task string) ([]Told, error) {
	return all(r, stmtTold, func(s scanner, t *Told) error { return s.Scan(&t.Kind, &t.Other, &t.Visit) }, task)
}
