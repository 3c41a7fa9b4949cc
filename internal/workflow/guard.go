package workflow

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// Guard is a condition on a move or a heartbeat. It is compiled and type-checked once and safe for concurrent use.
type Guard struct {
	Source       string      // the expression
	Quorums      []QuorumRef // every quorum it names, each once
	UsesApproval bool        // it reads approval
	// Literal says that the guard is the constant true: its move is taken whenever it is reached.
	Literal bool

	program cel.Program
}

// ParseGuard compiles a guard that stands alone; its error is a *fairlead.Error of code invalid.
func ParseGuard(source string) (*Guard, error) {
	r := reader{report: &Report{}}
	g := r.guard(&node{kind: kindString, value: source}, "")
	return g, r.report.Err()
}

// Eval answers the guard on the facts. An error (a payload key that is not there, a bound that is passed) means that
// it does not hold.
func (g *Guard) Eval(f Facts) (bool, error) {
	if g.Literal {
		return true, nil
	}
	out, _, err := g.program.Eval(activation{&f})
	if err != nil {
		return false, fmt.Errorf("evaluate guard: %w", err)
	}
	b, ok := out.(types.Bool)
	if !ok {
		return false, fmt.Errorf("evaluate guard: it is a %s, not true or false", out.Type().TypeName())
	}
	return bool(b), nil
}

// Weighed reports whether the guard is weighed again at every decision and resolution.
func (g *Guard) Weighed() bool { return g != nil && (len(g.Quorums) > 0 || g.UsesApproval) }

// Equal reports whether both are the same condition, wherever it stands.
func (g *Guard) Equal(o *Guard) bool {
	if g == nil || o == nil {
		return g == o
	}
	return g.Source == o.Source && slices.Equal(g.Quorums, o.Quorums) && g.UsesApproval == o.UsesApproval && g.Literal == o.Literal
}

// guard reads a guard; `true` and `false` may stand without quotes.
func (r *reader) guard(n *node, path string) *Guard {
	if n == nil {
		return nil
	}
	if n.kind == kindBool {
		n = &node{kind: kindString, pos: n.pos, value: fmt.Sprint(n.value)}
	}
	if !r.want(n, path, "a guard", kindString) {
		return nil
	}
	source := strings.TrimSpace(n.text())
	e := r.expression(source, inside{n, strings.Index(n.text(), source)}, path, "the guard")
	if e == nil {
		return nil
	}
	if t := e.checked.OutputType(); t.Kind() != types.BoolKind && t.Kind() != types.DynKind {
		r.report.fail(n.pos, path, fmt.Sprintf("the guard has the type %s, but must be true or false", t), "compare it with something")
		return nil
	}
	g := &Guard{Source: source, program: e.program}
	g.Quorums, g.UsesApproval = usesOf(e.checked.NativeRep())
	root := e.checked.NativeRep().Expr()
	g.Literal = root.Kind() == ast.LiteralKind && root.AsLiteral() == types.True
	return g
}

// expression is a compiled piece of CEL.
type expression struct {
	checked *cel.Ast
	program cel.Program
}

// inside says where in a text node an expression begins.
type inside struct {
	n      *node
	offset int // bytes
}

// at turns a place in the expression into one in the file. Only a text on one line, without quotes or in quotes
// without escapes, keeps its columns; any other is named by its beginning.
func (i inside) at(column int) Position {
	pos := i.n.pos
	text := i.n.text()
	switch {
	case pos.Line == 0 || i.offset < 0 || i.n.quote == quoteBlock || strings.Contains(text, "\n"):
		return pos
	case i.n.quote == '\'' && strings.Contains(text, "'"), i.n.quote == '"' && strings.ContainsAny(text, "\"\\\t"):
		return pos
	}
	pos.Column += len([]rune(text[:i.offset])) + column
	if i.n.quote != 0 {
		pos.Column++
	}
	return pos
}

func (r *reader) expression(source string, where inside, path, what string) *expression {
	if source == "" {
		r.report.fail(where.n.pos, path, what+" is empty", "write an expression, or leave it out")
		return nil
	}
	if len(source) > maxExpression {
		r.report.fail(where.n.pos, path, fmt.Sprintf("%s is longer than %d characters", what, maxExpression), "write it shorter")
		return nil
	}
	if r.expressions++; r.expressions > maxExpressions {
		if r.expressions == maxExpressions+1 {
			r.report.fail(where.n.pos, path, fmt.Sprintf("the file has more than %d expressions", maxExpressions), "split the workflow")
		}
		return nil
	}
	env, err := celEnvironment()
	if err != nil {
		r.report.fail(where.n.pos, path, "expressions cannot be read: "+err.Error(), "")
		return nil
	}
	checked, issues := env.Compile(source)
	if issues != nil && issues.Err() != nil {
		for _, e := range issues.Errors() {
			r.expressionError(e, where, path, what)
		}
		return nil
	}
	if makesObject(checked.NativeRep()) {
		r.report.fail(where.n.pos, path, what+" makes an object: facts are only read", "compare single fields")
		return nil
	}
	program, err := env.Program(checked, cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		r.report.fail(where.n.pos, path, what+" cannot be evaluated: "+err.Error(), "correct the expression")
		return nil
	}
	return &expression{checked, program}
}

func (r *reader) expressionError(e *cel.Error, where inside, path, what string) {
	column := 0
	if e.Location != common.NoLocation && e.Location != nil && e.Location.Line() == 1 {
		column = max(e.Location.Column(), 0)
	}
	message, remedy, ok := strings.Cut(e.Message, remedyMark)
	if !ok {
		remedy = remedyFor(message)
	}
	message = strings.ReplaceAll(message, " (in container '')", "")
	message = strings.TrimPrefix(message, "Syntax error: ")
	if strings.Contains(message, "'<EOF>'") {
		message = "the expression ends too early"
	}
	message, _, _ = strings.Cut(message, " expecting {")
	r.report.fail(where.at(column), path, what+": "+clipLong(message), remedy)
}

// remedyFor helps with what people get wrong in expressions.
func remedyFor(message string) string {
	switch {
	case strings.Contains(message, "undeclared reference"):
		return "name task, visit, children, blockers, decisions, approval, labels or payload; put texts in quotes"
	case strings.Contains(message, "undefined field"):
		return remedyForField(message)
	case strings.Contains(message, "quorum"):
		return `write quorum("reviewer", "all_approve") with literal texts`
	case strings.Contains(message, "no matching overload"):
		return "compare things of one type"
	}
	return "write a CEL expression, as children.open == 0"
}

// remedyForField names the nearest field, or all of them.
func remedyForField(message string) string {
	_, rest, _ := strings.Cut(message, "'")
	field, _, _ := strings.Cut(rest, "'")
	var fields, objects []string
	for _, object := range sortedKeys(factFields) {
		names := sortedKeys(factFields[object])
		if len(names) > 0 {
			fields = append(fields, names...)
			objects = append(objects, object+" has "+strings.Join(names, ", "))
		}
	}
	if s := suggest(field, fields); strings.HasPrefix(s, "did you mean") {
		return s
	}
	return strings.Join(objects, "; ")
}

// clipLong shortens a message of the expression parser to one line.
func clipLong(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return s
}
