package store

import (
	"slices"

	fairlead "github.com/fairlead/fairlead"
)

const noticeColumns = `id, workspace, task, visit, kind, text, data, at, done_at`

var (
	stmtNoticeInsert = define("notice_insert", `
INSERT INTO notices (`+noticeColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`)
	stmtNoticeDone = define("notice_done", `UPDATE notices SET done_at = ?2 WHERE id = ?1 AND done_at = 0`)
	stmtNoticeLoad = define("notice_load", `SELECT `+noticeColumns+` FROM notices WHERE id = ?1`)
	stmtNoticesOf  = define("notices_of", `SELECT `+noticeColumns+` FROM notices WHERE task = ?1 AND visit = ?2 AND kind = ?3 ORDER BY at, id`)
	stmtNotices    = define("notices", `
SELECT `+noticeColumns+` FROM notices WHERE workspace = ?1 AND (at, id) < (?2, ?3) ORDER BY at DESC, id DESC LIMIT ?4`)
	stmtNoticesOpen = define("notices_open", `
SELECT `+noticeColumns+` FROM notices WHERE workspace = ?1 AND done_at = 0 AND (at, id) < (?2, ?3) ORDER BY at DESC, id DESC LIMIT ?4`)
)

func scanNotice(s scanner, n *fairlead.Notice) error {
	return s.Scan(&n.ID, &n.Workspace, &n.Task, &n.Visit, &n.Kind, &n.Text, jsonCol{&n.Data}, timeCol{&n.At}, timeCol{&n.DoneAt})
}

// InsertNotice adds an inbox item.
func (tx *Tx) InsertNotice(n fairlead.Notice) error {
	return tx.later(stmtNoticeInsert, n.ID, n.Workspace, n.Task, n.Visit, n.Kind, n.Text, mapArg(n.Data), micros(n.At), micros(n.DoneAt))
}

// DoneNotice takes an item off the inbox and reports whether it was on it.
func (tx *Tx) DoneNotice(id string) (bool, error) {
	return tx.taken(stmtNoticeDone, id, micros(tx.Now()))
}

// LoadNotice returns one item.
func (r *ReadTx) LoadNotice(id string) (fairlead.Notice, error) {
	var n fairlead.Notice
	err := one(r, "notice", stmtNoticeLoad, func(s scanner) error { return scanNotice(s, &n) }, id)
	return n, err
}

// NoticesOf returns the items of one kind that a visit made, oldest first.
func (r *ReadTx) NoticesOf(task string, visit int, kind string) ([]fairlead.Notice, error) {
	if list, ok := shelved(r.shelf, task, visit, func(s *shelf) map[string][]fairlead.Notice { return s.notices }); ok {
		return slices.DeleteFunc(list, func(n fairlead.Notice) bool { return n.Kind != kind }), nil
	}
	return all(r, stmtNoticesOf, scanNotice, task, visit, kind)
}

// HasNotice reports whether a visit made an item of one kind.
func (r *ReadTx) HasNotice(task string, visit int, kind string) (bool, error) {
	n, err := r.NoticesOf(task, visit, kind)
	return len(n) > 0, err
}

// ListNotices returns a page, newest first; open leaves out what was done.
func (r *ReadTx) ListNotices(workspace string, open bool, p Page) (notices []fairlead.Notice, next string, err error) {
	at, id, err := p.before()
	if err != nil {
		return nil, "", err
	}
	st := stmtNotices
	if open {
		st = stmtNoticesOpen
	}
	limit := p.limit()
	rows, err := all(r, st, scanNotice, workspace, at, id, limit+1)
	notices, next = cut(rows, limit, func(n *fairlead.Notice) string { return timeCursor(n.At, n.ID) })
	return notices, next, err
}
