package store

import (
	"context"
	"database/sql"
)

// dialect is everything in which the two databases differ.
type dialect interface {
	// name is "sqlite" or "postgres".
	name() string
	// text is the statement in the dialect's words: placeholders, locks, list membership.
	text(st *Stmt) string
	// script is a migration in the dialect's words.
	script(text string) string
	// classify says what an error of the database means.
	classify(err error) errorClass
	// handle is for migrations: one transaction each.
	handle() *sql.DB
	// guard keeps other processes from migrating at the same time, and copies what an upgrade could spoil.
	guard(ctx context.Context, upgrade bool) (release func(), err error)
	// write runs one command in one transaction.
	write(ctx context.Context, c *command) error
	// read runs fn on one consistent state.
	read(ctx context.Context, fn func(*ReadTx) error) error
	// run does the background work (commits, notifications, event positions) until close.
	start()
	close() error
}

var (
	_ dialect = (*sqlite)(nil)
	_ dialect = (*postgres)(nil)
)
