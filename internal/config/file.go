package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/fairlead/fairlead"
)

// located is a value of the file with the place where it stands.
type located struct{ value, where string }

// readFile reads config.yaml: a flat map of settings. A missing file is an empty one; everything it does not
// understand is an error with its line.
func readFile(path string, known []string) (map[string]located, error) {
	out := map[string]located{}
	source, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	f, err := parser.ParseBytes(source, 0)
	if err != nil {
		return nil, bad(path, 1, "not YAML: "+firstLine(err.Error()))
	}
	for _, doc := range f.Docs {
		if doc.Body == nil {
			continue
		}
		entries, ok := pairs(doc.Body)
		if !ok {
			return nil, bad(path, doc.Body.GetToken().Position.Line, "expected a map of settings")
		}
		for _, e := range entries {
			if err := take(out, path, known, e); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func pairs(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	case *ast.CommentGroupNode, *ast.NullNode:
		return nil, true
	}
	return nil, false
}

func take(out map[string]located, path string, known []string, e *ast.MappingValueNode) error {
	key, line := e.Key.GetToken().Value, e.Key.GetToken().Position.Line
	if !slices.Contains(known, key) {
		return bad(path, line, "unknown setting "+key+"; there are: "+strings.Join(known, ", "))
	}
	if _, twice := out[key]; twice {
		return bad(path, line, "the setting "+key+" stands here twice")
	}
	value, ok := scalar(e.Value)
	if key == "prices" {
		var err error
		if value, err = priceText(path, e.Value); err != nil {
			return err
		}
		ok = true
	}
	if !ok {
		return bad(path, line, "the value of "+key+" must be a text, a number, true or false, or a list of texts")
	}
	out[key] = located{value, fmt.Sprintf("file %s:%d", path, line)}
	return nil
}

// scalar reads a plain value; a list is joined by commas.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	case *ast.SequenceNode:
		var parts []string
		for _, v := range n.Values {
			s, ok := scalar(v)
			if !ok {
				return "", false
			}
			parts = append(parts, s)
		}
		return strings.Join(parts, ","), true
	}
	return "", false
}

func bad(path string, line int, message string) error {
	return &fairlead.Error{
		Code: fairlead.CodeInvalid, Message: fmt.Sprintf("%s:%d: %s", path, line, message), Hint: "mend the file; every setting is shown by: fairlead doctor",
		Fields: []fairlead.FieldError{{Path: path, Line: line, Message: message}},
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
