package store

import (
	fairlead "github.com/fairlead/fairlead"
)

const decisionColumns = `id, task, visit, round, seat, role, verdict, note, by_actor, seq, at`

var (
	stmtDecisionInsert = define("decision_insert", `
INSERT INTO decisions (`+decisionColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`)
	stmtDecisions = define("decisions", `
SELECT `+decisionColumns+` FROM decisions WHERE task = ?1 AND visit = ?2 AND round = ?3 ORDER BY seq, id`)
	stmtDecisionsAll = define("decisions_all", `SELECT `+decisionColumns+` FROM decisions WHERE task = ?1 ORDER BY seq, id`)
)

func scanDecision(s scanner, d *fairlead.Decision) error {
	return s.Scan(&d.ID, &d.Task, &d.Visit, &d.Round, &d.Seat, &d.Role, &d.Verdict, &d.Note, jsonCol{&d.By}, &d.Seq, timeCol{&d.At})
}

// InsertDecision adds a verdict; decisions are never changed.
func (tx *Tx) InsertDecision(d fairlead.Decision) error {
	return tx.later(stmtDecisionInsert, d.ID, d.Task, d.Visit, d.Round, d.Seat, d.Role, d.Verdict, d.Note, actorArg(d.By), d.Seq, micros(d.At))
}

// ListDecisions returns the verdicts of one round, oldest first.
func (r *ReadTx) ListDecisions(task string, visit, round int) ([]fairlead.Decision, error) {
	return all(r, stmtDecisions, scanDecision, task, visit, round)
}

// ListAllDecisions returns every verdict of a task, oldest first.
func (r *ReadTx) ListAllDecisions(task string) ([]fairlead.Decision, error) {
	return all(r, stmtDecisionsAll, scanDecision, task)
}
