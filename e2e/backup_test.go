package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A copy that is made while the server works is whole and private. Put back later, it is another incarnation: ids of
// events from before, and the work they told of, are of no use any more.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.save(kanban)
	task := s.task("plain")
	copied := filepath.Join(t.TempDir(), "copy.db")
	s.fl(t, 0, "backup", copied)
	if info := must(os.Stat(copied))(t); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode().Perm())
	}
	if said := s.fl(t, 4, "backup", copied); !strings.Contains(said, "exists") {
		t.Errorf("a second backup to the same file: %s", said)
	}
	if said := s.fl(t, -1, "backup", "--database", "postgres://127.0.0.1:1/none", copied+"2"); !strings.Contains(said, "pg_dump") {
		t.Errorf("a backup of Postgres: %s", said)
	}
	later := s.task("plain")
	before := s.logEpoch(t)
	s.stop()
	for _, part := range []string{"-wal", "-shm"} {
		_ = os.Remove(filepath.Join(s.home, "fairlead.db"+part))
	}
	if err := os.WriteFile(filepath.Join(s.home, "fairlead.db"), must(os.ReadFile(copied))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	s = s.again(options{})
	s.move(task.ID, "b")
	s.fl(t, 3, "task", "show", later.ID)
	restored := s.logEpoch(t)
	if restored == before {
		t.Error("the restored copy goes on with the old log's name")
	}
	s.stop()
	s = s.again(options{})
	if s.logEpoch(t) != restored {
		t.Error("each start makes another incarnation")
	}
}

// fl runs the command line on the server's home and returns what it said; code -1 is any but 0.
func (s *server) fl(t *testing.T, code int, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"--home", s.home, "--url", s.url}, args...)...)
	said, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code && (code != -1 || got <= 0) {
		t.Fatalf("%v: exit code %d, want %d (%v): %s", args, got, code, err, said)
	}
	return string(said)
}

// logEpoch is the name of the event log.
func (s *server) logEpoch(t *testing.T) string {
	t.Helper()
	name, _, _ := strings.Cut(s.head(t), "-")
	return name
}
