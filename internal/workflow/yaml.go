package workflow

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file. They keep a hostile file from costing memory or a deep stack; no honest one comes near them.
const (
	maxSource  = 1 << 20 // bytes
	maxTokens  = 50_000
	maxNesting = 64
	maxNodes   = 50_000 // with every alias counted as often as it is used
)

// fault is why a file cannot be read at all.
type fault struct {
	pos             Position
	message, remedy string
}

// readYAML turns a source into a tree, or says the first reason why it cannot.
func readYAML(source []byte) (root *node, bad *fault) {
	if bad := checkBytes(source); bad != nil {
		return nil, bad
	}
	// The tokenizer and the parser are not ours; a panic of theirs must refuse the file, not end the server.
	defer func() {
		if recover() != nil {
			root, bad = nil, &fault{message: "the file is not valid YAML", remedy: "check its indentation and quoting"}
		}
	}()
	tokens := lexer.Tokenize(string(source))
	if bad := checkTokens(tokens); bad != nil {
		return nil, bad
	}
	// Keys that stand twice are found by our own reader: the parser compares paths, in which a.b and a: {b} are one.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxFault(err)
	}
	return readDocument(file)
}

func checkBytes(source []byte) *fault {
	if len(source) > maxSource {
		return &fault{message: "the file is larger than 1 MiB", remedy: "move long texts out of the file"}
	}
	if bytes.IndexByte(source, 0) >= 0 || !utf8.Valid(source) {
		line, column := 1, 1
		for rest := source; len(rest) > 0; {
			r, size := utf8.DecodeRune(rest)
			if r == 0 || r == utf8.RuneError && size == 1 {
				break
			}
			column++
			if r == '\n' {
				line, column = line+1, 1
			}
			rest = rest[size:]
		}
		return &fault{Position{line, column}, "the file is not valid UTF-8 text", "save it as UTF-8"}
	}
	return nil
}

// checkTokens refuses what would make the recursive parser descend without bound.
func checkTokens(tokens token.Tokens) *fault {
	if len(tokens) > maxTokens {
		return &fault{message: "the file has too many parts", remedy: "split the workflow"}
	}
	flow, run := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType, token.MappingValueType:
			run++
		case token.StringType, token.CommentType:
			run = 0
		}
		if flow > maxNesting || run > maxNesting {
			return &fault{place(t), "the file is nested too deeply", "write it flatter"}
		}
	}
	return nil
}

func syntaxFault(err error) *fault {
	f := &fault{message: "the file is not valid YAML", remedy: "check its indentation and quoting"}
	var y yaml.Error
	if errors.As(err, &y) {
		f.message += ": " + clipLong(y.GetMessage())
		f.pos = place(y.GetToken())
	}
	return f
}

func place(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{}
	}
	return Position{t.Position.Line, t.Position.Column}
}

func readDocument(file *ast.File) (*node, *fault) {
	var body ast.Node
	for _, d := range file.Docs {
		if d == nil || d.Body == nil {
			continue
		}
		if directive, ok := d.Body.(*ast.DirectiveNode); ok {
			return nil, &fault{place(directive.Start), "YAML directives are not read here", "leave the line out"}
		}
		if body != nil {
			return nil, &fault{place(d.Body.GetToken()), "the file holds more than one document", "keep one workflow or agent a file"}
		}
		body = d.Body
	}
	if body == nil {
		return nil, &fault{Position{1, 1}, "the file is empty", "begin with `workflow: <key>` or `agent: <key>`"}
	}
	r := &treeReader{anchors: map[string]*node{}}
	n := r.read(body, 0)
	if r.bad != nil {
		return nil, r.bad
	}
	if n.size > maxNodes {
		return nil, &fault{n.pos, fmt.Sprintf("the file has more than %d parts once its aliases are written out", maxNodes), "use fewer aliases"}
	}
	return n, nil
}
