package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	anchor   = regexp.MustCompile(`[^a-z0-9 -]`)
	scenario = regexp.MustCompile(`\b[ERPQAS][0-9]+\b`)
	reasoned = regexp.MustCompile("(?m)^\\| `([a-z0-9./_-]+)`")
)

// checkLinks returns the relative links of a document that lead nowhere. at is the document's path below root.
func checkLinks(root, at, text string) []fault {
	var faults []fault
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		target, fragment, _ := strings.Cut(m[1], "#")
		if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
			continue
		}
		path := filepath.Join(root, filepath.Dir(at), target)
		if target == "" {
			path = filepath.Join(root, at)
		}
		if _, err := os.Stat(path); err != nil {
			faults = append(faults, fault{at, fmt.Sprintf("links to %s, which is not there", m[1])})
			continue
		}
		if fragment != "" && !slices.Contains(anchors(path), fragment) {
			faults = append(faults, fault{at, fmt.Sprintf("links to %s, but no heading has that name", m[1])})
		}
	}
	return faults
}

// anchors are the fragments that the headings of a Markdown file make.
func anchors(path string) []string {
	text, err := os.ReadFile(path) //nolint:gosec // a document of our own tree
	if err != nil {
		return nil
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			name := anchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			names = append(names, strings.ReplaceAll(name, " ", "-"))
		}
	}
	return names
}

// documents lists the Markdown files of the repository, below root.
func documents(root string) ([]string, error) {
	var found []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return nil, err
			}
			found = append(found, filepath.ToSlash(rel))
		}
	}
	return found, nil
}

// unreasoned returns the imports of others that no module named in a list of reasons covers, and the modules in the
// list that nothing imports.
func unreasoned(imports []string, reasons string) (missing, idle []string) {
	used := map[string]bool{}
	for _, m := range reasoned.FindAllStringSubmatch(reasons, -1) {
		used[m[1]] = false
	}
	for _, imp := range imports {
		first, _, _ := strings.Cut(imp, "/")
		if !strings.Contains(first, ".") || imp == module || strings.HasPrefix(imp, module+"/") {
			continue
		}
		found := false
		for m := range used {
			if imp == m || strings.HasPrefix(imp, m+"/") {
				used[m], found = true, true
			}
		}
		if !found {
			missing = append(missing, imp)
		}
	}
	for m, is := range used {
		if !is {
			idle = append(idle, m)
		}
	}
	slices.Sort(missing)
	slices.Sort(idle)
	return slices.Compact(missing), idle
}
