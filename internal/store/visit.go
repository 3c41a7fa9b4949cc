package store

import (
	"time"

	fairlead "github.com/fairlead/fairlead"
)

const visitColumns = `task, n, workflow, workflow_version, step, from_step, by_actor, reason, note, round, began_at, ended_at`

var (
	stmtVisitInsert = define("visit_insert", `
INSERT INTO visits (`+visitColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`)
	stmtVisitEnd     = define("visit_end", `UPDATE visits SET ended_at = ?3 WHERE task = ?1 AND n = ?2 AND ended_at = 0`)
	stmtVisitRound   = define("visit_round", `UPDATE visits SET round = ?3 WHERE task = ?1 AND n = ?2`)
	stmtVisitVersion = define("visit_version", `UPDATE visits SET workflow_version = ?3 WHERE task = ?1 AND n = ?2`)
	stmtVisitLoad    = define("visit_load", `SELECT `+visitColumns+` FROM visits WHERE task = ?1 AND n = ?2`)
	stmtVisits       = define("visits", `SELECT `+visitColumns+` FROM visits WHERE task = ?1 ORDER BY n`)
	stmtVisitCounts  = define("visit_counts", `SELECT step, COUNT(*) FROM visits WHERE task = ?1 AND n > ?2 GROUP BY step ORDER BY step`)
)

func scanVisit(s scanner, v *fairlead.Visit) error {
	return s.Scan(&v.Task, &v.N, &v.Workflow, &v.WorkflowVersion, &v.Step, &v.From, jsonCol{&v.By}, &v.Reason, &v.Note, &v.Round,
		timeCol{&v.BeganAt}, timeCol{&v.EndedAt})
}

// InsertVisit begins a visit.
func (tx *Tx) InsertVisit(v fairlead.Visit) error {
	return tx.later(stmtVisitInsert, v.Task, v.N, v.Workflow, v.WorkflowVersion, v.Step, v.From, actorArg(v.By), v.Reason, v.Note, v.Round,
		micros(v.BeganAt), micros(v.EndedAt))
}

// EndVisit ends an open visit.
func (tx *Tx) EndVisit(task string, n int, at time.Time) error {
	return tx.later(stmtVisitEnd, task, n, micros(at))
}

// SetVisitRound notes the visit's current round.
func (tx *Tx) SetVisitRound(task string, n, round int) error {
	return tx.later(stmtVisitRound, task, n, round)
}

// SetVisitVersion pins the visit to another version of its workflow.
func (tx *Tx) SetVisitVersion(task string, n, version int) error {
	return tx.later(stmtVisitVersion, task, n, version)
}

// LoadVisit returns one visit.
func (r *ReadTx) LoadVisit(task string, n int) (fairlead.Visit, error) {
	var v fairlead.Visit
	err := one(r, "visit", stmtVisitLoad, func(s scanner) error { return scanVisit(s, &v) }, task, n)
	return v, err
}

// ListVisits returns the visits of a task, oldest first.
func (r *ReadTx) ListVisits(task string) ([]fairlead.Visit, error) {
	return all(r, stmtVisits, scanVisit, task)
}

// VisitCounts counts the visits after a number, by step. With the task's PersonVisit as that number, they are the ones
// that engine and agents began since a person's move.
func (r *ReadTx) VisitCounts(task string, after int) (map[string]int, error) {
	counts := map[string]int{}
	err := r.list(stmtVisitCounts, func(s scanner) error {
		var step string
		var n int
		err := s.Scan(&step, &n)
		counts[step] = n
		return err
	}, task, after)
	return counts, err
}
