package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	fairlead "github.com/fairlead/fairlead"
)

// Foreign runs fn on the transaction of Postgres itself, for a library that keeps tables of its own in the same database.
// fn can neither commit nor roll back, and must not touch a table of this package. SQLite has no such guests.
func (tx *Tx) Foreign(fn func(ctx context.Context, guest pgx.Tx) error) error {
	s, ok := tx.session.(*pgSession)
	if !ok {
		return fairlead.Errorf(fairlead.CodeInternal, "this database takes no guests").WithOp("use foreign tables")
	}
	if err := s.flush(tx.ctx); err != nil {
		return err
	}
	return fn(tx.ctx, guest{s.conn.Conn()})
}

// conn is an embedded connection under a name that leaves Conn free.
type conn = pgx.Conn

// guest is the transaction as a library may use it: without its ends.
type guest struct{ *conn }

var (
	_        pgx.Tx = guest{}
	errGuest        = errors.New("the transaction is not this library's to begin or end")
)

// Begin implements pgx.Tx by refusing.
func (guest) Begin(context.Context) (pgx.Tx, error) { return nil, errGuest }

// Commit implements pgx.Tx by refusing.
func (guest) Commit(context.Context) error { return errGuest }

// Rollback implements pgx.Tx by refusing.
func (guest) Rollback(context.Context) error { return errGuest }

// LargeObjects implements pgx.Tx; there are none.
func (guest) LargeObjects() pgx.LargeObjects { return pgx.LargeObjects{} }

// Conn implements pgx.Tx.
func (g guest) Conn() *pgx.Conn { return g.conn }

// Postgres returns how to connect to the database, for a library with a pool of its own; nil on SQLite.
func (db *DB) Postgres() *pgx.ConnConfig {
	d, ok := db.dialect.(*postgres)
	if !ok {
		return nil
	}
	return d.config.Copy()
}
