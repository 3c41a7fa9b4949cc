package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// A pkg is one package of the module as `go list` tells it. The layer table speaks of Imports alone: tests wire what
// they need.
type pkg struct {
	ImportPath   string
	Dir          string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// A fault is one broken rule: where, what, and the way out.
type fault struct {
	where string
	what  string
}

func (f fault) String() string { return f.where + ": " + f.what }

// below strips the module from an import path; ok is false for packages of others.
func below(importPath string) (path string, ok bool) {
	if importPath == module {
		return "", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// within reports whether path is family itself or stands below it. Only the root package is within "".
func within(path, family string) bool {
	if family == "" {
		return path == ""
	}
	return path == family || strings.HasPrefix(path, family+"/")
}

// ruleFor returns the rule of the longest path that covers a package.
func ruleFor(path string) (rule, bool) {
	var best rule
	found := false
	for _, r := range rules {
		if within(path, r.path) && (!found || len(r.path) > len(best.path)) {
			best, found = r, true
		}
	}
	return best, found
}

// allowed reports whether the rule from lets a package import one of the rule to.
func allowed(from, to rule) bool {
	switch {
	case from.path == to.path, to.level == 0 && from.level > 0:
		return true
	case to.level > from.level:
		return false
	case to.level == from.level:
		return slices.Contains(from.siblings, to.path)
	case slices.Contains(from.never, to.path):
		return false
	}
	return from.down == nil || slices.Contains(from.down, to.path)
}

// checkImports returns every import against the layer table, the pure layer's list and the bans.
func checkImports(pkgs []pkg) []fault {
	var faults []fault
	for _, p := range pkgs {
		path, _ := below(p.ImportPath)
		from, ok := ruleFor(path)
		if !ok {
			faults = append(faults, fault{p.ImportPath, "has no place in the layer table (internal/archtest/layers.go)"})
			continue
		}
		for _, imported := range p.Imports {
			if what := checkImport(path, from, imported); what != "" {
				faults = append(faults, fault{p.ImportPath, what})
			}
		}
	}
	return faults
}

// checkImport says what is wrong with one import, or "".
func checkImport(path string, from rule, imported string) string {
	if target, ours := below(imported); ours {
		to, ok := ruleFor(target)
		if ok && allowed(from, to) {
			return ""
		}
		return fmt.Sprintf("imports %s against the layer table: pass a value or a func, or move the code down", imported)
	}
	if from.level <= 1 && slices.Contains(impure, imported) {
		return fmt.Sprintf("imports %s, but the pure layer does no I/O and has no clock, random or context", imported)
	}
	for _, b := range bans {
		if banned(b, path, imported) {
			return fmt.Sprintf("imports %s: %s", imported, b.why)
		}
	}
	return ""
}

// banned reports whether a ban speaks of this import.
func banned(b ban, path, imported string) bool {
	if imported != b.pkg && !strings.HasPrefix(imported, b.pkg+"/") {
		return false
	}
	return !slices.ContainsFunc(b.except, func(family string) bool { return within(path, family) })
}
