package agenttest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// innocent are the names of the vocabulary that a runtime may use: errors and their classes, nothing of the board.
func innocent(name string) bool {
	switch name {
	case "Error", "Errorf", "Failure", "ErrorClass", "ErrorCode", "IsCode", "Conflict", "FieldError", "Code":
		return true
	}
	return strings.HasPrefix(name, "Class") || strings.HasPrefix(name, "Code") || strings.HasPrefix(name, "Reason")
}

// CheckIgnorance proves that packages know nothing of tasks, steps or workflows: of our module they depend only on the
// runtime, its adapters, workspace and the root, and of the root they use errors alone. dir is where go list runs.
func CheckIgnorance(t *testing.T, dir string, packages ...string) {
	t.Helper()
	const module = "github.com/fairlead/fairlead"
	out, err := list(dir, "{{.ImportPath}}", append([]string{"-deps"}, packages...)...)
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for p := range strings.FieldsSeq(out) {
		rest, ours := strings.CutPrefix(p, module)
		if ours && rest != "" && !strings.HasPrefix(rest, "/internal/agent") && rest != "/internal/workspace" {
			t.Errorf("the runtime depends on %s", p)
		}
	}
	if out, err = list(dir, "{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}} {{end}}", packages...); err != nil {
		t.Fatalf("go list: %v", err)
	}
	for file := range strings.FieldsSeq(out) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "fairlead" && x.Obj == nil && !innocent(s.Sel.Name) {
					t.Errorf("%s uses fairlead.%s", filepath.Base(file), s.Sel.Name)
				}
			}
			return true
		})
	}
}

func list(dir, format string, args ...string) (string, error) {
	cmd := exec.Command("go", append([]string{"list", "-f", format}, args...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	return string(out), err
}
