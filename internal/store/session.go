package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// session runs statements on one connection, inside whatever transaction is open there.
type session interface {
	// run carries the statements out one after the other, each seeing what those before it did; on Postgres at one round
	// trip for all. It returns the statement that failed.
	run(ctx context.Context, asks ...*ask) (*Stmt, error)
	// ahead names reads that will follow soon. They may travel with the next run; asked for before anything is written, they
	// are answered from what came back. A read that does not follow costs time and nothing else.
	ahead(needs []Need)
	// later carries a statement out whose result nobody waits for: on Postgres as late as with the next run, or with the
	// commit, at no round trip of its own. Its failure may be told that late.
	later(ctx context.Context, st *Stmt, args []any) error
	// discard forgets what later has not carried out yet.
	discard()
	// placesEvents reports whether an event gets its position when it is inserted.
	placesEvents() bool
}

// ask is one statement with what becomes of its result.
type ask struct {
	st   *Stmt
	args []any
	// each is called for every row until it returns false; it must not run statements. nil: the statement returns no rows.
	each func(scanner) (more bool, err error)
	// touched is how many rows a statement without each has changed.
	touched int64
}

// scanner is what a scan function reads from: a row.
type scanner interface{ Scan(dest ...any) error }

// namedRow is a row that knows the names of its columns; the rows of both databases are.
type namedRow interface {
	scanner
	Columns() []string
}

// ReadTx is one consistent look at the database. It ends with the function it was given to.
type ReadTx struct {
	ctx     context.Context // the transaction's own; a Tx's cannot be cancelled by its caller
	session session
	memo    memo
	shelf   *shelf // nil = nothing was read for several tasks at once
	touched int    // statements so far that may have changed what Around tells
	bumped  bool   // this transaction has raised a revision
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

// run carries statements out; after a failure nothing counts any more.
func (r *ReadTx) run(asks ...*ask) error {
	if r.err != nil {
		return r.err
	}
	for _, a := range asks {
		r.touch(a.st)
	}
	if st, err := r.session.run(r.ctx, asks...); err != nil {
		return r.fail(st, err)
	}
	return nil
}

// touch counts a statement, if it may change what Around tells.
func (r *ReadTx) touch(st *Stmt) {
	if st.touches {
		r.touched++
	}
	if st.writes {
		r.shelf = nil
	}
}

// exec runs a statement and returns how many rows it touched.
func (r *ReadTx) exec(st *Stmt, args ...any) (int64, error) {
	a := ask{st: st, args: args}
	err := r.run(&a)
	return a.touched, err
}

// later runs a statement whose result nobody waits for.
func (r *ReadTx) later(st *Stmt, args ...any) error {
	if r.err != nil {
		return r.err
	}
	r.touch(st)
	if err := r.session.later(r.ctx, st, args); err != nil {
		return r.fail(st, err)
	}
	return nil
}

// get reads at most one row with scan and reports whether there was one.
func (r *ReadTx) get(st *Stmt, scan func(scanner) error, args ...any) (found bool, err error) {
	err = r.run(&ask{st: st, args: args, each: func(s scanner) (bool, error) {
		found = true
		return false, scan(s)
	}})
	return found && err == nil, err
}

// list calls each for every row. each must not run statements: a connection carries one at a time.
func (r *ReadTx) list(st *Stmt, each func(scanner) error, args ...any) error {
	return r.run(&ask{st: st, args: args, each: func(s scanner) (bool, error) { return true, each(s) }})
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
