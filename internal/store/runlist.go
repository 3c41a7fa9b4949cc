package store

import (
	fairlead "github.com/fairlead/fairlead"
)

// RunFilter narrows a list of runs; empty fields match everything. Workspace or Task is needed.
type RunFilter struct {
	Workspace string
	Task      string
	Agent     string
	Status    string
	Step      string
}

var stmtRunList = define("runs_list", `
SELECT `+runColumns+` FROM runs WHERE workspace = ?1 AND (?2 = '' OR task = ?2) AND (?3 = '' OR agent = ?3)
  AND (?4 = '' OR status = ?4) AND (?5 = '' OR step = ?5) AND (requested_at, id) < (?6, ?7)
ORDER BY requested_at DESC, id DESC LIMIT ?8`)

var stmtRunListTask = define("runs_list_task", `
SELECT `+runColumns+` FROM runs WHERE task = ?2 AND (?1 = '' OR workspace = ?1) AND (?3 = '' OR agent = ?3)
  AND (?4 = '' OR status = ?4) AND (?5 = '' OR step = ?5) AND (requested_at, id) < (?6, ?7)
ORDER BY requested_at DESC, id DESC LIMIT ?8`)

// ListRuns returns a page, newest first.
func (r *ReadTx) ListRuns(f RunFilter, p Page) (runs []fairlead.Run, next string, err error) {
	at, id, err := p.before()
	if err != nil {
		return nil, "", err
	}
	st := stmtRunList
	if f.Task != "" {
		st = stmtRunListTask
	}
	limit := p.limit()
	rows, err := all(r, st, scanRun, f.Workspace, f.Task, f.Agent, f.Status, f.Step, at, id, limit+1)
	runs, next = cut(rows, limit, func(v *fairlead.Run) string { return timeCursor(v.RequestedAt, v.ID) })
	return runs, next, err
}

const runEventColumns = `run, seq, kind, data, at`

var (
	// The number is drawn without touching the run's row. That no two commands draw the same one is the task's lock's
	// doing; the primary key is the last word.
	stmtRunEventInsert = define("run_event_insert", `
INSERT INTO run_events (`+runEventColumns+`)
SELECT CAST(?1 AS TEXT), COALESCE(MAX(seq), 0) + 1, CAST(?2 AS TEXT), CAST(?3 AS TEXT), CAST(?4 AS BIGINT) FROM run_events WHERE run = ?1
RETURNING seq`)
	stmtRunLine   = define("run_line", `SELECT COALESCE(MAX(seq), 0) FROM run_events WHERE run = ?1`)
	stmtRunEvents = define("run_events", `SELECT `+runEventColumns+` FROM run_events WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3`)
)

func scanRunEvent(s scanner, e *fairlead.RunEvent) error {
	return s.Scan(&e.Run, &e.Seq, &e.Kind, jsonCol{&e.Data}, timeCol{&e.At})
}

// stmtRunLines[n-1] inserts n lines.
var stmtRunLines = defineInserts("run_lines", "run_events", runEventColumns)

// AppendRunEvent adds a line to a run's audit log and returns its number. The run's task must be locked. The line is there
// when the transaction commits, and data must not change until then.
func (tx *Tx) AppendRunEvent(run, kind string, data map[string]any) (seq int64, err error) {
	last, known := tx.memo.lines[run]
	switch {
	case known:
	case tx.session.placesEvents(): // one statement is cheaper than two
		err = one(&tx.ReadTx, "run", stmtRunEventInsert, into(&seq), run, kind, mapArg(data), micros(tx.Now()))
		if err == nil {
			tx.memo.wrote(run, seq)
		}
		return seq, err
	default: // one that may come with others is cheaper than a round trip
		if _, err = tx.get(stmtRunLine, into(&last), run); err != nil {
			return 0, err
		}
	}
	seq = last + 1
	tx.memo.wrote(run, seq)
	tx.lines = append(tx.lines, fairlead.RunEvent{Run: run, Seq: seq, Kind: kind, Data: data, At: tx.Now()})
	return seq, nil
}

// appendLines writes the lines that have their numbers, all of them together.
func (tx *Tx) appendLines() error {
	return insertBatches(tx, stmtRunLines, tx.lines, func(args []any, e *fairlead.RunEvent) []any {
		return append(args, e.Run, e.Seq, e.Kind, mapArg(e.Data), micros(e.At))
	})
}

// ExpectRunEvents says that lines of a run's log will follow, while their number can still come with other answers.
func (tx *Tx) ExpectRunEvents(run string) error {
	if _, known := tx.memo.lines[run]; known || tx.session.placesEvents() {
		return nil
	}
	var last int64
	_, err := tx.get(stmtRunLine, into(&last), run)
	if err == nil {
		tx.memo.wrote(run, last)
	}
	return err
}

// ListRunEvents returns at most limit lines of a run's audit log behind a number, in order.
func (r *ReadTx) ListRunEvents(run string, after int64, limit int) ([]fairlead.RunEvent, error) {
	return all(r, stmtRunEvents, scanRunEvent, run, after, limit)
}
