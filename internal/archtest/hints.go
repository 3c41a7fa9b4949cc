package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// A workflow's style and a step's stage are hints for screens. The engine must treat every graph alike, so no Go code
// reads a style, and no Go code takes a way because of a stage. Definitions are parsed and written in
// internal/workflow, and the API hands both on to screens as they are: those may read, and only the first may compare.
var (
	hintsParsed = []string{"internal/workflow"}
	hintsPassed = []string{"internal/api", "client"}
)

// hintNames are the fields, hintValues the named constants of both, hintKeys their spellings in documents.
var (
	hintNames  = []string{"Style", "Stage", "StageType"}
	hintValues = regexp.MustCompile(`^(Style|Stage)(Kanban|Office|Custom|Work|Review|Approval)$`)
	hintKeys   = []string{`"style"`, `"stage"`, `"stage_type"`}
)

// checkHints returns every read of a hint outside the places that may, and every branch on one.
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
	passes := isWithin(s.dir(), hintsPassed)
	add := func(n ast.Node, what string) { faults = append(faults, fault{s.at(n), what}) }
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if isHint(n) && !passes {
				add(n, "reads the screens' hint "+n.Sel.Name)
			}
			if hintValues.MatchString(n.Sel.Name) {
				add(n, "names the screens' hint "+n.Sel.Name)
			}
		case *ast.BinaryExpr:
			if passes && comparison(n.Op) && (isHint(n.X) || isHint(n.Y)) {
				add(n, "branches on a screens' hint")
			}
		case *ast.SwitchStmt:
			if passes && isHint(n.Tag) {
				add(n, "branches on a screens' hint")
			}
		case *ast.IndexExpr:
			if passes && isHint(n.Index) || isHintKey(n.Index) {
				add(n, "looks a screens' hint up")
			}
		}
		return true
	})
	return faults
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
