package archtest

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// marks are the words of work left for later. They are forgotten where they stand; an issue is not.
var marks = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

// What a package comment says beside what the package is: what one may rely on, and what it keeps its hands off.
var (
	promise = regexp.MustCompile(`(?i)\bguarantees?\b`)
	limit   = regexp.MustCompile(`(?i)\bmust (not|never)\b`)
)

// checkDocs returns the packages whose comment is missing or leaves out one of its three parts: what the package is,
// what it guarantees, what it must not know. Programs and suites say how they are used instead.
func checkDocs(sources []source) []fault {
	comments, users, dirs := map[string]string{}, map[string]bool{}, []string{}
	for _, s := range sources {
		if s.isTest() {
			continue
		}
		if !slices.Contains(dirs, s.dir()) {
			dirs = append(dirs, s.dir())
		}
		users[s.dir()] = s.file.Name.Name == "main" || s.isSuite()
		if s.file.Doc != nil {
			comments[s.dir()] = s.file.Doc.Text()
			if name := path.Base(s.path); name != "doc.go" && name != "main.go" {
				comments[s.dir()] = ""
			}
		}
	}
	var faults []fault
	for _, dir := range dirs {
		text := strings.Join(strings.Fields(comments[dir]), " ")
		switch {
		case text == "":
			faults = append(faults, fault{packageKey(dir), "has no package comment in doc.go, or a second one elsewhere"})
		case users[dir]:
		case !promise.MatchString(text):
			faults = append(faults, fault{packageKey(dir), "has a package comment that does not say what it guarantees"})
		case !limit.MatchString(text):
			faults = append(faults, fault{packageKey(dir), "has a package comment that does not say what it must not know"})
		}
	}
	return faults
}

// checkMarks returns the comments that put work off.
func checkMarks(sources []source) []fault {
	var faults []fault
	for _, s := range sources {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				if mark := marks.FindString(c.Text); mark != "" && s.dir() != "internal/archtest" {
					faults = append(faults, fault{s.at(c), "puts work off with " + mark})
				}
			}
		}
	}
	return faults
}

// checkSleeps returns the tests that wait for real time to pass. Inside testing/synctest time is not real.
func checkSleeps(sources []source) []fault {
	var faults []fault
	for _, s := range sources {
		if !s.isTest() || importsPackage(s.file, "testing/synctest") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == "time" {
					faults = append(faults, fault{s.at(n), "sleeps: wait for a signal, or run in a synctest bubble"})
				}
			}
			return true
		})
	}
	return faults
}

func importsPackage(f *ast.File, path string) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"`+path+`"` })
}
