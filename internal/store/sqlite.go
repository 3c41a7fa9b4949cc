package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	sqlitelib "modernc.org/sqlite/lib"

	_ "modernc.org/sqlite" // the driver
)

// sqlite is one file: one writing connection, and a pool of connections that can only read.
type sqlite struct {
	path    string
	options *Options
	writer  *sql.DB
	reader  *sql.DB
	readers chan *liteConn
	group   *group
	closing sync.Once
}

// openSQLite opens the file and its connections; migrations have not run yet.
func openSQLite(ctx context.Context, path string, options *Options, s *signals) (*sqlite, error) {
	if err := createPrivate(path); err != nil {
		return nil, err
	}
	d := &sqlite{path: path, options: options, readers: make(chan *liteConn, options.Readers)}
	var err error
	if d.writer, err = sql.Open("sqlite", d.dsn(false)); err != nil {
		return nil, fmt.Errorf("open writer: %w", err)
	}
	d.writer.SetMaxOpenConns(1)
	if d.reader, err = sql.Open("sqlite", d.dsn(true)); err != nil {
		return nil, errors.Join(fmt.Errorf("open reader: %w", err), d.writer.Close())
	}
	d.reader.SetMaxIdleConns(options.Readers)
	if err := d.writer.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), d.writer.Close(), d.reader.Close())
	}
	for range options.Readers {
		d.readers <- &liteConn{pool: d.reader}
	}
	d.group = newGroup(d, s)
	return d, nil
}

// createPrivate makes the file with mode 0600 before SQLite would make it with a wider one; the write-ahead log and
// its index take their mode from it.
func createPrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create home: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// dsn sets busy_timeout before anything that could meet a lock. Every write transaction begins IMMEDIATE: one that
// upgraded later would fail at once whenever another had written in between.
func (d *sqlite) dsn(readOnly bool) string {
	q := url.Values{}
	q.Add("_pragma", "busy_timeout(5000)")
	q.Add("_pragma", "journal_mode(WAL)")
	q.Add("_pragma", "synchronous(FULL)")
	q.Add("_pragma", "foreign_keys(1)")
	q.Add("_pragma", "temp_store(MEMORY)")
	if readOnly {
		q.Add("_pragma", "query_only(1)")
	} else {
		q.Add("_txlock", "immediate")
		q.Add("_pragma", "cache_size(-16000)")
		q.Add("_pragma", "wal_autocheckpoint(4000)")
	}
	return "file:" + (&url.URL{Path: d.path}).EscapedPath() + "?" + q.Encode()
}

func (d *sqlite) name() string         { return "sqlite" }
func (d *sqlite) text(st *Stmt) string { return st.sqlite }
func (d *sqlite) handle() *sql.DB      { return d.writer }
func (d *sqlite) start()               { d.group.start() }

func (d *sqlite) script(text string) string {
	return strings.NewReplacer("{{c}}", "", "{{serial}}", "INTEGER").Replace(section(text, "sqlite"))
}

// classify reads SQLite's result codes. Anything else, an error of a caller's function for one, is classOther.
func (d *sqlite) classify(err error) errorClass {
	var coded interface{ Code() int }
	if !errors.As(err, &coded) {
		return classOther
	}
	switch coded.Code() & 0xff {
	case sqlitelib.SQLITE_CONSTRAINT:
		return classConstraint
	case sqlitelib.SQLITE_BUSY, sqlitelib.SQLITE_LOCKED:
		return classBusy
	case sqlitelib.SQLITE_FULL:
		return classFull
	case sqlitelib.SQLITE_IOERR:
		return classIO
	}
	return classOther
}

// read runs fn on a reading connection. The snapshot ends when ctx does, even while fn is busy elsewhere: an old
// snapshot keeps the write-ahead log from being reset.
func (d *sqlite) read(ctx context.Context, fn func(*ReadTx) error) (err error) {
	var c *liteConn
	select {
	case c = <-d.readers:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { d.readers <- c }()
	if err := c.connect(ctx); err != nil {
		return err
	}
	if _, err := c.exec(ctx, stmtBeginRead, nil); err != nil {
		return errors.Join(err, c.reset())
	}
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		c.rollback()
	})
	// Also when fn panics: the next reader of the connection must find neither this snapshot nor its end.
	defer func() {
		if stop() {
			c.rollback()
			return
		}
		<-cut
		err = errors.Join(err, ctx.Err())
	}()
	r := &ReadTx{ctx: ctx, session: c}
	if err := fn(r); err != nil {
		return err
	}
	return r.err
}

// write hands the command to the group and waits for its commit.
func (d *sqlite) write(ctx context.Context, c *command) error { return d.group.write(ctx, c) }

// close ends the group, then every connection; the last one to close checkpoints the log.
func (d *sqlite) close() (err error) {
	d.closing.Do(func() {
		err = d.group.close()
		for range d.options.Readers {
			err = errors.Join(err, (<-d.readers).reset())
		}
		err = errors.Join(err, d.reader.Close(), d.writer.Close())
	})
	return err
}

var stmtBeginRead = define("begin_read", `BEGIN`)
