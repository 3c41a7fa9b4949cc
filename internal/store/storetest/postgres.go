package storetest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/fairlead/fairlead/internal/store"
)

// Postgres makes an empty database on the server FAIRLEAD_TEST_POSTGRES names, and drops it when the test ends.
func Postgres(t testing.TB) Backend {
	t.Helper()
	server := os.Getenv("FAIRLEAD_TEST_POSTGRES")
	if server == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("FAIRLEAD_TEST_POSTGRES is not set: CI must test both databases")
		}
		t.Skip("FAIRLEAD_TEST_POSTGRES is not set: the Postgres half is skipped (scripts/with-postgres.sh runs it)")
	}
	b, drop, err := create(t.Context(), server)
	if err != nil {
		t.Fatalf("create test database: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Errorf("drop test database: %v", err)
		}
	})
	return b
}

// template is made once a process and server: copying a migrated database is much faster than migrating one.
var template = sync.OnceValues(makeTemplate)

func create(ctx context.Context, server string) (Backend, func() error, error) {
	source, err := template()
	if err != nil {
		return Backend{}, nil, err
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		return Backend{}, nil, fmt.Errorf("connect: %w", err)
	}
	name := "fairlead_test_" + strings.ToLower(rand.Text())
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+name+" TEMPLATE "+source); err != nil {
		_ = admin.Close()
		return Backend{}, nil, fmt.Errorf("copy template: %w", err)
	}
	drop := func() error {
		defer func() { _ = admin.Close() }()
		_, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		return err
	}
	u, err := withDatabase(server, name)
	return Backend{Name: "postgres", URL: u}, drop, err
}

// makeTemplate returns the name of a migrated database without rows. Its name carries the schema's checksum, so that
// processes share it and a changed schema makes a new one.
func makeTemplate() (name string, err error) {
	ctx := context.Background()
	server := os.Getenv("FAIRLEAD_TEST_POSTGRES")
	admin, err := sql.Open("pgx", server)
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = admin.Close() }()
	conn, err := admin.Conn(ctx)
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close() }()
	sum, err := checksum(store.Migrations())
	if err != nil {
		return "", err
	}
	name = "fairlead_template_" + sum
	const lock = 0x6661_6972_7465
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", lock); err != nil {
		return "", fmt.Errorf("lock template: %w", err)
	}
	defer func() { _, _ = conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", lock) }()
	var there bool
	if err := conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&there); err != nil || there {
		return name, err
	}
	return name, draftTemplate(ctx, conn, server, name)
}

// draftTemplate builds the template under another name, so that a broken one is never copied.
func draftTemplate(ctx context.Context, conn *sql.Conn, server, name string) error {
	draft := name + "_draft"
	for _, q := range []string{"DROP DATABASE IF EXISTS " + draft + " WITH (FORCE)", "CREATE DATABASE " + draft + " TEMPLATE template0"} {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("make template: %w", err)
		}
	}
	u, err := withDatabase(server, draft)
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, u, nil)
	if err != nil {
		return fmt.Errorf("migrate template: %w", err)
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("migrate template: %w", err)
	}
	// Each copy makes a log epoch of its own, like any new database.
	raw, err := sql.Open("pgx", u)
	if err != nil {
		return fmt.Errorf("clean template: %w", err)
	}
	_, err = raw.ExecContext(ctx, "DELETE FROM meta")
	if closeErr := raw.Close(); err != nil || closeErr != nil {
		return fmt.Errorf("clean template: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "ALTER DATABASE "+draft+" RENAME TO "+name); err != nil {
		return fmt.Errorf("name template: %w", err)
	}
	return nil
}

func withDatabase(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("parse server url: %w", err)
	}
	u.Path = "/" + name
	return u.String(), nil
}

func checksum(fsys fs.FS) (string, error) {
	h := sha256.New()
	names, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return "", fmt.Errorf("list migrations: %w", err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return "", fmt.Errorf("read migration: %w", err)
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
