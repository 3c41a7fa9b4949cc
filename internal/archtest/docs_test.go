package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	docs, err := documents(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		for _, f := range checkLinks(root(t), d, document(t, d)) {
			t.Error(f)
		}
	}
}

func TestLinkCheckerFindsFaults(t *testing.T) {
	t.Parallel()
	const text = "[a](docs/GLOSSARY.md) [b](docs/none.md) [c](https://example.org/x) [d](docs/GLOSSARY.md#the-task) [e](docs/GLOSSARY.md#none)"
	var got []string
	for _, f := range checkLinks(root(t), "README.md", text) {
		got = append(got, f.what)
	}
	want := []string{"links to docs/none.md, which is not there", "links to docs/GLOSSARY.md#none, but no heading has that name"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Every decision is in the index, and every entry of the index is a decision.
func TestDecisionsAreListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root(t), "docs", "adr", "[0-9]*.md"))
	if err != nil {
		t.Fatal(err)
	}
	index := document(t, "docs/adr/README.md")
	for _, f := range files {
		if name := filepath.Base(f); !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/adr/README.md does not list %s", name)
		}
	}
}

// Every import of others has its line of reason.
func TestDependenciesHaveReasons(t *testing.T) {
	t.Parallel()
	pkgs, err := listPackages(root(t))
	if err != nil {
		t.Fatal(err)
	}
	var imports []string
	for _, p := range pkgs {
		imports = slices.Concat(imports, p.Imports, p.TestImports, p.XTestImports)
	}
	missing, idle := unreasoned(imports, document(t, "docs/adr/0002-dependencies.md"))
	for _, imp := range missing {
		t.Errorf("%s is imported and has no reason in docs/adr/0002-dependencies.md", imp)
	}
	for _, m := range idle {
		t.Logf("docs/adr/0002-dependencies.md gives a reason for %s, which nothing imports", m)
	}
}

func TestUnreasoned(t *testing.T) {
	t.Parallel()
	imports := []string{"fmt", "net/http", module + "/internal/x", "a.example/b/c", "a.example/bc", "a.example/b", "a.example/bc"}
	missing, idle := unreasoned(imports, "| module | why |\n|---|---|\n| `a.example/b` | because |\n| `a.example/d` | not |\n")
	if diff := cmp.Diff([][]string{{"a.example/bc"}, {"a.example/d"}}, [][]string{missing, idle}); diff != "" {
		t.Error(diff)
	}
}

// A guarantee names scenarios that exist.
func TestGuaranteesNameScenarios(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for line := range strings.Lines(document(t, "docs/scenarios.txt")) {
		number, _, _ := strings.Cut(line, " ")
		known[number] = true
	}
	for line := range strings.Lines(document(t, "docs/GUARANTEES.md")) {
		shown, ok := strings.CutPrefix(line, "Shown by ")
		for _, number := range scenario.FindAllString(shown, -1) {
			if ok && !known[number] {
				t.Errorf("docs/GUARANTEES.md names %s, which docs/scenarios.txt does not list", number)
			}
		}
	}
}
