package store

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"

	fairlead "github.com/fairlead/fairlead"
)

// Foreign runs fn on the transaction of Postgres itself, for a library that keeps tables of its own in the same database.
// fn must neither commit nor roll back, and must not touch a table of this package. SQLite has no such guests.
func (tx *Tx) Foreign(fn func(ctx context.Context, sql *sql.Tx) error) error {
	s, ok := tx.session.(pgSession)
	if !ok {
		return fairlead.Errorf(fairlead.CodeInternal, "this database takes no guests").WithOp("use foreign tables")
	}
	return fn(tx.ctx, s.tx)
}

// Postgres returns how to connect to the database, for a library with a pool of its own; nil on SQLite.
func (db *DB) Postgres() *pgx.ConnConfig {
	d, ok := db.dialect.(*postgres)
	if !ok {
		return nil
	}
	return d.config.Copy()
}
