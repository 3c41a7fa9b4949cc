package mutation

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// verdict is what a mutant's test said.
type verdict int

const (
	red      verdict = iota // the test failed: the protection is tested
	survived                // it passed
	broken                  // the mutant does not compile, or its test did not run
)

// limit ends a test that hangs without its protection: that is red too.
const limit = 90 * time.Second

// TestEveryProtectionHasItsTest is tier T7: each mutant is a build of its own, tested on SQLite.
func TestEveryProtectionHasItsTest(t *testing.T) {
	if testing.Short() {
		t.Skip("some thirty builds")
	}
	t.Parallel()
	for _, m := range mutants {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			switch got, out := try(t, m); got {
			case survived:
				t.Errorf("with %q, %s stays green: nothing tests this protection", m.name, m.test)
			case broken:
				t.Errorf("%q could not be tried:\n%s", m.name, out)
			}
		})
	}
}

// TestSurvivorsAreSeen: the harness itself can say no.
func TestSurvivorsAreSeen(t *testing.T) {
	t.Parallel()
	if got, out := try(t, harmless); got != survived {
		t.Errorf("a mutant that changes nothing: got verdict %d\n%s", got, out)
	}
	missing := harmless
	missing.test = "TestThatIsNowhere"
	if got, _ := try(t, missing); got != broken {
		t.Errorf("a test that is nowhere: got verdict %d", got)
	}
	nonsense := harmless
	nonsense.new = "const MaxRepeat = nonsense"
	if got, _ := try(t, nonsense); got != broken {
		t.Errorf("a mutant that does not compile: got verdict %d", got)
	}
}

// try builds the test with the mutated copy in the place of its file, and runs it.
func try(t *testing.T, m mutant) (verdict, string) {
	t.Helper()
	dir := t.TempDir()
	overlay, err := overlay(dir, m)
	if err != nil {
		return broken, err.Error()
	}
	bin := filepath.Join(dir, "mutant.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-ldflags=-s -w", "-overlay", overlay, "-o", bin, "./"+m.pkg)
	build.Dir, build.Env = root(t), environment("CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return broken, string(out)
	}
	return run(t, m, bin)
}

func run(t *testing.T, m mutant, bin string) (verdict, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	test := exec.CommandContext(ctx, bin, "-test.v", "-test.count=1", "-test.failfast", "-test.run", "^"+m.test+"$")
	test.Dir, test.Env = filepath.Join(root(t), m.pkg), environment("FAIRLEAD_TEST_PATIENCE=3s")
	test.WaitDelay = time.Second
	out, err := test.CombinedOutput()
	text := string(out)
	switch {
	case !regexp.MustCompile(`(?m)^=== RUN +` + m.test + `$`).MatchString(text):
		return broken, text
	case err != nil && (strings.Contains(text, "--- FAIL: "+m.test) || strings.Contains(text, "panic: ") || strings.Contains(text, "fatal error: ") || ctx.Err() != nil):
		return red, text
	case err != nil:
		return broken, text
	}
	return survived, text
}

// environment is this process's, without what makes tests ask for a second database.
func environment(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "FAIRLEAD_TEST_POSTGRES=") || strings.HasPrefix(v, "CI=")
	})
	return append(env, more...)
}

// overlay writes the mutated file and the compiler's list of replacements.
func overlay(dir string, m mutant) (string, error) {
	path, err := filepath.Abs(filepath.Join("..", "..", m.file))
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("%s has the mutated text %d times, want once: bring the table up to date", m.file, n)
	}
	mutated := filepath.Join(dir, filepath.Base(path))
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, list, 0o600)
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
