package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
)

// The drawn machines are those of the code, arrow by arrow.
func TestDrawnMachinesAreTheCodes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "state-machines.md"))
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := parseMachines(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range fairlead.Machines() {
		want := fairlead.Transitions(name)
		if diff := cmp.Diff(sorted(want), sorted(drawn[name].arrows)); diff != "" {
			t.Errorf("%s: the code (-) and docs/state-machines.md (+) differ:\n%s", name, diff)
		}
		for _, end := range drawn[name].ends {
			if !finals(want)[end] {
				t.Errorf("%s: %s is drawn as an end, but an arrow leaves it", name, end)
			}
		}
		delete(drawn, name)
	}
	for name := range drawn {
		t.Errorf("%s is drawn and no machine of the code", name)
	}
}

func TestParseMachines(t *testing.T) {
	t.Parallel()
	const text = "## Door\n\nText --> not an arrow.\n```mermaid\nstateDiagram-v2\n  direction LR\n  [*] --> open: build\n" +
		"  open --> shut: push, wind\n\n  %% remark\n  shut --> [*]\n```\n"
	got, err := parseMachines(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []fairlead.Transition{
		{From: "", To: "open", Event: "build"}, {From: "open", To: "shut", Event: "push"}, {From: "open", To: "shut", Event: "wind"},
	}
	if diff := cmp.Diff(want, got["door"].arrows); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"shut"}, got["door"].ends); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"  open -> shut: push", "  open --> shut", "  shut --> [*]: why", "  state open {"} {
		if _, err := parseMachines("## Door\n```mermaid\nstateDiagram-v2\n" + bad + "\n```\n"); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
}

func sorted(ts []fairlead.Transition) []fairlead.Transition {
	ts = slices.Clone(ts)
	slices.SortFunc(ts, func(a, b fairlead.Transition) int {
		return slices.Compare([]string{a.From, a.To, a.Event}, []string{b.From, b.To, b.Event})
	})
	return ts
}
