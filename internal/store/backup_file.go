package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	fairlead "github.com/fairlead/fairlead"
)

// BackupFile writes a consistent and verified copy of a SQLite database to a new file of mode 0600, while a server may
// write to it. It changes nothing in the database: it does not migrate it and takes no lock of its home. The copy carries
// the mark of one, so that a server that opens it makes it a new incarnation, as [Renew] does.
//
// A file that exists is a conflict; Postgres is refused with what to use instead.
func BackupFile(ctx context.Context, rawURL, to string) (err error) {
	path, isFile, err := parseURL(rawURL)
	if err != nil {
		return err
	}
	if !isFile {
		return fairlead.Errorf(fairlead.CodeRefused, "backup copies only a SQLite file, and this database is on Postgres").
			WithHint("use: pg_dump --format=custom --file=FILE URL")
	}
	if _, err := os.Stat(path); err != nil {
		return fairlead.Errorf(fairlead.CodeNotFound, "there is no database at %s", path).WithHint("name the home with --home, or the file with FAIRLEAD_DATABASE")
	}
	if _, err := os.Lstat(to); err == nil {
		return fairlead.Conflict(fairlead.ReasonBusy, "%s exists", to).WithHint("a backup overwrites nothing: name a new file")
	}
	// Until it is whole it has another name, beside its place: a link does not cross devices.
	made := filepath.Join(filepath.Dir(to), "."+filepath.Base(to)+".part")
	d := &sqlite{path: path, options: &Options{Now: time.Now}}
	if d.reader, err = sql.Open("sqlite", d.dsn(true)); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer func() { err = errors.Join(err, d.reader.Close()) }()
	if err := d.copyTo(ctx, made); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(made)) }()
	if err := markCopy(ctx, made); err != nil {
		return fmt.Errorf("verify copy: %w", err)
	}
	// A link, unlike a rename, overwrites nothing.
	if err := os.Link(made, to); err != nil {
		return fmt.Errorf("name copy: %w", err)
	}
	return syncDir(filepath.Dir(to))
}

// markCopy verifies a copy and marks it as one.
func markCopy(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=journal_mode(DELETE)&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var verdict string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fairlead.Errorf(fairlead.CodeInternal, "the copy is damaged: %s", verdict).WithHint("check the disk and the database itself")
	}
	_, err = db.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES ($1, '1') ON CONFLICT (key) DO UPDATE SET value = '1'`, copyKey)
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// copyKey marks a database in meta that is a copy nobody has served yet.
const copyKey = "is_copy"

// renewCopy makes a copy that is opened to be served a new incarnation: its log gets another epoch. Fences of runs need
// no more than the start of its server, which buries every node of the file and hands back their runs; claims that are
// younger than the copy are not in it, and their random ids come again nowhere.
func renewCopy(ctx context.Context, d dialect) (err error) {
	tx, err := d.handle().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	done, err := tx.ExecContext(ctx, `DELETE FROM meta WHERE key = $1`, copyKey)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, tx.Commit())
	}
	if _, err := tx.ExecContext(ctx, `UPDATE meta SET value = $2 WHERE key = $1`, logEpochKey, newEpoch()); err != nil {
		return err
	}
	return tx.Commit()
}
