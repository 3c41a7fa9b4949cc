package store

import (
	fairlead "github.com/fairlead/fairlead"
)

const outboxColumns = `id, workspace, task, op, kind, payload, attempts, created_at, done_at, rejected`

var (
	stmtOutboxInsert = define("outbox_insert", `
INSERT INTO outbox (workspace, task, op, kind, payload, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (task, op) DO NOTHING`)
	stmtOutboxOf    = define("outbox_of", `SELECT `+outboxColumns+` FROM outbox WHERE task = ?1 AND done_at = 0 AND kind <> 'notify' ORDER BY id`)
	stmtOutboxTasks = define("outbox_tasks", `
SELECT workspace, task FROM outbox WHERE done_at = 0 AND kind <> 'notify' GROUP BY workspace, task ORDER BY MIN(id) LIMIT ?1`)
	stmtOutboxNotify = define("outbox_notify", `
SELECT `+outboxColumns+` FROM outbox WHERE done_at = 0 AND kind = 'notify' ORDER BY id LIMIT ?1`)
	stmtOutboxDone = define("outbox_done", `UPDATE outbox SET done_at = ?2, rejected = ?3 WHERE id = ?1 AND done_at = 0`)
	stmtOutboxTry  = define("outbox_try", `UPDATE outbox SET attempts = attempts + 1 WHERE id = ?1 AND attempts = ?2 AND done_at = 0`)
)

func scanOutbox(s scanner, o *fairlead.Outbox) error {
	return s.Scan(&o.ID, &o.Workspace, &o.Task, &o.Op, &o.Kind, rawCol{&o.Payload}, &o.Attempts, timeCol{&o.CreatedAt}, timeCol{&o.DoneAt},
		&o.Rejected)
}

// InsertOutbox keeps a trigger for another task, to be delivered right after the commit; the same operation id for the
// same task is kept once.
func (tx *Tx) InsertOutbox(o fairlead.Outbox) error {
	payload := string(o.Payload)
	if payload == "" {
		payload = "{}"
	}
	err := tx.later(stmtOutboxInsert, o.Workspace, o.Task, o.Op, o.Kind, payload, micros(tx.Now()))
	tx.Wake(TopicOutbox)
	return err
}

// UndeliveredOutbox returns what waits for a task and is delivered under its lock, in order of delivery.
func (r *ReadTx) UndeliveredOutbox(task string) ([]fairlead.Outbox, error) {
	return all(r, stmtOutboxOf, scanOutbox, task)
}

// OutboxTask is a task for which something waits.
type OutboxTask struct{ Workspace, Task string }

// OutboxTasks returns at most limit tasks that have something undelivered, the longest waiting first.
func (r *ReadTx) OutboxTasks(limit int) ([]OutboxTask, error) {
	return all(r, stmtOutboxTasks, func(s scanner, t *OutboxTask) error { return s.Scan(&t.Workspace, &t.Task) }, limit)
}

// PendingNotifies returns at most limit messages to the outside that wait, oldest first.
func (r *ReadTx) PendingNotifies(limit int) ([]fairlead.Outbox, error) {
	return all(r, stmtOutboxNotify, scanOutbox, limit)
}

// OutboxDone records that a row was delivered or, with a text, that its task refused it; both are final.
func (tx *Tx) OutboxDone(id int64, rejected string) error {
	return tx.later(stmtOutboxDone, id, micros(tx.Now()), rejected)
}

// TakeOutbox counts a try before it is made, and gives it to one of several nodes: false means that another one has it.
func (tx *Tx) TakeOutbox(id int64, attempts int) (bool, error) {
	return tx.taken(stmtOutboxTry, id, attempts)
}
