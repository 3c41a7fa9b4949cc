package store

import (
	fairlead "github.com/fairlead/fairlead"
)

const workflowColumns = `workspace, key, version, name, style, source, digest, by_actor, at`

var (
	stmtWorkflowFirst = define("workflow_first", `
INSERT INTO workflows (workspace, key, version) VALUES (?1, ?2, ?3) ON CONFLICT (workspace, key) DO NOTHING`)
	stmtWorkflowNext = define("workflow_next", `UPDATE workflows SET version = ?3 WHERE workspace = ?1 AND key = ?2 AND version = ?3 - 1`)
	stmtVersionAdd   = define("workflow_version_insert", `
INSERT INTO workflow_versions (`+workflowColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`)
	stmtVersionLoad = define("workflow_version_load", `
SELECT `+workflowColumns+` FROM workflow_versions WHERE workspace = ?1 AND key = ?2 AND version = ?3`)
	stmtWorkflowCurrent = define("workflow_current", `
SELECT `+qualified("v", workflowColumns)+` FROM workflows w
JOIN workflow_versions v ON v.workspace = w.workspace AND v.key = w.key AND v.version = w.version WHERE w.workspace = ?1 AND w.key = ?2`)
	stmtWorkflows = define("workflows", `
SELECT `+qualified("v", workflowColumns)+` FROM workflows w
JOIN workflow_versions v ON v.workspace = w.workspace AND v.key = w.key AND v.version = w.version WHERE w.workspace = ?1 ORDER BY w.key`)
	stmtWorkflowKeys = define("workflow_keys", `SELECT key FROM workflows WHERE workspace = ?1 ORDER BY key`)
)

func scanWorkflow(s scanner, v *fairlead.WorkflowVersion) error {
	return s.Scan(&v.Workspace, &v.Key, &v.Version, &v.Name, &v.Style, &v.Source, &v.Digest, jsonCol{&v.By}, timeCol{&v.At})
}

// InsertWorkflowVersion makes v the newest version. Its number must be one above the newest; if somebody else was
// faster, the error has code stale.
func (tx *Tx) InsertWorkflowVersion(v *fairlead.WorkflowVersion) error {
	st := stmtWorkflowNext
	if v.Version == 1 {
		st = stmtWorkflowFirst
	}
	n, err := tx.exec(st, v.Workspace, v.Key, v.Version)
	if err := saved("workflow", n, err); err != nil {
		return err
	}
	err = tx.later(stmtVersionAdd, v.Workspace, v.Key, v.Version, v.Name, v.Style, v.Source, v.Digest, actorArg(v.By), micros(v.At))
	return err
}

// CurrentWorkflow returns the newest version.
func (r *ReadTx) CurrentWorkflow(workspace, key string) (fairlead.WorkflowVersion, error) {
	var v fairlead.WorkflowVersion
	err := one(r, "workflow", stmtWorkflowCurrent, func(s scanner) error { return scanWorkflow(s, &v) }, workspace, key)
	return v, err
}

// WorkflowVersion returns one version.
func (r *ReadTx) WorkflowVersion(workspace, key string, version int) (fairlead.WorkflowVersion, error) {
	var v fairlead.WorkflowVersion
	err := one(r, "workflow version", stmtVersionLoad, func(s scanner) error { return scanWorkflow(s, &v) }, workspace, key, version)
	return v, err
}

// ListWorkflows returns the newest version of every workflow, by key.
func (r *ReadTx) ListWorkflows(workspace string) ([]fairlead.WorkflowVersion, error) {
	return all(r, stmtWorkflows, scanWorkflow, workspace)
}

// WorkflowKeys returns the keys of a workspace's workflows, sorted.
func (r *ReadTx) WorkflowKeys(workspace string) ([]string, error) {
	return all(r, stmtWorkflowKeys, scanText, workspace)
}
