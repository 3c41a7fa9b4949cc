package store

import "time"

var (
	stmtReceiptsForget = define("receipts_forget", `
DELETE FROM schedule_receipts WHERE id IN (SELECT r.id FROM schedule_receipts r WHERE r.made_at < ?1 LIMIT ?2)`)
	stmtHeartbeatsForget = define("heartbeats_forget", `
DELETE FROM heartbeat_days WHERE (task, step, day, outcome) IN (SELECT h.task, h.step, h.day, h.outcome FROM heartbeat_days h WHERE h.day < ?1 LIMIT ?2)`)
)

// ForgetReceipts removes at most limit receipts of schedules that were made before a time.
func (tx *Tx) ForgetReceipts(before time.Time, limit int) (int64, error) {
	return tx.exec(stmtReceiptsForget, micros(before), limit)
}

// ForgetHeartbeats removes at most limit counters of days (UTC) before that of a time.
func (tx *Tx) ForgetHeartbeats(before time.Time, limit int) (int64, error) {
	return tx.exec(stmtHeartbeatsForget, before.UTC().Format(time.DateOnly), limit)
}
