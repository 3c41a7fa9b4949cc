package store

import (
	fairlead "github.com/fairlead/fairlead"
)

const (
	workspaceColumns = `key, name, prefix, created_at`
	personColumns    = `workspace, key, name, created_at`
)

var (
	stmtWorkspaceInsert = define("workspace_insert", `
INSERT INTO workspaces (`+workspaceColumns+`) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (key) DO NOTHING`)
	stmtWorkspaceLoad = define("workspace_load", `SELECT `+workspaceColumns+` FROM workspaces WHERE key = ?1`)
	stmtWorkspaces    = define("workspaces", `SELECT `+workspaceColumns+` FROM workspaces ORDER BY key`)

	stmtPersonInsert = define("person_insert", `
INSERT INTO people (`+personColumns+`) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (workspace, key) DO NOTHING`)
	stmtPersonLoad = define("person_load", `SELECT `+personColumns+` FROM people WHERE workspace = ?1 AND key = ?2`)
	stmtPeople     = define("people", `SELECT `+personColumns+` FROM people WHERE workspace = ?1 ORDER BY key`)
)

func scanWorkspace(s scanner, w *fairlead.Workspace) error {
	return s.Scan(&w.Key, &w.Name, &w.Prefix, timeCol{&w.CreatedAt})
}

func scanPerson(s scanner, p *fairlead.PersonRecord) error {
	return s.Scan(&p.Workspace, &p.Key, &p.Name, timeCol{&p.CreatedAt})
}

// InsertWorkspace adds a workspace and reports whether it is new.
func (tx *Tx) InsertWorkspace(w *fairlead.Workspace) (bool, error) {
	return tx.taken(stmtWorkspaceInsert, w.Key, w.Name, w.Prefix, micros(w.CreatedAt))
}

// LoadWorkspace returns one workspace.
func (r *ReadTx) LoadWorkspace(key string) (fairlead.Workspace, error) {
	var w fairlead.Workspace
	err := one(r, "workspace", stmtWorkspaceLoad, func(s scanner) error { return scanWorkspace(s, &w) }, key)
	return w, err
}

// Prefix returns the beginning of a workspace's identifiers.
func (r *ReadTx) Prefix(workspace string) (string, error) {
	w, err := r.LoadWorkspace(workspace)
	return w.Prefix, err
}

// ListWorkspaces returns all workspaces, by key.
func (r *ReadTx) ListWorkspaces() ([]fairlead.Workspace, error) {
	return all(r, stmtWorkspaces, scanWorkspace)
}

// InsertPerson adds a person and reports whether they are new.
func (tx *Tx) InsertPerson(p *fairlead.PersonRecord) (bool, error) {
	return tx.taken(stmtPersonInsert, p.Workspace, p.Key, p.Name, micros(p.CreatedAt))
}

// LoadPerson returns one person.
func (r *ReadTx) LoadPerson(workspace, key string) (fairlead.PersonRecord, error) {
	var p fairlead.PersonRecord
	err := one(r, "person", stmtPersonLoad, func(s scanner) error { return scanPerson(s, &p) }, workspace, key)
	return p, err
}

// ListPeople returns the people of a workspace, by key.
func (r *ReadTx) ListPeople(workspace string) ([]fairlead.PersonRecord, error) {
	return all(r, stmtPeople, scanPerson, workspace)
}
