package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
)

// liteConn is one SQLite connection with its prepared statements. It connects at first use.
//
// Statements go straight to the driver: a command runs some thirty small ones, and database/sql spends more on each of
// them (locks of the pool, a watcher, conversions by reflection) than SQLite does. The pool still makes the connection
// and ends it; while it is checked out here nobody else has it.
type liteConn struct {
	pool *sql.DB
	conn *sql.Conn

	mu    sync.Mutex // the connection runs one thing at a time; a reader's limit ends its transaction from outside
	raw   driver.Conn
	stmts map[*Stmt]driver.Stmt
	args  []driver.NamedValue // of the statement that is starting
}

var _ session = (*liteConn)(nil)

func (c *liteConn) connect(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	conn, err := c.pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	err = conn.Raw(func(v any) error {
		raw, ok := v.(driver.Conn)
		if !ok {
			return fmt.Errorf("connect: the driver's connection is a %T", v)
		}
		c.raw = raw
		return nil
	})
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	c.conn, c.stmts = conn, map[*Stmt]driver.Stmt{}
	return nil
}

// prepared returns the statement and whether the caller has to close it.
func (c *liteConn) prepared(st *Stmt) (p driver.Stmt, once bool, err error) {
	if p := c.stmts[st]; p != nil {
		return p, false, nil
	}
	if p, err = c.raw.Prepare(st.sqlite); err != nil {
		return nil, false, fmt.Errorf("prepare: %w", err)
	}
	if !st.once {
		c.stmts[st] = p
	}
	return p, st.once, nil
}

// start prepares a statement and its arguments.
func (c *liteConn) start(ctx context.Context, st *Stmt, args []any) (p driver.Stmt, once bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if p, once, err = c.prepared(st); err != nil {
		return nil, false, err
	}
	if c.args, err = named(c.args[:0], st.order, args); err != nil {
		return nil, false, fmt.Errorf("read arguments: %w", err)
	}
	return p, once, nil
}

func (c *liteConn) exec(ctx context.Context, st *Stmt, args []any) (n int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, once, err := c.start(ctx, st, args)
	if err != nil {
		return 0, err
	}
	if once {
		defer func() { err = errors.Join(err, p.Close()) }()
	}
	runner, ok := p.(driver.StmtExecContext)
	if !ok {
		return 0, fmt.Errorf("the driver's statement is a %T", p)
	}
	res, err := runner.ExecContext(ctx, c.args)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (c *liteConn) query(ctx context.Context, st *Stmt, args []any) (*liteRows, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, once, err := c.start(ctx, st, args)
	if err != nil {
		return nil, err
	}
	runner, ok := p.(driver.StmtQueryContext)
	if !ok {
		return nil, fmt.Errorf("the driver's statement is a %T", p)
	}
	rows, err := runner.QueryContext(ctx, c.args)
	if err != nil {
		if once {
			err = errors.Join(err, p.Close())
		}
		return nil, err
	}
	r := &liteRows{conn: c, ctx: ctx, rows: rows}
	if once {
		r.once = p
	}
	return r, nil
}

// run implements session.
func (c *liteConn) run(ctx context.Context, asks ...*ask) (*Stmt, error) {
	for _, a := range asks {
		if err := c.ask(ctx, a); err != nil {
			return a.st, err
		}
	}
	return nil, nil
}

func (c *liteConn) ask(ctx context.Context, a *ask) (err error) {
	if a.each == nil {
		a.touched, err = c.exec(ctx, a.st, a.args)
		return err
	}
	rows, err := c.query(ctx, a.st, a.args)
	if err != nil {
		return err
	}
	for more := true; more && err == nil && rows.Next(); {
		more, err = a.each(rows)
	}
	// A statement that writes and returns its row is complete only when its rows are closed.
	return errors.Join(err, rows.Err(), rows.Close())
}

// later implements session: there is no round trip to save.
func (c *liteConn) later(ctx context.Context, st *Stmt, args []any) error {
	n, err := c.exec(ctx, st, args)
	if err == nil && n == 0 && st.saves != "" {
		return swapped(st.saves)
	}
	return err
}

func (c *liteConn) discard() {}

// ahead implements session: a read costs no more alone.
func (c *liteConn) ahead([]Need) {}

// placesEvents is true: the one writer gives an event its position when it inserts it.
func (c *liteConn) placesEvents() bool { return true }

// rollback ends whatever transaction is open. That none is open is no error: SQLite ends a transaction by itself after
// some failures.
func (c *liteConn) rollback() {
	if c.conn != nil {
		_, _ = c.exec(context.Background(), stmtRollback, nil)
	}
}

// reset closes the connection; the next use opens a new one.
func (c *liteConn) reset() error {
	if c.conn == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, p := range c.stmts {
		errs = append(errs, p.Close())
	}
	// The driver's connection must go too, not back to the pool.
	_ = c.conn.Raw(func(any) error { return errBadConn })
	errs = append(errs, c.conn.Close())
	c.conn, c.raw, c.stmts = nil, nil, nil
	err := errors.Join(errs...)
	if errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}

var stmtRollback = define("rollback", `ROLLBACK`)
