package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"
	"time"

	fairlead "github.com/fairlead/fairlead"
)

//go:embed migrations
var embedded embed.FS

// Migrations returns the schema's files. They are never edited once released: their checksums stand in every database.
func Migrations() fs.FS {
	sub, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the directory is embedded above
	}
	return sub
}

// migration is one file: forward only, one transaction.
type migration struct {
	version  int64
	name     string
	text     string
	checksum string
}

// loadMigrations reads the files in the order of their numbers.
func loadMigrations(fsys fs.FS) ([]migration, error) {
	names, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	sort.Strings(names)
	var out []migration
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s: the name must begin with its number: %w", name, err)
		}
		if len(out) > 0 && out[len(out)-1].version == version {
			return nil, fmt.Errorf("migration %s: number used twice", name)
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		sum := sha256.Sum256(text)
		out = append(out, migration{version: version, name: name, text: string(text), checksum: hex.EncodeToString(sum[:])})
	}
	return out, nil
}

// migrate brings the schema to the newest version, or refuses a database that a newer binary made.
func migrate(ctx context.Context, d dialect, fsys fs.FS, now func() time.Time) (err error) {
	known, err := loadMigrations(fsys)
	if err != nil {
		return err
	}
	applied, err := appliedMigrations(ctx, d)
	if err != nil {
		return err
	}
	if pending, err := pendingMigrations(known, applied); err != nil || len(pending) == 0 {
		return err
	}
	release, err := d.guard(ctx, len(applied) > 0)
	if err != nil {
		return fmt.Errorf("prepare migration: %w", err)
	}
	defer release()
	if _, err := d.handle().ExecContext(ctx, d.script(migrationsTable)); err != nil {
		return fmt.Errorf("create schema_migrations: %w", err)
	}
	for _, m := range known {
		if err := m.apply(ctx, d, now()); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	return nil
}

const migrationsTable = `CREATE TABLE IF NOT EXISTS schema_migrations (
	version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)`

// appliedMigrations returns the checksums of what was applied, by version.
func appliedMigrations(ctx context.Context, d dialect) (map[int64]string, error) {
	var exists bool
	probe := `SELECT COUNT(*) > 0 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'`
	if d.name() == "postgres" {
		probe = `SELECT to_regclass('schema_migrations') IS NOT NULL`
	}
	if err := d.handle().QueryRowContext(ctx, probe).Scan(&exists); err != nil {
		return nil, fmt.Errorf("look for schema: %w", err)
	}
	if !exists {
		return nil, nil
	}
	rows, err := d.handle().QueryContext(ctx, `SELECT version, checksum FROM schema_migrations`)
	if err != nil {
		return nil, fmt.Errorf("read schema version: %w", err)
	}
	defer func() { _ = rows.Close() }()
	applied := map[int64]string{}
	for rows.Next() {
		var version int64
		var checksum string
		if err := rows.Scan(&version, &checksum); err != nil {
			return nil, fmt.Errorf("read schema version: %w", err)
		}
		applied[version] = checksum
	}
	return applied, rows.Err()
}

// pendingMigrations compares what the binary knows with what the database has.
func pendingMigrations(known []migration, applied map[int64]string) ([]migration, error) {
	var pending []migration
	matched := 0
	for _, m := range known {
		switch sum, ok := applied[m.version]; {
		case !ok:
			pending = append(pending, m)
		case sum != m.checksum:
			return nil, fairlead.Errorf(fairlead.CodeRefused, "the database was made by another build: migration %s differs", m.name).
				WithHint("start the version that made it, or restore a copy")
		default:
			matched++
		}
	}
	if matched < len(applied) {
		return nil, fairlead.Errorf(fairlead.CodeRefused, "the database is newer than this program").
			WithHint("start the newer fairlead, or restore the copy that was made before the upgrade")
	}
	return pending, nil
}

// apply runs the file and notes it, in one transaction; it does nothing when another process was faster.
func (m migration) apply(ctx context.Context, d dialect, now time.Time) error {
	tx, err := d.handle().BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo after the commit
	var seen int
	count := `SELECT COUNT(*) FROM schema_migrations WHERE version = ` + strconv.FormatInt(m.version, 10)
	if err := tx.QueryRowContext(ctx, count).Scan(&seen); err != nil {
		return fmt.Errorf("look again: %w", err)
	}
	if seen > 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, d.script(m.text)); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	if err := m.note(ctx, tx, now); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func (m migration) note(ctx context.Context, tx *sql.Tx, now time.Time) error {
	// Number and checksum are ours, and the name is a file's of the binary; $1 is understood by both drivers.
	_, err := tx.ExecContext(ctx, `INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)`,
		m.version, m.name, m.checksum, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("note: %w", err)
	}
	return nil
}

// section keeps the lines that stand for a dialect: those between "-- sqlite only" (or "-- postgres only") and "-- end",
// and all others.
func section(text, dialect string) string {
	var b strings.Builder
	only := ""
	for line := range strings.Lines(text) {
		switch strings.TrimSpace(line) {
		case "-- sqlite only":
			only = "sqlite"
		case "-- postgres only":
			only = "postgres"
		case "-- end":
			only = ""
		default:
			if only == "" || only == dialect {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}
