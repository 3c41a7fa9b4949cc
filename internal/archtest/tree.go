package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// repoRoot returns the directory of go.mod.
func repoRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// listPackages asks `go list` for every package of the module. A package that does not compile is listed with the
// imports its files name.
func listPackages(root string) ([]pkg, error) {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w: %s", err, stderr.String())
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("decode package: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

// A source is one hand-written Go file of the repository.
type source struct {
	path  string // relative to the root, with slashes
	lines int
	fset  *token.FileSet
	file  *ast.File
}

// dir is the directory of the file, "" for the root.
func (s source) dir() string {
	if d := filepath.ToSlash(filepath.Dir(s.path)); d != "." {
		return d
	}
	return ""
}

// isTest reports whether the file is compiled into tests only.
func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// isSuite reports whether the file belongs to a package of tests for other packages, as storetest or agenttest.
func (s source) isSuite() bool { return strings.HasSuffix(s.file.Name.Name, "test") }

// at names a node's place for a fault.
func (s source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.fset.Position(n.Pos()).Line)
}

// parseSource reads one file's text.
func parseSource(path string, text []byte) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return source{}, fmt.Errorf("parse %s: %w", path, err)
	}
	return source{path: path, lines: bytes.Count(text, []byte("\n")), fset: fset, file: file}, nil
}

// readSources reads every hand-written Go file below root: no generated ones, no fixtures, nothing of node_modules.
func readSources(root string) ([]source, error) {
	var sources []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipDir(d.Name()) && path != root {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		s, err := readSource(root, path)
		if err == nil && !ast.IsGenerated(s.file) {
			sources = append(sources, s)
		}
		return err
	})
	return sources, err
}

func readSource(root, path string) (source, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a path of our own tree
	if err != nil {
		return source{}, err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return source{}, err
	}
	return parseSource(filepath.ToSlash(rel), text)
}

// skipDir names directories that hold no source of ours.
func skipDir(name string) bool {
	switch name {
	case "testdata", "node_modules", "bin", "coverage", "ui":
		return true
	}
	return strings.HasPrefix(name, ".")
}
