package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// gate is a directory that a scripted agent's shell and a test speak through.
type gate struct {
	t   testing.TB
	dir string
}

func newGate(t testing.TB) gate { return gate{t, t.TempDir()} }

// wait is a shell command that tells "here" and goes on when the gate is open. Its children have left its session, and
// take neither hang-up nor a friendly signal for an answer.
func (g gate) wait() string {
	return strings.ReplaceAll(`for p in $(cat @/pids 2>/dev/null); do kill -0 $p 2>/dev/null && echo $p >> @/overlap; done; `+
		`setsid nohup sh -c 'trap "" TERM HUP INT; echo $$ >> @/pids; while [ ! -e @/open ]; do sleep 0.02; done' >/dev/null 2>&1 & `+
		`echo here >> @/here; while [ ! -e @/open ]; do sleep 0.02; done; echo through >> @/through`, "@", g.dir)
}

func (g gate) open() {
	if err := os.WriteFile(filepath.Join(g.dir, "open"), nil, 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// count is how often something was told.
func (g gate) count(what string) int {
	b, err := os.ReadFile(filepath.Join(g.dir, what))
	if err != nil {
		return 0
	}
	return strings.Count(string(b), "\n")
}

// here waits until the shell has come to the gate n times.
func (g gate) here(n int) {
	g.t.Helper()
	poll(g.t, "an agent at the gate", deadline, func() bool { return g.count("here") >= n && g.count("pids") >= n })
}

// waits is a script whose first rule waits at the gate.
func (g gate) waits(more string) string {
	return "  - do:\n      - tool: {name: shell, args: {command: " + quoted(g.wait()) + "}}\n" + more
}

// quoted writes a text as a YAML scalar.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
