package archtest

import (
	"go/ast"
	"slices"
)

// clockCalls are the functions of package time that read the clock or wait for it. Its types and arithmetic are free.
var clockCalls = []string{
	"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker",
}

// checkPurity returns what the import lists cannot show of the pure layer: goroutines, channels, clock reads, init
// functions.
func checkPurity(sources []source) []fault {
	var faults []fault
	for _, s := range sources {
		if s.isTest() || !isPure(s.dir()) {
			continue
		}
		add := func(n ast.Node, what string) { faults = append(faults, fault{s.at(n), what}) }
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				add(n, "starts a goroutine in the pure layer")
			case *ast.ChanType:
				add(n, "has a channel in the pure layer")
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok && id.Name == "time" && slices.Contains(clockCalls, n.Sel.Name) {
					add(n, "calls time."+n.Sel.Name+" in the pure layer: take now as an argument")
				}
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					add(n, "has an init function: the pure layer has no hidden state")
				}
			}
			return true
		})
	}
	return faults
}
