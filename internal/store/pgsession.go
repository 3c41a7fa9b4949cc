package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pgSession is a transaction on one Postgres connection. What is said to it travels in batches: BEGIN and everything
// that nobody waits for go out with the next statement that somebody does wait for, and the last of it with COMMIT. A
// round trip costs more than most statements do.
type pgSession struct {
	pool    *pgxpool.Pool
	trips   func([]string)
	conn    *pgxpool.Conn // nil before the first batch
	begun   bool          // a batch has come back
	waiting []*ask        // not sent yet, in order
	needs   []Need        // to travel with the next batch
	early   []*early      // answers that nobody has asked for yet
}

var _ session = (*pgSession)(nil)

// newSession is a transaction that starts with its first batch.
func (d *postgres) newSession(begin *Stmt) *pgSession {
	return &pgSession{pool: d.pool, trips: d.options.Trips, waiting: []*ask{{st: begin}}}
}

// The transactions' own statements, in Postgres' words.
var (
	pgBegin     = &Stmt{name: "begin", postgres: "BEGIN"}
	pgBeginRead = &Stmt{name: "begin", postgres: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}
	pgCommit    = &Stmt{name: "commit", postgres: "COMMIT"}
)

// run implements session.
func (s *pgSession) run(ctx context.Context, asks ...*ask) (*Stmt, error) {
	if st, done, err := s.fromEarly(asks); done {
		return st, err
	}
	for _, a := range asks {
		if a.each == nil || a.st.writes || a.st.locks { // what was read before may not be so any more
			s.early = nil
		}
	}
	all := append(s.waiting, asks...)
	s.waiting = nil
	return s.send(ctx, append(all, s.takeNeeds(asks)...))
}

// later implements session.
func (s *pgSession) later(_ context.Context, st *Stmt, args []any) error {
	plain, err := plainArgs(args)
	if err != nil { // now, while it is known whose they are
		return err
	}
	s.waiting = append(s.waiting, &ask{st: st, args: plain})
	s.early = nil // asked for now, a read must see this
	return nil
}

// discard implements session.
func (s *pgSession) discard() { s.waiting, s.needs, s.early = nil, nil, nil }

// placesEvents is false: commits and insertions come in different orders, so a sequencer gives positions afterwards.
func (s *pgSession) placesEvents() bool { return false }

// commit sends what waits and COMMIT.
func (s *pgSession) commit(ctx context.Context) error {
	s.needs = nil
	_, err := s.run(ctx, &ask{st: pgCommit})
	return err
}

// flush sends what waits.
func (s *pgSession) flush(ctx context.Context) error {
	if len(s.waiting) == 0 {
		return nil
	}
	_, err := s.run(ctx)
	return err
}

// end gives the transaction up, if it has not ended, and the connection back. A connection that cannot say so is closed.
func (s *pgSession) end(ctx context.Context) {
	s.waiting = nil
	if s.conn == nil {
		return
	}
	if c := s.conn.Conn(); !c.IsClosed() && c.PgConn().TxStatus() != idle {
		if _, err := c.Exec(ctx, "ROLLBACK"); err != nil {
			_ = c.Close(ctx)
		}
	}
	s.conn.Release()
	s.conn = nil
}

// idle is what the server says of a connection without a transaction.
const idle = 'I'

// send carries a batch out. A pooled connection may have died while nobody used it: if the first batch finds it so and
// holds no COMMIT, nothing has happened and it goes out again on a fresh one.
func (s *pgSession) send(ctx context.Context, asks []*ask) (*Stmt, error) {
	for fresh := false; ; fresh = true {
		if s.conn == nil {
			conn, err := s.pool.Acquire(ctx)
			if err != nil {
				return asks[0].st, err
			}
			s.conn = conn
		}
		st, err := s.batch(ctx, asks)
		if err == nil || s.begun || fresh || asks[len(asks)-1].st == pgCommit || !isLost(err) {
			s.begun = true
			return st, err
		}
		s.end(ctx)
		s.pool.Reset() // the others have most likely died with it
	}
}

// batch is one round trip. After the first failure the server skips the rest of it, COMMIT too.
func (s *pgSession) batch(ctx context.Context, asks []*ask) (*Stmt, error) {
	var b pgx.Batch
	for _, a := range asks {
		plain, err := plainArgs(a.args)
		if err != nil {
			return a.st, err
		}
		b.Queue(a.st.postgres, plain...)
	}
	s.tell(asks)
	results := s.conn.SendBatch(ctx, &b)
	for i, a := range asks {
		if err := take(results, a); err != nil {
			_ = results.Close() // the same failure again
			s.begun = s.begun || i > 0
			return a.st, a.verdict(err)
		}
	}
	if err := results.Close(); err != nil {
		return asks[len(asks)-1].st, err
	}
	return nil, nil
}

// tell names the statements of a round trip to whoever counts them.
func (s *pgSession) tell(asks []*ask) {
	if s.trips == nil {
		return
	}
	names := make([]string, len(asks))
	for i, a := range asks {
		names[i] = a.st.name
	}
	s.trips(names)
}

// take reads the result of the batch's next statement.
func take(results pgx.BatchResults, a *ask) error {
	if a.each == nil {
		tag, err := results.Exec()
		a.touched = tag.RowsAffected()
		if err == nil && a.st == pgCommit && tag.String() == "ROLLBACK" {
			return pgx.ErrTxCommitRollback
		}
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	row := pgRow{rows: rows}
	for more := true; more && err == nil && rows.Next(); {
		more, err = a.each(&row)
	}
	rows.Close()
	return errors.Join(err, rows.Err())
}

// verdict turns the failure of a compare and swap into its meaning.
func (a *ask) verdict(err error) error {
	var e *pgconn.PgError
	if a.st.saves != "" && errors.As(err, &e) && e.Code == divisionByZero {
		return swapped(a.st.saves)
	}
	return err
}

// divisionByZero is how a compare and swap says that it touched no row; see defineSave.
const divisionByZero = "22012"

// plainArgs turns arguments into the few kinds that columns have.
func plainArgs(args []any) ([]any, error) {
	plain := make([]any, len(args))
	for i, a := range args {
		v, err := valueOf(a)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		plain[i] = v
	}
	return plain, nil
}
