package workflow

import (
	"fmt"
	"math"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// nodeKind is the shape of a node.
type nodeKind int

const (
	kindNull nodeKind = iota
	kindBool
	kindInt
	kindFloat
	kindString
	kindList
	kindMap
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "true or false", "a whole number", "a number", "a text", "a list", "a map"}[k]
}

// node is one part of a YAML file, free of the parser's types. An alias is the same node as its anchor, so a tree may
// be a graph; size counts it in full, and it never has a cycle.
type node struct {
	kind  nodeKind
	pos   Position
	value any  // bool, int64, float64 or string; nil for the other kinds
	quote byte // of a text: 0, ', " or quoteBlock
	list  []*node
	pairs []pair
	size  int
}

// quoteBlock marks a text in block form, after | or >.
const quoteBlock = '|'

func quoteOf(t *token.Token) byte {
	switch {
	case t == nil:
		return quoteBlock
	case t.Type == token.SingleQuoteType:
		return '\''
	case t.Type == token.DoubleQuoteType:
		return '"'
	}
	return 0
}

// pair is one entry of a map.
type pair struct {
	key   string
	pos   Position
	value *node
}

func (n *node) get(key string) *node {
	for _, p := range n.pairs {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

// text returns the value of a string node.
func (n *node) text() string {
	s, _ := n.value.(string)
	return s
}

// plainValue returns the node as bool, int64, float64, string, []any, map[string]any or nil.
func (n *node) plainValue() any {
	switch n.kind {
	case kindList:
		out := make([]any, len(n.list))
		for i, x := range n.list {
			out[i] = x.plainValue()
		}
		return out
	case kindMap:
		out := make(map[string]any, len(n.pairs))
		for _, p := range n.pairs {
			out[p.key] = p.value.plainValue()
		}
		return out
	}
	return n.value
}

// treeReader turns the parser's tree into nodes.
type treeReader struct {
	anchors map[string]*node
	bad     *fault
}

func (r *treeReader) fail(t *token.Token, remedy, format string, args ...any) *node {
	if r.bad == nil {
		r.bad = &fault{place(t), fmt.Sprintf(format, args...), remedy}
	}
	return &node{size: 1}
}

func (r *treeReader) read(n ast.Node, depth int) *node {
	if r.bad != nil || n == nil {
		return &node{size: 1}
	}
	pos := place(n.GetToken())
	if depth > maxNesting {
		return r.fail(n.GetToken(), "write it flatter", "the file is nested too deeply")
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return &node{kind: kindNull, pos: pos, size: 1}
	case *ast.BoolNode:
		return &node{kind: kindBool, pos: pos, value: n.Value, size: 1}
	case *ast.IntegerNode:
		return r.integer(n, pos)
	case *ast.FloatNode:
		return &node{kind: kindFloat, pos: pos, value: n.Value, size: 1}
	case *ast.StringNode:
		return &node{kind: kindString, pos: pos, value: n.Value, quote: quoteOf(n.Token), size: 1}
	case *ast.LiteralNode:
		return &node{kind: kindString, pos: pos, value: n.Value.Value, quote: quoteBlock, size: 1}
	case *ast.SequenceNode:
		return r.sequence(n, depth)
	case *ast.MappingNode:
		return r.mapping(n.Values, n.IsFlowStyle, pos, depth)
	case *ast.MappingValueNode:
		return r.mapping([]*ast.MappingValueNode{n}, false, pos, depth)
	case *ast.AnchorNode:
		return r.anchor(n, depth)
	case *ast.AliasNode:
		return r.alias(n)
	case *ast.TagNode:
		return r.fail(n.Start, "leave the tag out", "tags are not read here")
	case *ast.InfinityNode, *ast.NanNode:
		return r.fail(n.GetToken(), "write a finite number", "a number must be finite")
	}
	return r.fail(n.GetToken(), "write maps, lists and plain values", "this kind of YAML is not read here")
}

func (r *treeReader) integer(n *ast.IntegerNode, pos Position) *node {
	switch v := n.Value.(type) {
	case int64:
		return &node{kind: kindInt, pos: pos, value: v, size: 1}
	case uint64:
		if v <= math.MaxInt64 {
			return &node{kind: kindInt, pos: pos, value: int64(v), size: 1}
		}
	}
	return r.fail(n.Token, "write a smaller number", "the number is too large")
}

func (r *treeReader) sequence(n *ast.SequenceNode, depth int) *node {
	out := &node{kind: kindList, pos: place(n.Start), size: 1}
	for _, v := range n.Values {
		x := r.read(v, depth+1)
		out.list = append(out.list, x)
		out.size = grow(out.size, x.size)
	}
	return out
}

func (r *treeReader) mapping(values []*ast.MappingValueNode, flow bool, pos Position, depth int) *node {
	out := &node{kind: kindMap, pos: pos, size: 1}
	seen := make(map[string]bool, len(values))
	for i, v := range values {
		t := v.Key.GetToken()
		if i == 0 && !flow {
			out.pos = place(t) // the parser names the colon
		}
		if v.Key.IsMergeKey() {
			return r.fail(t, "write the keys out, or use an alias for the whole value", "merge keys are not read here")
		}
		name, ok := v.Key.(*ast.StringNode)
		if !ok {
			return r.fail(t, "quote it", "a key must be a text")
		}
		if seen[name.Value] {
			return r.fail(t, "keep one of them", "the key %q stands twice", name.Value)
		}
		seen[name.Value] = true
		x := r.read(v.Value, depth+1)
		out.pairs = append(out.pairs, pair{name.Value, place(t), x})
		out.size = grow(out.size, x.size)
	}
	return out
}

// grow adds sizes up to a cap, so that aliases of aliases cannot make the sum overflow.
func grow(a, b int) int { return min(a+b, maxNodes+1) }

func (r *treeReader) anchor(n *ast.AnchorNode, depth int) *node {
	// The name is known only after its value, so an anchor cannot hold itself.
	v := r.read(n.Value, depth+1)
	if n.Name != nil {
		r.anchors[n.Name.GetToken().Value] = v
	}
	return v
}

func (r *treeReader) alias(n *ast.AliasNode) *node {
	if n.Value != nil {
		if v, ok := r.anchors[n.Value.GetToken().Value]; ok {
			return v
		}
	}
	return r.fail(n.Start, "put the anchor above its alias", "the alias names no anchor that stands before it")
}
