package archtest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the layer table into .golangci.yml")

func root(t *testing.T) string {
	t.Helper()
	dir, err := repoRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	pkgs, err := listPackages(root(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 2 {
		t.Fatalf("got %d packages, want the whole module", len(pkgs))
	}
	for _, f := range checkImports(pkgs) {
		t.Error(f)
	}
}

// A checker that finds nothing is worth nothing until it has found something.
func TestCheckerFindsBadImports(t *testing.T) {
	t.Parallel()
	const m = module + "/"
	tests := []struct {
		name string
		pkg  string
		imp  string
		want string // part of the fault, "" for none
	}{
		{"engine below control", m + "internal/engine", m + "internal/control", "against the layer table"},
		{"engine beside store", m + "internal/engine", m + "internal/store", "against the layer table"},
		{"store above engine, yet never", m + "internal/store", m + "internal/engine", "against the layer table"},
		{"api past control", m + "internal/api", m + "internal/store", "against the layer table"},
		{"siblings without an arrow", m + "internal/clock", m + "internal/worker", "against the layer table"},
		{"runtime that knows workflows", m + "internal/agent", m + "internal/workflow", "against the layer table"},
		{"port that knows its adapter", m + "internal/agent", m + "internal/agent/script", "against the layer table"},
		{"root that knows anything", module, m + "internal/policy", "against the layer table"},
		{"ours that no rule covers", m + "internal/engine", m + "internal/util", "against the layer table"},
		{"new package without a place", m + "internal/util", "fmt", "no place in the layer table"},
		{"pure layer with a context", m + "internal/policy", "context", "no clock, random or context"},
		{"vocabulary that reads files", module, "os", "no clock, random or context"},
		{"driver outside the store", m + "internal/control", "modernc.org/sqlite", "SQL lives in internal/store"},
		{"driver's part outside the store", m + "internal/api", "github.com/jackc/pgx/v5/stdlib", "SQL lives in internal/store"},

		{"engine on workflow", m + "internal/engine", m + "internal/workflow", ""},
		{"control on store", m + "internal/control", m + "internal/store", ""},
		{"adapter on its port", m + "internal/agent/script", m + "internal/agent", ""},
		{"suite beside its port", m + "internal/store/storetest", m + "internal/store", ""},
		{"anything on the vocabulary", m + "internal/hub", module, ""},
		{"driver in the store", m + "internal/store", "modernc.org/sqlite", ""},
		{"context above the pure layer", m + "internal/control", "context", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, f := range checkImports([]pkg{{ImportPath: tt.pkg, Imports: []string{tt.imp}}}) {
				got += f.String()
			}
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want a fault with %q", got, tt.want)
			}
		})
	}
}

// The table itself must make sense: every name in it has a rule, and arrows stay on their level.
func TestTableIsSound(t *testing.T) {
	t.Parallel()
	byPath := map[string]rule{}
	for _, r := range rules {
		if _, twice := byPath[r.path]; twice {
			t.Errorf("%s stands twice", r.path)
		}
		byPath[r.path] = r
	}
	for _, r := range rules {
		for _, s := range r.siblings {
			if to, ok := byPath[s]; !ok || to.level != r.level {
				t.Errorf("%s: sibling %s is not on its level", r.path, s)
			}
		}
		for _, d := range append(append([]string{}, r.down...), r.never...) {
			if to, ok := byPath[d]; !ok || to.level >= r.level {
				t.Errorf("%s: %s is not below it", r.path, d)
			}
		}
	}
}

// The linter knows the same table.
func TestDepguardHasTheSameTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(root(t), ".golangci.yml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), depguardBegin)
	got, after, ok2 := strings.Cut(rest, depguardEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no marked place for the layer table", path)
	}
	want := depguardRules()
	if *update {
		if err := os.WriteFile(path, []byte(before+depguardBegin+want+depguardEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run `go test ./internal/archtest -update`:\n%s", diff)
	}
}
