package store

import (
	fairlead "github.com/fairlead/fairlead"
)

const receiptColumns = `id, workspace, kind, ref, step, at, until_at, n, outcome, reason, cause, task, made_at`

var (
	stmtReceiptInsert = define("receipt_insert", `
INSERT INTO schedule_receipts (`+receiptColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)`)
	stmtReceiptExtend = define("receipt_extend", `
UPDATE schedule_receipts SET until_at = ?4, n = n + ?5, made_at = ?9
WHERE id = (SELECT id FROM schedule_receipts WHERE workspace = ?1 AND kind = ?2 AND ref = ?3 ORDER BY made_at DESC, id DESC LIMIT 1)
  AND step = ?6 AND outcome = ?7 AND reason = ?8 AND cause = ?10`)
	stmtReceipts = define("receipts", `
SELECT `+receiptColumns+` FROM schedule_receipts WHERE workspace = ?1 AND kind = ?2 AND ref = ?3 AND (made_at, id) < (?4, ?5)
ORDER BY made_at DESC, id DESC LIMIT ?6`)

	stmtBeatCount = define("beat_count", `
INSERT INTO heartbeat_days (task, step, day, outcome, n) VALUES (?1, ?2, ?3, ?4, 1)
ON CONFLICT (task, step, day, outcome) DO UPDATE SET n = heartbeat_days.n + 1`)
	stmtBeats = define("beats", `SELECT task, step, day, outcome, n FROM heartbeat_days WHERE task = ?1 ORDER BY day DESC, step, outcome`)
)

func scanReceipt(s scanner, r *fairlead.Receipt) error {
	return s.Scan(&r.ID, &r.Workspace, &r.Kind, &r.Ref, &r.Step, timeCol{&r.At}, timeCol{&r.Until}, &r.Count, &r.Outcome, &r.Reason, &r.Cause,
		&r.Task, timeCol{&r.MadeAt})
}

// InsertReceipt adds the proof of what became of a fire.
func (tx *Tx) InsertReceipt(r fairlead.Receipt) error {
	return tx.later(stmtReceiptInsert, r.ID, r.Workspace, r.Kind, r.Ref, r.Step, micros(r.At), micros(r.Until), r.Count, r.Outcome, r.Reason,
		r.Cause, r.Task, micros(r.MadeAt))
}

// ExtendReceipt lets the newest receipt of the same schedule speak for one more, and reports whether it says the same of
// it: a schedule that is held up for weeks leaves one receipt.
func (tx *Tx) ExtendReceipt(r fairlead.Receipt) (bool, error) {
	return tx.taken(stmtReceiptExtend, r.Workspace, r.Kind, r.Ref, micros(r.Until), r.Count, r.Step, r.Outcome, r.Reason, micros(r.MadeAt), r.Cause)
}

// ListReceipts returns a page of a schedule's receipts, newest first.
func (r *ReadTx) ListReceipts(workspace, kind, ref string, p Page) (receipts []fairlead.Receipt, next string, err error) {
	at, id, err := p.before()
	if err != nil {
		return nil, "", err
	}
	limit := p.limit()
	rows, err := all(r, stmtReceipts, scanReceipt, workspace, kind, ref, at, id, limit+1)
	receipts, next = cut(rows, limit, func(v *fairlead.Receipt) string { return timeCursor(v.MadeAt, v.ID) })
	return receipts, next, err
}

// CountBeat counts one heartbeat of a task's step.
func (tx *Tx) CountBeat(task, step, day, outcome string) error {
	return tx.later(stmtBeatCount, task, step, day, outcome)
}

// ListBeats returns what a task's heartbeats came to, the newest day first.
func (r *ReadTx) ListBeats(task string) ([]fairlead.BeatCount, error) {
	return all(r, stmtBeats, func(s scanner, b *fairlead.BeatCount) error {
		return s.Scan(&b.Task, &b.Step, &b.Day, &b.Outcome, &b.Count)
	}, task)
}
