package store

import (
	"context"

	fairlead "github.com/fairlead/fairlead"
)

const auditColumns = `id, workspace, actor, op, command, task, run, code, message, at`

var (
	stmtAuditInsert = define("audit_insert", `
INSERT INTO audit (`+auditColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (id) DO NOTHING`)
	stmtAudit = define("audit_of", `SELECT `+auditColumns+` FROM audit WHERE task = ?1 ORDER BY at, id`)
)

func scanAudit(s scanner, a *fairlead.Audit) error {
	return s.Scan(&a.ID, &a.Workspace, jsonCol{&a.Actor}, &a.Op, &a.Command, &a.Task, &a.Run, &a.Code, &a.Message, timeCol{&a.At})
}

// InsertAudit adds an audit record to a command's own transaction. Asking twice with one id keeps one.
func (tx *Tx) InsertAudit(a fairlead.Audit) error {
	at := a.At
	if at.IsZero() {
		at = tx.Now()
	}
	return tx.later(stmtAuditInsert, a.ID, a.Workspace, actorArg(a.Actor), a.Op, a.Command, a.Task, a.Run, a.Code, a.Message, micros(at))
}

// Audit keeps the one record of a refused command, in a transaction of its own: the command's was rolled back.
func (db *DB) Audit(ctx context.Context, a fairlead.Audit) error {
	return db.Write(ctx, func(tx *Tx) error { return tx.InsertAudit(a) })
}

// ListAudit returns the audit records of a task ("" = of none), oldest first.
func (r *ReadTx) ListAudit(task string) ([]fairlead.Audit, error) {
	return all(r, stmtAudit, scanAudit, task)
}
