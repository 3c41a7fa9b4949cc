package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// The linter's file holds the layer table a second time, between these two lines, so that an editor shows a wrong
// import at once. The text between them is made here; a test compares, and writes it with -update.
const (
	depguardBegin = "      # layers: begin (made by `go test ./internal/archtest -update`)\n"
	depguardEnd   = "      # layers: end\n"
)

// depguardRules renders the table as rules of golangci-lint's depguard.
func depguardRules() string {
	var b strings.Builder
	b.WriteString("      rules:\n")
	for _, r := range rules {
		writeRule(&b, r)
	}
	return b.String()
}

func writeRule(b *strings.Builder, r rule) {
	fmt.Fprintf(b, "        %s:\n          list-mode: lax\n          files:\n            - \"!$test\"\n", ruleName(r))
	for _, f := range filesOf(r) {
		fmt.Fprintf(b, "            - %q\n", f)
	}
	if allow := allowList(r); len(allow) > 0 {
		b.WriteString("          allow:\n")
		for _, a := range allow {
			fmt.Fprintf(b, "            - %s\n", a)
		}
	}
	b.WriteString("          deny:\n")
	writeDeny(b, module+"/", "against the layer table of docs/ARCHITECTURE.md")
	if r.level <= 1 {
		for _, p := range impure {
			writeDeny(b, p+"$", "the pure layer does no I/O and has no clock, random or context")
		}
	}
	for _, ban := range bans {
		if !isWithin(r.path, ban.except) {
			writeDeny(b, ban.pkg, ban.why)
		}
	}
}

func writeDeny(b *strings.Builder, pkg, why string) {
	fmt.Fprintf(b, "            - pkg: %s\n              desc: %q\n", pkg, why)
}

func ruleName(r rule) string {
	if r.path == "" {
		return "root"
	}
	return strings.NewReplacer("internal/", "", "/", "-").Replace(r.path)
}

// filesOf are the globs of the files a rule covers: its family without those that have rules of their own.
func filesOf(r rule) []string {
	if r.path == "" {
		return []string{"${config-path}/*.go"}
	}
	files := []string{"${config-path}/" + r.path + "/**"}
	for _, other := range rules {
		if other.path != r.path && within(other.path, r.path) {
			files = append(files, "!${config-path}/"+other.path+"/**")
		}
	}
	return files
}

// allowList names the packages of this module that a rule lets in. Depguard takes the longer of two matching
// prefixes, so these win over the denied module; a package whose children have rules of their own is named exactly.
func allowList(r rule) []string {
	var allow []string
	for _, to := range rules {
		if to.path == "" || !allowed(r, to) {
			continue
		}
		path := module + "/" + to.path
		if slices.ContainsFunc(rules, func(o rule) bool { return o.path != to.path && within(o.path, to.path) }) {
			path += "$"
		}
		allow = append(allow, path)
	}
	return allow
}
