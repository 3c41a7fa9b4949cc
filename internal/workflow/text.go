package workflow

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
)

// Text is a text of an action in which `${CEL}` is replaced; `$${` stands for a plain `${`. It is compiled and
// type-checked once and safe for concurrent use. The zero Text is empty.
type Text struct {
	Source string // as written

	parts []textPart
}

// textPart is either literal or an expression.
type textPart struct {
	literal string
	program cel.Program
}

// ParseText compiles a text that stands alone; its error is a *fairlead.Error of code invalid.
func ParseText(source string) (*Text, error) {
	r := reader{report: &Report{}}
	t := r.text(&node{kind: kindString, value: source}, "", "text")
	return t, r.report.Err()
}

// Literal returns the text if it holds no expression.
func (t *Text) Literal() (string, bool) {
	switch {
	case t == nil || len(t.parts) == 0:
		return "", true
	case len(t.parts) == 1 && t.parts[0].program == nil:
		return t.parts[0].literal, true
	}
	return "", false
}

// Expand replaces the expressions by their values on the facts. A nil text is empty.
func (t *Text) Expand(f Facts) (string, error) {
	if s, ok := t.Literal(); ok {
		return s, nil
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.program == nil {
			b.WriteString(p.literal)
			continue
		}
		v, err := p.eval(&f)
		if err != nil {
			return "", err
		}
		s, err := render(v)
		if err != nil {
			return "", fmt.Errorf("expand text: %w", err)
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// Value is Expand for places that hold any value: a text that is one expression and nothing else keeps the type of its
// value (bool, int64, float64, string, []any, map[string]any or nil).
func (t *Text) Value(f Facts) (any, error) {
	if t != nil && len(t.parts) == 1 && t.parts[0].program != nil {
		return t.parts[0].eval(&f)
	}
	return t.Expand(f)
}

func (p textPart) eval(f *Facts) (any, error) {
	out, _, err := p.program.Eval(activation{f})
	if err != nil {
		return nil, fmt.Errorf("expand text: %w", err)
	}
	v, err := native(out)
	if err != nil {
		return nil, fmt.Errorf("expand text: %w", err)
	}
	return v, nil
}

// Equal reports whether both are the same text, wherever it stands.
func (t *Text) Equal(o *Text) bool {
	if t == nil || o == nil {
		return t == o
	}
	return t.Source == o.Source
}

// ExpandPayload returns a copy of a compiled map (a payload, a program's inputs, metadata) in which every *Text, also
// one inside of maps and lists, is replaced by its value. The caller owns the copy; nil stays nil.
func ExpandPayload(m map[string]any, f Facts) (map[string]any, error) {
	if m == nil {
		return nil, nil
	}
	v, err := expandAny(m, f)
	if err != nil {
		return nil, err
	}
	return v.(map[string]any), nil
}

func expandAny(v any, f Facts) (any, error) {
	switch v := v.(type) {
	case *Text:
		return v.Value(f)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			y, err := expandAny(x, f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
			out[k] = y
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			y, err := expandAny(x, f)
			if err != nil {
				return nil, err
			}
			out[i] = y
		}
		return out, nil
	}
	return v, nil
}

// text reads a text of an action.
func (r *reader) text(n *node, path, what string) *Text {
	if n == nil || !r.want(n, path, what, kindString) {
		return nil
	}
	t := &Text{Source: n.text()}
	if !r.parts(t, n, path, what) {
		return nil
	}
	return t
}

func (r *reader) parts(t *Text, n *node, path, what string) bool {
	source, ok := t.Source, true
	literal := ""
	flush := func() {
		if literal != "" {
			t.parts = append(t.parts, textPart{literal: literal})
			literal = ""
		}
	}
	for at := 0; at < len(source); {
		switch {
		case strings.HasPrefix(source[at:], "$${"):
			literal += "${"
			at += len("$${")
		case strings.HasPrefix(source[at:], "${"):
			flush()
			begin := at + len("${")
			end := closing(source, begin)
			if end < 0 {
				r.report.fail(n.pos, path, what+" has a ${ without its }", "close it, or write $${ for a plain ${")
				return false
			}
			e := r.textExpression(source[begin:end], inside{n, begin}, path, what)
			if e == nil {
				ok = false
			} else {
				t.parts = append(t.parts, textPart{program: e.program})
			}
			at = end + 1
		default:
			next := strings.IndexByte(source[at+1:], '$')
			if next < 0 {
				next = len(source) - at - 1
			}
			literal += source[at : at+1+next]
			at += 1 + next
		}
	}
	flush()
	return ok
}

func (r *reader) textExpression(source string, where inside, path, what string) *expression {
	trimmed := strings.TrimSpace(source)
	where.offset += strings.Index(source, trimmed)
	e := r.expression(trimmed, where, path, "the expression in "+what)
	if e == nil {
		return nil
	}
	switch e.checked.OutputType().Kind() {
	case types.StringKind, types.IntKind, types.UintKind, types.DoubleKind, types.BoolKind, types.DynKind, types.MapKind, types.ListKind, types.NullTypeKind:
		return e
	}
	r.report.fail(where.at(0), path, fmt.Sprintf("the expression in %s is a %s, which has no text", what, e.checked.OutputType()), "name one of its fields")
	return nil
}

// closing finds the brace that ends an expression: not one inside of braces or quotes.
func closing(s string, at int) int {
	depth := 0
	var quote byte
	for ; at < len(s); at++ {
		c := s[at]
		switch {
		case quote != 0 && c == '\\':
			at++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == '}':
			return at
		}
	}
	return -1
}
