package store

import (
	fairlead "github.com/fairlead/fairlead"
)

const requestColumns = `id, workspace, kind, task, visit, round, seat, assignment, run, prompt, schema, options, payload, blocks, who_may, asked_of,
opened_by, state, answer, resolved_by, opened_at, resolved_at, seq, version`

var (
	stmtRequestInsert = define("request_insert", `
INSERT INTO requests (`+requestColumns+`)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)`)
	stmtRequestSave = define("request_save", `
UPDATE requests SET state = ?3, answer = ?4, resolved_by = ?5, resolved_at = ?6, payload = ?7, version = version + 1
WHERE id = ?1 AND version = ?2`)
	stmtRequestLoad = define("request_load", `SELECT `+requestColumns+` FROM requests WHERE id = ?1`)
	stmtRequestOpen = define("requests_open_of", `
SELECT `+requestColumns+` FROM requests WHERE task = ?1 AND state = 'open' ORDER BY seq, id`)
	stmtRequestsOf = define("requests_of", `SELECT `+requestColumns+` FROM requests WHERE task = ?1 ORDER BY seq, id`)
	stmtApproval   = define("request_approval", `
SELECT `+requestColumns+` FROM requests WHERE task = ?1 AND visit = ?2 AND kind = 'approval' ORDER BY seq DESC, id DESC LIMIT 1`)
	stmtRequestList = define("requests_list", `
SELECT `+requestColumns+` FROM requests WHERE workspace = ?1 AND (?2 = '' OR state = ?2) AND (?3 = '' OR task = ?3) AND (?4 = '' OR kind = ?4)
  AND (?5 = '' OR {{has who_may ?5}} OR (who_may = '[]' AND (asked_of = '[]' OR {{has asked_of ?5}})))
  AND (opened_at, id) < (?6, ?7) ORDER BY opened_at DESC, id DESC LIMIT ?8`)
	stmtRequestListOpen = define("requests_list_open", `
SELECT `+requestColumns+` FROM requests WHERE workspace = ?1 AND state = 'open' AND (?2 = '' OR task = ?2) AND (?3 = '' OR kind = ?3)
  AND (?4 = '' OR {{has who_may ?4}} OR (who_may = '[]' AND (asked_of = '[]' OR {{has asked_of ?4}})))
  AND (opened_at, id) < (?5, ?6) ORDER BY opened_at DESC, id DESC LIMIT ?7`)
)

func scanRequest(s scanner, q *fairlead.Request) error {
	return s.Scan(&q.ID, &q.Workspace, &q.Kind, &q.Task, &q.Visit, &q.Round, &q.Seat, &q.Assignment, &q.Run, &q.Prompt, rawCol{&q.Schema},
		jsonCol{&q.Options}, jsonCol{&q.Payload}, &q.Blocks, jsonCol{&q.WhoMay}, jsonCol{&q.AskedOf}, jsonCol{&q.OpenedBy}, &q.State,
		jsonCol{&q.Answer}, jsonCol{&q.ResolvedBy}, timeCol{&q.OpenedAt}, timeCol{&q.ResolvedAt}, &q.Seq, &q.Version)
}

// InsertRequest opens a request; version 0 becomes 1.
func (tx *Tx) InsertRequest(q *fairlead.Request) error {
	if q.Version == 0 {
		q.Version = 1
	}
	return tx.later(stmtRequestInsert, q.ID, q.Workspace, q.Kind, q.Task, q.Visit, q.Round, q.Seat, q.Assignment, q.Run, q.Prompt,
		string(q.Schema), listArg(q.Options), mapArg(q.Payload), q.Blocks, listArg(q.WhoMay), listArg(q.AskedOf), actorArg(q.OpenedBy), q.State,
		pointerArg(q.Answer), pointerArg(q.ResolvedBy), micros(q.OpenedAt), micros(q.ResolvedAt), q.Seq, q.Version)
}

// SaveRequest writes the resolution, by compare and swap on q.Version, and raises it.
func (tx *Tx) SaveRequest(q *fairlead.Request) error {
	n, err := tx.exec(stmtRequestSave, q.ID, q.Version, q.State, pointerArg(q.Answer), pointerArg(q.ResolvedBy), micros(q.ResolvedAt),
		mapArg(q.Payload))
	if err := saved("request", n, err); err != nil {
		return err
	}
	q.Version++
	return nil
}

// LoadRequest returns one request.
func (r *ReadTx) LoadRequest(id string) (fairlead.Request, error) {
	var q fairlead.Request
	err := one(r, "request", stmtRequestLoad, func(s scanner) error { return scanRequest(s, &q) }, id)
	return q, err
}

// OpenRequests returns the open requests of a task, oldest first.
func (r *ReadTx) OpenRequests(task string) ([]fairlead.Request, error) {
	if list, ok := shelved(r.shelf, task, anyVisit, func(s *shelf) map[string][]fairlead.Request { return s.requests }); ok {
		return list, nil
	}
	return all(r, stmtRequestOpen, scanRequest, task)
}

// RequestsOf returns every request of a task, oldest first.
func (r *ReadTx) RequestsOf(task string) ([]fairlead.Request, error) {
	return all(r, stmtRequestsOf, scanRequest, task)
}

// NewestApproval returns the newest approval request of a visit whatever its state, nil for none.
func (r *ReadTx) NewestApproval(task string, visit int) (*fairlead.Request, error) {
	return maybe(r, stmtApproval, scanRequest, task, visit)
}

// RequestFilter narrows a list of requests; empty fields match everything.
type RequestFilter struct {
	Workspace string // needed
	State     string
	Task      string
	Kind      string
	// Actor ("person:anna") keeps what that being may resolve: named in who_may, else asked, else nobody in particular.
	Actor string
}

// ListRequests returns a page, newest first.
func (r *ReadTx) ListRequests(f RequestFilter, p Page) (requests []fairlead.Request, next string, err error) {
	at, id, err := p.before()
	if err != nil {
		return nil, "", err
	}
	limit := p.limit()
	st, args := stmtRequestList, []any{f.Workspace, f.State, f.Task, f.Kind, f.Actor, at, id, limit + 1}
	if f.State == string(fairlead.RequestOpen) {
		st, args = stmtRequestListOpen, []any{f.Workspace, f.Task, f.Kind, f.Actor, at, id, limit + 1}
	}
	rows, err := all(r, st, scanRequest, args...)
	requests, next = cut(rows, limit, func(q *fairlead.Request) string { return timeCursor(q.OpenedAt, q.ID) })
	return requests, next, err
}
