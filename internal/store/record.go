package store

import (
	fairlead "github.com/fairlead/fairlead"
)

const recordColumns = `task, seq, assignment, visit, run, kind, actor, data, sem, at`

// stmtRecordInsert[n-1] inserts n records.
var stmtRecordInsert = defineInserts("record_insert", "records", recordColumns)

var (
	stmtRecords = define("records", `
SELECT `+recordColumns+` FROM records WHERE task = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3`)
	stmtNews = define("records_news", `
SELECT `+recordColumns+` FROM records
WHERE task = ?1 AND seq > COALESCE((SELECT delivered FROM sessions WHERE id = ?2), 0) ORDER BY seq LIMIT ?3`)
	stmtRecordsFor = define("records_for", `
SELECT `+recordColumns+` FROM records WHERE task = ?1 AND seq > ?3 AND assignment = ?2 ORDER BY seq`)

	stmtBlobPut = define("blob_put", `INSERT INTO blobs (hash, data, at) VALUES (?1, ?2, ?3) ON CONFLICT (hash) DO NOTHING`)
	stmtBlobGet = define("blob_get", `SELECT data FROM blobs WHERE hash = ?1`)
)

func scanRecord(s scanner, v *fairlead.Record) error {
	return s.Scan(&v.Task, &v.Seq, &v.Assignment, &v.Visit, &v.Run, &v.Kind, jsonCol{&v.Actor}, rawCol{&v.Data}, &v.Sem, timeCol{&v.At})
}

// AppendRecords adds records to the journal that a task shares with its assignments. The caller has numbered them after
// the task's RecordSeq, without a gap.
func (tx *Tx) AppendRecords(records ...fairlead.Record) error {
	return insertBatches(tx, stmtRecordInsert, records, func(args []any, v *fairlead.Record) []any {
		return append(args, v.Task, v.Seq, v.Assignment, v.Visit, v.Run, v.Kind, actorArg(v.Actor), string(v.Data), v.Sem, micros(v.At))
	})
}

// ListRecords returns at most limit records of a task behind a sequence number, in order.
func (r *ReadTx) ListRecords(task string, after int64, limit int) ([]fairlead.Record, error) {
	return all(r, stmtRecords, scanRecord, task, after, limit)
}

// ListNews returns at most limit records of a task that a session was not told of, in order.
func (r *ReadTx) ListNews(task, session string, limit int) ([]fairlead.Record, error) {
	if err := r.writeSessions(); err != nil {
		return nil, err
	}
	return all(r, stmtNews, scanRecord, task, session, limit)
}

// ListRecordsFor returns the records of one assignment ("" = of the task itself) behind a sequence number, in order.
func (r *ReadTx) ListRecordsFor(task, assignment string, after int64) ([]fairlead.Record, error) {
	return all(r, stmtRecordsFor, scanRecord, task, assignment, after)
}

// PutBlob keeps a long text under its hash; the same hash twice is kept once.
func (tx *Tx) PutBlob(hash, data string) error {
	return tx.later(stmtBlobPut, hash, data, micros(tx.Now()))
}

// GetBlob returns a long text.
func (r *ReadTx) GetBlob(hash string) (data string, err error) {
	err = one(r, "blob", stmtBlobGet, into(&data), hash)
	return data, err
}
