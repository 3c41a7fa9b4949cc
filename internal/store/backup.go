package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	fairlead "github.com/fairlead/fairlead"
)

// Backup writes a consistent copy of a SQLite database to a new file, while others write. On Postgres it refuses: the
// server's own tools do that better.
func (db *DB) Backup(ctx context.Context, path string) error {
	d, ok := db.dialect.(*sqlite)
	if !ok {
		return fairlead.Errorf(fairlead.CodeRefused, "backup copies only a SQLite file").WithHint("use pg_dump or the server's own backup")
	}
	return d.copyTo(ctx, path)
}

// copyTo makes the copy with mode 0600. An unfinished copy is removed.
func (d *sqlite) copyTo(ctx context.Context, path string) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("create copy: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("create copy: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	conn, err := d.reader.Conn(ctx)
	if err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	// query_only forbids it to write even another file, so this connection is opened up and thrown away.
	defer func() {
		_ = conn.Raw(func(any) error { return errBadConn })
		_ = conn.Close()
	}()
	if _, err := conn.ExecContext(ctx, `PRAGMA query_only = 0`); err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	if _, err := conn.ExecContext(ctx, `VACUUM INTO ?1`, path); err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	return nil
}

var stmtEpochRenew = define("epoch_renew", `UPDATE meta SET value = ?2 WHERE key = ?1`)

// Renew makes a restored copy a new incarnation, before it is served: its log gets another epoch, so that readers who
// saw more than the copy holds begin anew instead of reading other events under known ids.
func Renew(ctx context.Context, url string) (err error) {
	db, err := Open(ctx, url, &Options{Exclusive: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Write(ctx, func(tx *Tx) error {
		_, err := tx.exec(stmtEpochRenew, logEpochKey, newEpoch())
		return err
	})
}

// guard makes a copy beside the file before an upgrade; the writer's transactions keep other processes out.
func (d *sqlite) guard(ctx context.Context, upgrade bool) (func(), error) {
	if !upgrade {
		return func() {}, nil
	}
	path := d.path + ".before-upgrade-" + d.options.Now().UTC().Format("20060102T150405.000000Z")
	return func() {}, d.copyTo(ctx, path)
}
