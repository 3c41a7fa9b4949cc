package e2e

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// S6: a binary that is older than its database refuses to start, says what to do, and changes not one byte; mended, the
// home works on.
func TestS6_OlderBinaryRefuses(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.save(kanban)
	task := s.task("plain")
	s.stop()
	path := filepath.Join(s.home, "fairlead.db")
	schema(t, path, "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (9999, '9999_later.sql', 'x', 1)")
	before := must(os.ReadFile(path))(t)
	again, err := launch(t, options{home: s.home})
	if err == nil || again.code != 5 || !strings.Contains(err.Error(), "newer than this program") || !strings.Contains(err.Error(), "→") {
		t.Fatalf("a newer database: %v", err)
	}
	if string(must(os.ReadFile(path))(t)) != string(before) {
		t.Error("the refused start changed the database")
	}
	schema(t, path, "DELETE FROM schema_migrations WHERE version = 9999")
	s = s.again(options{})
	s.move(task.ID, "b")
}

// schema runs one statement on the database of a server that is down.
func schema(t *testing.T, path, statement string) {
	t.Helper()
	db := must(sql.Open("sqlite", path))(t)
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
