package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// session runs statements on one connection, inside whatever transaction is open there.
type session interface {
	// exec returns how many rows the statement touched.
	exec(ctx context.Context, st *Stmt, args []any) (int64, error)
	query(ctx context.Context, st *Stmt, args []any) (rowset, error)
	// placesEvents reports whether an event gets its position when it is inserted.
	placesEvents() bool
}

// rowset reads the rows of one statement; *sql.Rows is one. Close it.
type rowset interface {
	scanner
	Columns() ([]string, error)
	Next() bool
	Err() error
	Close() error
}

// scanner is what a scan function reads from: a row.
type scanner interface{ Scan(dest ...any) error }

// ReadTx is one consistent look at the database. It ends with the function it was given to.
type ReadTx struct {
	ctx     context.Context // the transaction's own; a Tx's cannot be cancelled by its caller
	session session
	memo    memo
	writes  int  // statements run so far that may have written
	bumped  bool // this transaction has raised a revision
	// err is the first failure of a statement. After it nothing counts any more: Postgres refuses every further
	// statement, and SQLite may have rolled back more than the statement.
	err error
}

func (r *ReadTx) fail(st *Stmt, err error) error {
	err = fmt.Errorf("%s: %w", st.name, err)
	if r.err == nil {
		r.err = err
	}
	return err
}

// ran counts a statement that returns rows, if it writes them too.
func (r *ReadTx) ran(st *Stmt) {
	if st.writes {
		r.writes++
	}
}

// exec runs a statement and returns how many rows it touched.
func (r *ReadTx) exec(st *Stmt, args ...any) (int64, error) {
	if r.err != nil {
		return 0, r.err
	}
	r.writes++
	n, err := r.session.exec(r.ctx, st, args)
	if err != nil {
		return 0, r.fail(st, err)
	}
	return n, nil
}

// get reads at most one row with scan and reports whether there was one.
func (r *ReadTx) get(st *Stmt, scan func(scanner) error, args ...any) (bool, error) {
	if r.err != nil {
		return false, r.err
	}
	r.ran(st)
	rows, err := r.session.query(r.ctx, st, args)
	if err != nil {
		return false, r.fail(st, err)
	}
	found := rows.Next()
	if found {
		err = scan(rows)
	}
	// A statement that writes and returns its row is complete only when its rows are closed.
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return false, r.fail(st, err)
	}
	return found, nil
}

// list calls each for every row. each must not run statements: a Postgres connection carries one at a time.
func (r *ReadTx) list(st *Stmt, each func(scanner) error, args ...any) error {
	if r.err != nil {
		return r.err
	}
	r.ran(st)
	rows, err := r.session.query(r.ctx, st, args)
	if err != nil {
		return r.fail(st, err)
	}
	defer func() { _ = rows.Close() }() // its error is also Err's
	for rows.Next() {
		if err := each(rows); err != nil {
			return r.fail(st, err)
		}
	}
	if err := rows.Err(); err != nil {
		return r.fail(st, err)
	}
	return nil
}

// into scans one row's columns into dest.
func into(dest ...any) func(scanner) error {
	return func(s scanner) error { return s.Scan(dest...) }
}

// micros is a time as it is stored: microseconds since 1970 UTC, 0 for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// fromMicros is the inverse of micros.
func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// jsonText is a value as it is stored; maps come out with sorted keys.
func jsonText(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode column: %w", err)
	}
	return string(b), nil
}

// fromJSON reads a stored value; empty text leaves v alone.
func fromJSON(text string, v any) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("decode column: %w", err)
	}
	return nil
}
