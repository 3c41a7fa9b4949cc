package archtest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sources(t *testing.T) []source {
	t.Helper()
	got, err := readSources(root(t))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSizeBudget(t *testing.T) {
	t.Parallel()
	sizes, files := measure(sources(t))
	t.Logf("%d files: median %d (budget %d), nine in ten below %d (budget %d), longest %d (budget %d)", len(files),
		percentile(files, 50), medianFile, percentile(files, 90), ninetyFile, percentile(files, 100), maxFile)
	if got := percentile(files, 50); got > medianFile {
		t.Errorf("the median file has %d lines, the budget is %d", got, medianFile)
	}
	if got := percentile(files, 90); got >= ninetyFile {
		t.Errorf("one file in ten has %d lines or more, the budget is %d", got, ninetyFile)
	}
	over, idle := overBudget(sizes, waivers)
	for _, s := range over {
		t.Errorf("%s: split it, or argue a waiver in internal/archtest/waivers.go", s)
	}
	for _, w := range idle {
		t.Errorf("the waiver for %s %s is not needed any more: remove it", w.kind, w.key)
	}
}

func TestWaiversAreArgued(t *testing.T) {
	t.Parallel()
	for _, w := range waivers {
		if len(strings.Fields(w.why)) < 8 {
			t.Errorf("the waiver for %s %s gives no reason", w.kind, w.key)
		}
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	s := parse(t, "internal/x/x.go", `package x

type a interface {
	One()
	Two()
}

type b interface {
	a
	Three()
}

type c interface {
	a
	b
}

type t struct{}

func (t *t) Long() {
	_ = 1
}
`)
	sizes, files := measure([]source{s, parse(t, "internal/x/x_test.go", "package x\n"),
		parse(t, "internal/x/xtest/x.go", "package xtest\n\nfunc suite() {\n}\n")})
	if diff := cmp.Diff([]int{4, 22}, files); diff != "" {
		t.Errorf("files, tests left out:\n%s", diff)
	}
	got := map[string]int{}
	for _, s := range sizes {
		got[s.kind+" "+s.key] = s.lines
	}
	want := map[string]int{
		"file internal/x/x.go":            22,
		"function internal/x/x.go#t.Long": 3,
		"interface internal/x#a":          2,
		"interface internal/x#b":          3,
		"interface internal/x#c":          0,
		"package internal/x":              22,
		"file internal/x/xtest/x.go":      4,
		"package internal/x/xtest":        4,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOverBudget(t *testing.T) {
	t.Parallel()
	sizes := []size{{"file", "a", 10, 10}, {"file", "b", 11, 10}, {"file", "c", 30, 10}, {"file", "d", 30, 10}}
	over, idle := overBudget(sizes, []waiver{{kind: "file", key: "b", upTo: 12}, {kind: "file", key: "c", upTo: 20}, {kind: "file", key: "a", upTo: 20}})
	var names []string
	for _, s := range over {
		names = append(names, s.key)
	}
	for _, w := range idle {
		names = append(names, "idle "+w.key)
	}
	if diff := cmp.Diff([]string{"c", "d", "idle c", "idle a"}, names); diff != "" {
		t.Error(diff)
	}
}

func parse(t *testing.T, path, text string) source {
	t.Helper()
	s, err := parseSource(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
