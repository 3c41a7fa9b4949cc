package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	fairlead "github.com/fairlead/fairlead"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	dialect dialect
	options Options
	signals *signals
	lock    *HomeLock
	closed  atomic.Bool
	epoch   string // of the event log
}

// Open opens the database at url and brings it to the newest schema. url is sqlite:///path, a plain path, or
// postgres://…. The file is created with mode 0600. The caller closes the database.
func Open(ctx context.Context, rawURL string, options *Options) (*DB, error) {
	db := &DB{options: options.withDefaults(), signals: newSignals()}
	path, isFile, err := parseURL(rawURL)
	if err != nil {
		return nil, err
	}
	if isFile {
		err = db.openSQLite(ctx, path)
	} else {
		err = db.openPostgres(ctx, rawURL)
	}
	if err != nil {
		return nil, err
	}
	if err := db.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", outward(db.dialect, err)), db.Close())
	}
	return db, nil
}

// prepare migrates, gives the event log its epoch, and starts the background work.
func (db *DB) prepare(ctx context.Context) error {
	if err := migrate(ctx, db.dialect, db.options.Migrations, db.options.Now); err != nil {
		return err
	}
	if db.options.Exclusive {
		if err := renewCopy(ctx, db.dialect); err != nil {
			return fmt.Errorf("renew copy: %w", err)
		}
	}
	epoch, err := ensureLogEpoch(ctx, db.dialect)
	if err != nil {
		return err
	}
	db.epoch = epoch
	db.dialect.start()
	return nil
}

func (db *DB) openSQLite(ctx context.Context, path string) error {
	if db.options.Exclusive {
		lock, err := LockHome(filepath.Dir(path))
		if err != nil {
			return err
		}
		db.lock = lock
	}
	d, err := openSQLite(ctx, path, &db.options, db.signals)
	if err != nil {
		return errors.Join(err, db.lock.Release())
	}
	db.dialect = d
	return nil
}

func (db *DB) openPostgres(ctx context.Context, rawURL string) error {
	d, err := openPostgres(ctx, rawURL, &db.options, db.signals)
	if err != nil {
		return err
	}
	db.dialect = d
	return nil
}

// Dialect returns "sqlite" or "postgres".
func (db *DB) Dialect() string { return db.dialect.name() }

// Close waits for running commands, ends the background work and gives the lock of the home back. It may be called
// more than once.
func (db *DB) Close() error {
	if db.closed.Swap(true) {
		return nil
	}
	return errors.Join(db.dialect.close(), db.lock.Release())
}

// Now is the store's clock.
func (db *DB) Now() time.Time { return db.options.Now().UTC().Truncate(time.Microsecond) }

// Write runs fn in one transaction and returns after its commit. fn may run more than once. A *fairlead.Error that fn
// returns is a refusal: nothing of the command is kept, and Write returns it. ctx bounds only the wait for a turn; once
// fn has begun, nothing but its own error keeps it from being committed. ErrUnknown means that it may or may not have
// been: send the command again under its operation id. fn must not call Write itself: on SQLite it would wait for its own
// turn to end.
func (db *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	if db.closed.Load() {
		return unavailable("the database is closed", "", ErrClosed)
	}
	c := &command{fn: fn, clock: db.options.Now, twice: db.options.RunTwice}
	if err := db.dialect.write(ctx, c); err != nil {
		return outward(db.dialect, err)
	}
	c.done()
	return nil
}

// Read runs fn on one consistent state. A read that takes longer than Options.ReadLimit is cut off.
func (db *DB) Read(ctx context.Context, fn func(*ReadTx) error) error {
	if db.closed.Load() {
		return unavailable("the database is closed", "", ErrClosed)
	}
	limited, cancel := context.WithTimeout(ctx, db.options.ReadLimit)
	defer cancel()
	err := db.dialect.read(limited, fn)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return unavailable("the read took too long", "ask for less at once", err)
	}
	return outward(db.dialect, err)
}

// Check prepares every statement of the package on the database.
func (db *DB) Check(ctx context.Context) error {
	var errs []error
	for _, st := range statements {
		if err := db.check(ctx, st); err != nil {
			errs = append(errs, fmt.Errorf("prepare %s: %w", st.name, err))
		}
	}
	return errors.Join(errs...)
}

func (db *DB) check(ctx context.Context, st *Stmt) (err error) {
	p, err := db.dialect.handle().PrepareContext(ctx, db.dialect.text(st))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	return nil
}

// parseURL returns the file of a SQLite url, or isFile false for Postgres.
func parseURL(raw string) (path string, isFile bool, err error) {
	scheme, rest, found := strings.Cut(raw, "://")
	switch {
	case !found && raw != "":
		return raw, true, nil
	case scheme == "postgres" || scheme == "postgresql":
		return "", false, nil
	case scheme == "sqlite" && rest != "":
		path, err := url.PathUnescape(rest)
		if err == nil {
			return path, true, nil
		}
	}
	return "", false, fairlead.Errorf(fairlead.CodeInvalid, "the database url is not understood").
		WithHint("use sqlite:///path/to/file, a plain path, or postgres://user@host/name")
}
