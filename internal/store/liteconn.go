package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// liteConn is one SQLite connection with its prepared statements. It connects at first use.
type liteConn struct {
	pool  *sql.DB
	conn  *sql.Conn
	stmts map[*Stmt]*sql.Stmt
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
	c.conn, c.stmts = conn, map[*Stmt]*sql.Stmt{}
	return nil
}

func (c *liteConn) prepared(st *Stmt) (*sql.Stmt, error) {
	if p := c.stmts[st]; p != nil {
		return p, nil
	}
	// Not on the caller's context: the statement stays.
	p, err := c.conn.PrepareContext(context.Background(), st.sqlite)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	c.stmts[st] = p
	return p, nil
}

func (c *liteConn) exec(ctx context.Context, st *Stmt, args []any) (sql.Result, error) {
	p, err := c.prepared(st) //nolint:sqlclosecheck // kept for the next time; reset closes it
	if err != nil {
		return nil, err
	}
	return p.ExecContext(ctx, args...)
}

func (c *liteConn) query(ctx context.Context, st *Stmt, args []any) (*sql.Rows, error) {
	if st.once {
		return c.conn.QueryContext(ctx, st.sqlite, args...)
	}
	p, err := c.prepared(st) //nolint:sqlclosecheck // kept for the next time; reset closes it
	if err != nil {
		return nil, err
	}
	return p.QueryContext(ctx, args...)
}

func (c *liteConn) queryRow(ctx context.Context, st *Stmt, args []any) *sql.Row {
	p, err := c.prepared(st) //nolint:sqlclosecheck // kept for the next time; reset closes it
	if err != nil {
		// The same text fails in the same way; only database/sql can make a Row that carries an error.
		return c.conn.QueryRowContext(ctx, st.sqlite, args...)
	}
	return p.QueryRowContext(ctx, args...)
}

// rollback ends whatever transaction is open. That none is open is no error: SQLite ends a transaction by itself after
// some failures.
func (c *liteConn) rollback() {
	if c.conn != nil {
		_, _ = c.conn.ExecContext(context.Background(), "ROLLBACK")
	}
}

// reset closes the connection; the next use opens a new one.
func (c *liteConn) reset() error {
	if c.conn == nil {
		return nil
	}
	var errs []error
	for _, p := range c.stmts {
		errs = append(errs, p.Close())
	}
	// The driver's connection must go too, not back to the pool.
	_ = c.conn.Raw(func(any) error { return errBadConn })
	errs = append(errs, c.conn.Close())
	c.conn, c.stmts = nil, nil
	err := errors.Join(errs...)
	if errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}
