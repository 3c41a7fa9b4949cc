package workflow

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sameGraph compares compiled definitions and leaves out where things stand in the file.
func sameGraph() cmp.Options {
	return cmp.Options{
		cmpopts.IgnoreTypes(Position{}), cmpopts.IgnoreUnexported(Step{}, Action{}), cmpopts.IgnoreFields(Definition{}, "Source", "Digest"),
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// E35: the vocabulary of ADR 0004 compiles to the same graph as ours.
func TestE35_BothVocabulariesCompileToTheSameGraph(t *testing.T) {
	t.Parallel()
	ours, report := Compile(read(t, "testdata/spellings/ours.yaml"), workspace())
	if report.Err() != nil {
		t.Fatal(FileErrors("ours.yaml", report.Errors))
	}
	theirs, report := Compile(read(t, "testdata/spellings/adr0004.yaml"), workspace())
	if report.Err() != nil {
		t.Fatal(FileErrors("adr0004.yaml", report.Errors))
	}
	if diff := cmp.Diff(ours, theirs, sameGraph()); diff != "" {
		t.Errorf("graphs differ (-ours +theirs):\n%s", diff)
	}
}

// The order of weighed moves is that of the file, whichever trigger or spelling they stand under.
func TestWeighedMovesStandInFileOrder(t *testing.T) {
	t.Parallel()
	d := mustCompile(t, `
workflow: order
steps:
  - key: work
    agent: coder
    transitions:
      - {when: turn_complete, if: approval.granted, goto: done}
    on:
      manual: {go: [{comment: {text: x}}, {move: {to: done, if: 'quorum("reviewer", "any_reject")'}}]}
      decision: [{move: {to: done, if: 'quorum("reviewer", "all_approve")'}}, {move: {to: done}}]
      comment: [{end: {as: done, if: approval.rejected}}]
  - {key: done, terminal: done}
`)
	type place struct {
		trigger, key string
		index        int
	}
	var got []place
	for _, w := range d.Step("work").Weighed() {
		got = append(got, place{string(w.Trigger), w.Key, w.Index})
	}
	want := []place{{"turn_complete", "", 0}, {"manual", "go", 1}, {"decision", "", 0}, {"comment", "", 0}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(place{})); diff != "" {
		t.Errorf("weighed (-want +got):\n%s", diff)
	}
	copied := &Step{On: d.Step("work").On, Manual: d.Step("work").Manual}
	if got := copied.Weighed(); len(got) != len(want) {
		t.Errorf("a step that was not compiled: got %d weighed moves", len(got))
	}
}

func TestAliasesShareWhatTheyName(t *testing.T) {
	t.Parallel()
	d := mustCompile(t, `
workflow: shared
steps:
  - key: a
    agent: coder
    on:
      agent_error: &trouble [{pause_agent: {agent: failed}}, {inbox_item: {}}]
      comment: [{move: {to: b}}]
  - {key: b, agent: coder, on: {agent_error: *trouble}}
`)
	if diff := cmp.Diff(d.Step("a").On["agent_error"], d.Step("b").On["agent_error"], sameGraph()); diff != "" {
		t.Error(diff)
	}
}
