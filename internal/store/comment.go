package store

import (
	fairlead "github.com/fairlead/fairlead"
)

const commentColumns = `id, task, visit, author, text, seq, at`

var (
	stmtCommentInsert = define("comment_insert", `INSERT INTO comments (`+commentColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`)
	stmtComments      = define("comments", `SELECT `+commentColumns+` FROM comments WHERE task = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3`)
	stmtCommentLoad   = define("comment_load", `SELECT `+commentColumns+` FROM comments WHERE id = ?1`)
)

func scanComment(s scanner, c *fairlead.Comment) error {
	return s.Scan(&c.ID, &c.Task, &c.Visit, jsonCol{&c.Author}, &c.Text, &c.Seq, timeCol{&c.At})
}

// InsertComment adds a comment.
func (tx *Tx) InsertComment(c fairlead.Comment) error {
	return tx.later(stmtCommentInsert, c.ID, c.Task, c.Visit, actorArg(c.Author), c.Text, c.Seq, micros(c.At))
}

// LoadComment returns one comment.
func (r *ReadTx) LoadComment(id string) (fairlead.Comment, error) {
	var c fairlead.Comment
	err := one(r, "comment", stmtCommentLoad, func(s scanner) error { return scanComment(s, &c) }, id)
	return c, err
}

// ListComments returns at most limit comments of a task behind a sequence number, in order.
func (r *ReadTx) ListComments(task string, after int64, limit int) ([]fairlead.Comment, error) {
	return all(r, stmtComments, scanComment, task, after, limit)
}
