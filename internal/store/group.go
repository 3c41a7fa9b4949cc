package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"
)

// errBadConn tells database/sql to throw a connection away.
var errBadConn = driver.ErrBadConn

// group lets concurrent commands share one durable commit. Each runs in a savepoint of its own, one after the other,
// in its caller's goroutine but on a context of the group's, which no caller's timeout can cancel. Nothing is told to
// any caller before COMMIT has returned.
type group struct {
	db      *sqlite
	signals *signals
	conn    *liteConn
	in      chan *member
	stop    chan struct{}
	ended   chan struct{}
	once    sync.Once
	started bool
	// broken is set after an I/O error in COMMIT: nothing may be written any more, because what the file holds is not
	// known.
	broken error
	// lastCap is when the log was last truncated, or could not be.
	lastCap time.Time
	// fault lets a test make the named point fail.
	fault func(point string) error
}

// member is one command on its way through a batch.
type member struct {
	command *command
	turn    chan struct{}
	tried   chan error
	outcome chan error
	final   bool  // it will not run again
	err     error // of the last try
	gone    bool  // its goroutine ended inside the function
}

func newMember(c *command) *member {
	return &member{command: c, turn: make(chan struct{}), tried: make(chan error, 1), outcome: make(chan error, 1)}
}

func newGroup(db *sqlite, s *signals) *group {
	return &group{
		db: db, signals: s, conn: &liteConn{pool: db.writer},
		in: make(chan *member), stop: make(chan struct{}), ended: make(chan struct{}),
	}
}

func (g *group) start() {
	g.started = true
	go g.run()
}

// run is the only goroutine that uses the writing connection, apart from the members it lends it to.
func (g *group) run() {
	defer close(g.ended)
	for {
		select {
		case m := <-g.in:
			g.batch(m)
			g.capLog()
		case <-g.stop:
			return
		}
	}
}

func (g *group) close() error {
	g.once.Do(func() {
		close(g.stop)
		if g.started {
			<-g.ended
		}
	})
	return g.conn.reset()
}

// write is the caller's side: wait for a turn, run, wait for the outcome.
func (g *group) write(ctx context.Context, c *command) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m := newMember(c)
	select {
	case g.in <- m:
	case <-ctx.Done():
		return ctx.Err()
	case <-g.stop:
		return unavailable("the database is closed", "", ErrClosed)
	}
	return g.serve(m)
}

// serve runs the function whenever it is the member's turn, and returns the outcome.
func (g *group) serve(m *member) error {
	for {
		select {
		case <-m.turn:
			g.try(m)
		case err := <-m.outcome:
			return err
		}
	}
}

// errGone stands for a function that ended its goroutine.
var errGone = errors.New("the command's goroutine ended")

// try runs the function once, in the caller's goroutine.
func (g *group) try(m *member) {
	err := errGone
	defer func() { m.tried <- err }()
	err = m.command.attempt(ReadTx{ctx: context.Background(), session: g.conn})
}

// lend gives the connection to a member for one try and takes it back.
func (g *group) lend(m *member) error {
	m.turn <- struct{}{}
	m.err = <-m.tried
	var panicked *PanicError
	m.gone = errors.Is(m.err, errGone)
	m.final = m.gone || errors.As(m.err, &panicked)
	return m.err
}

// batch runs the first member and everybody who arrives meanwhile, and commits them together.
func (g *group) batch(first *member) {
	if err := g.begin(); err != nil {
		first.outcome <- err
		return
	}
	var members []*member
	for m := first; m != nil; m = g.next(len(members)) {
		members = append(members, m)
		if !g.join(m) {
			g.abort(members)
			return
		}
	}
	if err := g.commit(); err != nil {
		if g.fatal(err) {
			g.deliver(members, func(*member) error { return unknown(err) })
			return
		}
		g.abort(members)
		return
	}
	g.deliver(members, func(m *member) error { return m.err })
}

// next returns a member that waits right now, or nil.
func (g *group) next(n int) *member {
	if n >= g.db.options.BatchLimit {
		return nil
	}
	select {
	case m := <-g.in:
		return m
	default:
		return nil
	}
}

// join runs one member in a savepoint. It reports false when the whole batch has to be given up: after any error but a
// refusal or a constraint, SQLite may have rolled back the transaction, and what followed would commit one by one.
func (g *group) join(m *member) bool {
	if g.step(stmtSavepoint) != nil {
		return false
	}
	if err := g.lend(m); err == nil {
		return g.step(stmtRelease) == nil
	}
	if m.final || !classOf(g.db, m.err).rollsBackAlone() {
		return false
	}
	return g.step(stmtRollbackTo) == nil && g.step(stmtRelease) == nil
}

// abort undoes the batch and runs each member again, alone.
func (g *group) abort(members []*member) {
	g.conn.rollback()
	for _, m := range members {
		if !m.final {
			m.err = g.alone(m)
		}
		g.deliver([]*member{m}, func(m *member) error { return m.err })
	}
}

// alone runs one member in a transaction of its own.
func (g *group) alone(m *member) error {
	if err := g.begin(); err != nil {
		return err
	}
	if err := g.lend(m); err != nil {
		g.conn.rollback()
		return err
	}
	err := g.commit()
	if err == nil {
		return nil
	}
	if g.fatal(err) {
		return unknown(err)
	}
	g.conn.rollback()
	return err
}

// deliver tells the members, and wakes whoever the committed ones want woken.
func (g *group) deliver(members []*member, outcome func(*member) error) {
	var topics Topic
	for _, m := range members {
		err := outcome(m)
		if err == nil {
			topics |= m.command.last.topics
		}
		m.outcome <- err
	}
	g.signals.raise(topics)
}

// begin opens a write transaction, on a new connection when the old one is in no state to.
func (g *group) begin() error {
	if g.broken != nil {
		return unknown(g.broken)
	}
	ctx := context.Background()
	if err := g.conn.connect(ctx); err != nil {
		return err
	}
	err := g.point("begin", stmtBegin)
	if err == nil || g.db.classify(err) != classOther {
		return err
	}
	if err := errors.Join(g.conn.reset(), g.conn.connect(ctx)); err != nil {
		return err
	}
	return g.point("begin", stmtBegin)
}

func (g *group) commit() error { return g.point("commit", stmtCommit) }

func (g *group) step(st *Stmt) error { return g.point(st.name, st) }

// point runs a statement of the group's own, unless a test wants it to fail.
func (g *group) point(name string, st *Stmt) error {
	if g.fault != nil {
		if err := g.fault(name); err != nil {
			return err
		}
	}
	if _, err := g.conn.exec(context.Background(), st, nil); err != nil {
		return fmt.Errorf("%s: %w", st.name, err)
	}
	return nil
}

// fatal reports whether an error of COMMIT ends the process.
func (g *group) fatal(err error) bool {
	if g.db.classify(err) != classIO {
		return false
	}
	g.broken = err
	g.conn.rollback()
	g.db.options.Fatal(err)
	return true
}

var (
	stmtBegin      = define("begin", `BEGIN {{immediate}}`)
	stmtCommit     = define("commit", `COMMIT`)
	stmtSavepoint  = define("savepoint", `SAVEPOINT member`)
	stmtRelease    = define("release", `RELEASE SAVEPOINT member`)
	stmtRollbackTo = define("rollback_to", `ROLLBACK TO SAVEPOINT member`)
)
