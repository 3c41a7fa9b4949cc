package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// A workflow's style and a step's stage are hints for screens. The engine must treat every graph alike, so no Go code
// takes a way because of one. Definitions are parsed and written in internal/workflow, which may do as it likes. The
// packages that carry a saved workflow to the database and to screens hand both on as they are: they may copy a hint
// into a field or an argument, and neither compare it nor keep it under another name. Nobody else even reads it.
var (
	hintsParsed = []string{"internal/workflow"}
	hintsPassed = []string{"internal/api", "internal/control", "internal/store", "client"}
)

// hintNames are the fields, hintValues the named constants of both, hintKeys their spellings in documents.
var (
	hintNames  = []string{"Style", "Stage", "StageType"}
	hintValues = regexp.MustCompile(`^(Style|Stage)(Kanban|Office|Custom|Work|Review|Approval)$`)
	hintKeys   = []string{`"style"`, `"stage"`, `"stage_type"`}
)

// checkHints returns every read of a hint by packages that may not, and every branch on one by those that may.
func checkHints(sources []source) []fault {
	var faults []fault
	for _, s := range sources {
		if s.isTest() || isWithin(s.dir(), hintsParsed) || s.dir() == "internal/archtest" {
			continue
		}
		faults = append(faults, hintsOf(s)...)
	}
	return faults
}

func isWithin(dir string, families []string) bool {
	return slices.ContainsFunc(families, func(f string) bool { return within(dir, f) })
}

func hintsOf(s source) []fault {
	var faults []fault
	find := reads
	if isWithin(s.dir(), hintsPassed) {
		find = branches
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if what := find(n); what != "" {
			faults = append(faults, fault{s.at(n), what})
		} else if what := looksUp(n); what != "" {
			faults = append(faults, fault{s.at(n), what})
		}
		return true
	})
	return faults
}

// reads says whether a node reads a hint at all.
func reads(n ast.Node) string {
	if e, ok := n.(ast.Expr); ok && isHint(e) {
		return "reads a hint that is for screens"
	}
	return ""
}

// branches says whether a node decides by a hint, or hides one from this check under another name.
func branches(n ast.Node) string {
	const what = "branches on a hint that is for screens"
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if comparison(n.Op) && (isHint(n.X) || isHint(n.Y)) {
			return what
		}
	case *ast.SwitchStmt:
		if isHint(n.Tag) {
			return what
		}
	case *ast.IndexExpr:
		if isHint(n.Index) {
			return what
		}
	case *ast.CallExpr:
		if decides(n.Fun) && slices.ContainsFunc(n.Args, isHint) {
			return what
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE && slices.ContainsFunc(n.Rhs, isHint) {
			return "gives a hint that is for screens another name"
		}
	}
	return ""
}

// looksUp says whether a node names a value of a hint, or finds one by its spelling in a document.
func looksUp(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Ident:
		if hintValues.MatchString(n.Name) {
			return "names a value of a hint that is for screens"
		}
	case *ast.IndexExpr:
		if isHintKey(n.Index) {
			return "looks up a hint that is for screens"
		}
	}
	return ""
}

// decides reports whether a call is one of the standard library's comparisons.
func decides(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && slices.Contains([]string{"strings", "slices", "cmp"}, id.Name)
}

func isHint(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && slices.Contains(hintNames, sel.Sel.Name)
}

func isHintKey(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING && slices.Contains(hintKeys, strings.ToLower(lit.Value))
}

func comparison(op token.Token) bool {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
		return true
	}
	return false
}
