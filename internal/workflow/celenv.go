package workflow

import (
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// Bounds of one expression.
const (
	maxExpression = 2048   // characters
	maxCost       = 20_000 // units of work of one evaluation, as CEL counts them
)

// quorumVariable is what `quorum("role", "threshold")` becomes: a field of an object that no file can name, because
// an expression cannot write the sign. A field is read only when the evaluation gets there.
const quorumVariable = "@quorum"

// celEnvironment is the language of guards and texts. It is built once, on first use, and never changes after.
var celEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	options := []cel.EnvOption{
		cel.CustomTypeProvider(factTypes{registry}),
		cel.CustomTypeAdapter(registry),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.Macros(cel.GlobalVarArgMacro("quorum", quorumMacro)),
		cel.Variable("labels", cel.ListType(cel.StringType)),
		cel.Variable("payload", cel.MapType(cel.StringType, cel.DynType)),
	}
	for name := range factFields {
		options = append(options, cel.Variable(name, cel.ObjectType(typePrefix+name)))
	}
	return cel.NewEnv(options...)
})

const typePrefix = "fairlead."

// factField is one field of an object of an expression.
type factField struct {
	typ *cel.Type
	get func(*Facts) any
}

// factFields lists the objects and their fields; anything else is refused when the file is saved.
var factFields = map[string]map[string]factField{
	"task": {
		"id":       {cel.StringType, func(f *Facts) any { return f.Task.ID }},
		"title":    {cel.StringType, func(f *Facts) any { return f.Task.Title }},
		"priority": {cel.StringType, func(f *Facts) any { return f.Task.Priority }},
		"agent":    {cel.StringType, func(f *Facts) any { return f.Task.Agent }},
		"labels":   {cel.ListType(cel.StringType), func(f *Facts) any { return f.Task.Labels }},
		"metadata": {cel.MapType(cel.StringType, cel.DynType), func(f *Facts) any { return f.Task.Metadata }},
	},
	"visit": {
		"n":     {cel.IntType, func(f *Facts) any { return f.Visit.N }},
		"step":  {cel.StringType, func(f *Facts) any { return f.Visit.Step }},
		"round": {cel.IntType, func(f *Facts) any { return f.Visit.Round }},
	},
	"children": {
		"total":     {cel.IntType, func(f *Facts) any { return f.Children.Total }},
		"open":      {cel.IntType, func(f *Facts) any { return f.Children.Open }},
		"done":      {cel.IntType, func(f *Facts) any { return f.Children.Done }},
		"cancelled": {cel.IntType, func(f *Facts) any { return f.Children.Cancelled }},
	},
	"blockers": {
		"open": {cel.IntType, func(f *Facts) any { return f.Blockers.Open }},
	},
	"decisions": {
		"approved": {cel.IntType, func(f *Facts) any { return f.Decisions.Approved }},
		"rejected": {cel.IntType, func(f *Facts) any { return f.Decisions.Rejected }},
		"pending":  {cel.IntType, func(f *Facts) any { return f.Decisions.Pending }},
	},
	"approval": {
		"granted":  {cel.BoolType, func(f *Facts) any { return f.Approval.Granted }},
		"rejected": {cel.BoolType, func(f *Facts) any { return f.Approval.Rejected }},
		"open":     {cel.BoolType, func(f *Facts) any { return f.Approval.Open }},
		"text":     {cel.StringType, func(f *Facts) any { return f.Approval.Text }},
	},
	quorumVariable: {},
}

// factTypes teaches CEL the objects of Facts; everything else is the standard language.
type factTypes struct{ types.Provider }

// FindStructType knows the objects by name.
func (p factTypes) FindStructType(name string) (*types.Type, bool) {
	if short, ok := strings.CutPrefix(name, typePrefix); ok && factFields[short] != nil {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldType knows how a field is typed and read.
func (p factTypes) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	short, ok := strings.CutPrefix(name, typePrefix)
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	var f factField
	if short == quorumVariable {
		f, ok = quorumField(field)
	} else {
		f, ok = factFields[short][field]
	}
	if !ok {
		return nil, false
	}
	return &types.FieldType{
		Type:    f.typ,
		IsSet:   func(any) bool { return true },
		GetFrom: func(target any) (any, error) { return f.get(target.(*Facts)), nil },
	}, true
}

// activation answers the names of an expression out of Facts.
type activation struct{ facts *Facts }

// ResolveName finds a variable. Every object is the facts themselves: its fields know where to look.
func (a activation) ResolveName(name string) (any, bool) {
	switch name {
	case "labels":
		return a.facts.Task.Labels, true
	case "payload":
		return a.facts.Payload, true
	}
	_, ok := factFields[name]
	return a.facts, ok
}

// Parent is none.
func (a activation) Parent() cel.Activation { return nil }

// makesObject reports whether an expression builds a typed object, for which it has no use.
func makesObject(checked *ast.AST) (makes bool) {
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) { makes = makes || e.Kind() == ast.StructKind }))
	return makes
}

// usesOf collects what an expression names that matters beyond its value.
func usesOf(checked *ast.AST) (quorums []QuorumRef, approval bool) {
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			approval = approval || e.AsIdent() == "approval"
		case ast.SelectKind:
			s := e.AsSelect()
			if s.Operand().Kind() != ast.IdentKind || s.Operand().AsIdent() != quorumVariable {
				return
			}
			if q := splitQuorum(s.FieldName()); !slices.Contains(quorums, q) {
				quorums = append(quorums, q)
			}
		}
	}))
	return quorums, approval
}
