package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// The size budget: a file, function, package or interface above it has usually more than one reason to change.
// Tests are not measured, nor the functions of suites: a table of cases and a scenario may be long.
const (
	medianFile   = 130  // lines of the middle file
	ninetyFile   = 350  // nine files in ten are shorter
	maxFile      = 500  // no file is longer
	maxFunction  = 60   // from the line of `func` to its closing brace
	maxPackage   = 4000 // lines of all its files
	maxInterface = 8    // methods, with those it embeds
)

// inside stands in a key between a file or package and the name of what it holds.
const inside = "#"

// A size is one measured thing. Its key is how a waiver names it: `path` for a file or a package,
// `path#Name` or `path#Type.Name` for what is inside a file.
type size struct {
	kind  string // file, function, package, interface
	key   string
	lines int // or methods
	limit int
}

func (s size) String() string {
	unit := "lines"
	if s.kind == "interface" {
		unit = "methods"
	}
	return fmt.Sprintf("%s %s has %d %s, the budget is %d", s.kind, s.key, s.lines, unit, s.limit)
}

// measure returns every size of the production files, and the lengths of the files in rising order.
func measure(sources []source) (sizes []size, files []int) {
	packages := map[string]int{}
	interfaces := map[string]map[string]*ast.InterfaceType{}
	for _, s := range sources {
		if s.isTest() {
			continue
		}
		files = append(files, s.lines)
		packages[s.dir()] += s.lines
		sizes = append(sizes, size{"file", s.path, s.lines, maxFile})
		if !s.isSuite() {
			sizes = append(sizes, functions(s)...)
		}
		if interfaces[s.dir()] == nil {
			interfaces[s.dir()] = map[string]*ast.InterfaceType{}
		}
		collectInterfaces(s, interfaces[s.dir()])
	}
	for dir, lines := range packages {
		sizes = append(sizes, size{"package", packageKey(dir), lines, maxPackage})
	}
	for dir, byName := range interfaces {
		for name, t := range byName {
			key := packageKey(dir) + inside + name
			sizes = append(sizes, size{"interface", key, methods(t, byName), maxInterface})
		}
	}
	slices.Sort(files)
	slices.SortFunc(sizes, func(a, b size) int { return strings.Compare(a.kind+a.key, b.kind+b.key) })
	return sizes, files
}

func packageKey(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// functions measures the declared functions of a file.
func functions(s source) []size {
	var sizes []size
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		lines := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
		sizes = append(sizes, size{"function", s.path + inside + funcName(f), lines, maxFunction})
	}
	return sizes
}

// funcName is Name, or Type.Name for a method.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

func collectInterfaces(s source, into map[string]*ast.InterfaceType) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if t, ok := spec.Type.(*ast.InterfaceType); ok {
				into[spec.Name.Name] = t
			}
		}
		return true
	})
}

// methods counts an interface's methods, with those of embedded interfaces of the same package. An interface that is
// nothing but a list of others counts nothing: it names what somebody brings, and each part is measured by itself.
func methods(t *ast.InterfaceType, siblings map[string]*ast.InterfaceType) int {
	own, embedded := 0, 0
	for _, field := range t.Methods.List {
		if _, ok := field.Type.(*ast.FuncType); ok {
			own += len(field.Names)
			continue
		}
		if id, ok := field.Type.(*ast.Ident); ok && siblings[id.Name] != nil && siblings[id.Name] != t {
			embedded += methods(siblings[id.Name], siblings)
		}
	}
	if own == 0 {
		return 0
	}
	return own + embedded
}

// percentile returns the value below which share percent of the rising values lie; 0 for none.
func percentile(rising []int, share int) int {
	if len(rising) == 0 {
		return 0
	}
	return rising[min(len(rising)-1, len(rising)*share/100)]
}

// overBudget returns the sizes above their limit that no waiver names, and the waivers that no size above its limit needs.
func overBudget(sizes []size, waivers []waiver) (over []size, idle []waiver) {
	needed := map[string]bool{}
	for _, s := range sizes {
		if s.lines <= s.limit {
			continue
		}
		i := slices.IndexFunc(waivers, func(w waiver) bool { return w.kind == s.kind && w.key == s.key && s.lines <= w.upTo })
		if i < 0 {
			over = append(over, s)
			continue
		}
		needed[waivers[i].kind+waivers[i].key] = true
	}
	for _, w := range waivers {
		if !needed[w.kind+w.key] {
			idle = append(idle, w)
		}
	}
	return over, idle
}
