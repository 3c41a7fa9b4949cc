package workflow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

func facts() Facts {
	return Facts{
		Task: TaskFacts{ID: "tsk_1", Title: "Mend it", Priority: "high", Agent: "coder", Labels: []string{"bug", "project:x"},
			Metadata: map[string]any{"test_cmd": "go test ./...", "n": 3.0}},
		Visit:     VisitFacts{N: 2, Step: "work", Round: 1},
		Children:  ChildrenFacts{Total: 3, Open: 1, Done: 1, Cancelled: 1},
		Blockers:  BlockerFacts{Open: 0},
		Decisions: DecisionFacts{Approved: 1, Rejected: 0, Pending: 2},
		Approval:  ApprovalFacts{Granted: true, Text: "fine"},
		Payload:   map[string]any{"author": "ann", "count": 2, "list": []any{"a", 1.5}, "ok": true, "verdict": fairlead.VerdictApproved, "nothing": nil, "nested": map[string]any{"deep": "yes"}},
		Quorum:    func(role, threshold string) bool { return role == "reviewer" && threshold == "all_approve" },
	}
}

func TestGuardReadsEveryFact(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		`task.id == "tsk_1" && task.title.startsWith("Mend")`:                             true,
		`task.priority in ["high", "urgent"] && task.agent == "coder"`:                    true,
		`"bug" in labels && "bug" in task.labels`:                                         true,
		`labels.exists(l, l.startsWith("project:"))`:                                      true,
		`task.metadata.test_cmd == "go test ./..."`:                                       true,
		`task.metadata.n > 2`:                                                             true,
		`has(task.metadata.other)`:                                                        false,
		`has(task.title)`:                                                                 true,
		`visit.n == 2 && visit.step == "work" && visit.round == 1`:                        true,
		`children.total == children.open + children.done + children.cancelled`:            true,
		`blockers.open > 0`:                                                               false,
		`decisions.approved == 1 && decisions.rejected == 0 && decisions.pending == 2`:    true,
		`approval.granted && !approval.rejected && !approval.open && approval.text != ""`: true,
		`payload.author == "ann" && payload.count == 2 && payload.nested.deep == "yes"`:   true,
		`payload.ok`: true,
		`payload.verdict == "approved" && payload.nothing == null`: true,
		`"author" in payload`:                                                    true,
		`quorum("reviewer", "all_approve")`:                                      true,
		`quorum('reviewer', 'n_approve:2')`:                                      false,
		`!quorum("approver", "any_reject") && quorum("reviewer", "all_approve")`: true,
		"true":  true,
		"false": false,
	} {
		g, err := ParseGuard(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		got, err := g.Eval(facts())
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", source, got, err, want)
		}
	}
}

func TestGuardThatErrorsIsFalse(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`payload.missing == 1`, `payload.author`, `1 / (children.open - 1) == 0`, `task.metadata.none == ""`,
		`labels.exists(a, labels.exists(b, labels.exists(c, labels.exists(d, labels.exists(e, a + b + c + d + e == "x")))))`,
	} {
		g, err := ParseGuard(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		f := facts()
		for range 50 {
			f.Task.Labels = append(f.Task.Labels, "label")
		}
		if got, err := g.Eval(f); err == nil || got {
			t.Errorf("%s: got %v and no error", source, got)
		}
	}
	g, err := ParseGuard("size(payload) == 0 && size(labels) == 0 && size(task.metadata) == 0 && !quorum('reviewer', 'any_reject')")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := g.Eval(Facts{}); !ok || err != nil {
		t.Errorf("no facts at all: got %v, %v", ok, err)
	}
}

func TestGuardAsksAQuorumOnlyWhenItGetsThere(t *testing.T) {
	t.Parallel()
	g, err := ParseGuard(`children.open == 0 && quorum("reviewer", "all_approve")`)
	if err != nil {
		t.Fatal(err)
	}
	f, asked := facts(), 0
	f.Quorum = func(string, string) bool { asked++; return true }
	if ok, err := g.Eval(f); ok || err != nil || asked != 0 {
		t.Errorf("got %v, %v after %d questions", ok, err, asked)
	}
	f.Children.Open = 0
	if ok, err := g.Eval(f); !ok || err != nil || asked != 1 {
		t.Errorf("got %v, %v after %d questions", ok, err, asked)
	}
}

func TestGuardKnowsWhatItNames(t *testing.T) {
	t.Parallel()
	g, err := ParseGuard(`quorum("reviewer", "n_approve:2") || quorum("reviewer", "n_approve:2") || labels.exists(l, quorum("approver", "any_reject"))`)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Quorums) != 2 || g.UsesApproval || g.Literal || !g.Weighed() {
		t.Errorf("got %+v", g)
	}
	if name, n := g.Quorums[0].Split(); name != ThresholdNApprove || n != 2 {
		t.Errorf("split: got %s %d", name, n)
	}
	if name, _ := (QuorumRef{fairlead.RoleReviewer, "most"}).Split(); name != "" {
		t.Errorf("split of nonsense: got %s", name)
	}
	if g, err = ParseGuard("approval.open"); err != nil || !g.UsesApproval || !g.Weighed() {
		t.Errorf("approval: got %+v, %v", g, err)
	}
	if g, err = ParseGuard("true"); err != nil || !g.Literal || g.Weighed() {
		t.Errorf("true: got %+v, %v", g, err)
	}
	var none *Guard
	if none.Weighed() || !none.Equal(nil) || none.Equal(g) || !g.Equal(g) {
		t.Error("a missing guard is not handled")
	}
}

func TestGuardRefusals(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"", "task", "tasks.id == ''", "task.owner == ''", "visit.n == 'x'", "quorum()", `quorum("reviewer", task.title)`, `quorum("reviewer", 3)`,
		`task.quorum("reviewer", "all_approve")`, "fairlead.task{id: 'x'} == task", "labels + 1", strings.Repeat("(", 300) + "true" + strings.Repeat(")", 300),
		strings.Repeat("true || ", 400) + "true", "children.open == 0 == 'x'", "\"unclosed",
	} {
		if g, err := ParseGuard(source); err == nil {
			t.Errorf("%.40q was accepted: %+v", source, g)
		} else if !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%.40q: got code %s", source, fairlead.ErrorCode(err))
		}
	}
}

func TestTextExpands(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"plain":                              "plain",
		"":                                   "",
		"$5 and $${task.id}":                 "$5 and ${task.id}",
		"${task.id}":                         "tsk_1",
		"a ${ task.title } b":                "a Mend it b",
		"${children.open}/${children.total}": "1/3",
		"${payload.list[1]} ${approval.granted} ${task.metadata.n}": "1.5 true 3",
		"${payload.list}":                                     `["a",1.5]`,
		"${payload.nested}${'}'}${{'a': 1}.a}":                `{"deep":"yes"}}1`,
		"${payload.author == \"\\\"\" ? '' : payload.author}": "ann",
		"${null}":  "",
		"${3u}":    "3",
		"end $":    "end $",
		"$$ ${1}$": "$$ 1$",
	} {
		x, err := ParseText(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		got, err := x.Expand(facts())
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", source, got, err, want)
		}
	}
	var none *Text
	if s, err := none.Expand(Facts{}); s != "" || err != nil || !none.Equal(nil) {
		t.Error("a missing text is not empty")
	}
}

func TestTextRefusalsAndErrors(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"${", "${}", "${ }", "${task}", "${task.nothing}", "${'}", "a ${1 + } b", "${duration('1s')}"} {
		if _, err := ParseText(source); err == nil {
			t.Errorf("%q was accepted", source)
		}
	}
	for _, source := range []string{"${payload.missing}", "x ${payload.missing}", "${{1: 'a'}}", "x ${[{1: 2}]}", "${[b'x']}", "${18446744073709551615u}", "x ${{'a': b'x'}}"} {
		x, err := ParseText(source)
		if err != nil {
			t.Errorf("%q: %v", source, err)
			continue
		}
		if s, err := x.Expand(facts()); err == nil {
			t.Errorf("%q: got %q and no error", source, s)
		}
		if v, err := x.Value(facts()); err == nil {
			t.Errorf("%q: got %v and no error", source, v)
		}
	}
}

func TestExpandPayloadKeepsTypes(t *testing.T) {
	t.Parallel()
	d := mustCompile(t, `
workflow: payload
steps:
  - key: work
    agent: coder
    program: {flow: fix-bug, with: {test_cmd: task.metadata.test_cmd, count: "${visit.n}", literal: task, deep: {ok: true}}}
    on:
      comment:
        - queue_run: {to: primary, key: "k-${visit.n}", payload: {n: "${visit.n}", list: ["${payload.author}", 2, null], text: "by ${payload.author}", all: "${payload.list}"}}
        - set: {metadata: {by: "${payload.author}"}, priority: low, agent: "", remove_labels: [old]}
`)
	s := d.Step("work")
	got, err := ExpandPayload(s.On["comment"][0].Payload, facts())
	want := "map[all:[a 1.5] list:[ann 2 <nil>] n:2 text:by ann]"
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
	if key, err := s.On["comment"][0].RunKey.Expand(facts()); key != "k-2" || err != nil {
		t.Errorf("key: got %q, %v", key, err)
	}
	got, err = ExpandPayload(s.With, facts())
	want = "map[count:2 deep:map[ok:true] literal:task test_cmd:go test ./...]"
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
	if set := s.On["comment"][1].Set; set.Agent == nil || *set.Agent != "" || set.Priority != fairlead.PriorityLow || set.RemoveLabels[0] != "old" {
		t.Errorf("set: got %+v", set)
	}
	if got, err := ExpandPayload(nil, facts()); got != nil || err != nil {
		t.Errorf("nil: got %v, %v", got, err)
	}
	if _, err := ExpandPayload(s.On["comment"][0].Payload, Facts{}); err == nil {
		t.Error("a missing payload gives no error")
	}
}

func BenchmarkGuard(b *testing.B) {
	g, err := ParseGuard(`children.open == 0 && quorum("reviewer", "all_approve") && task.priority != "low"`)
	if err != nil {
		b.Fatal(err)
	}
	f := facts()
	f.Children.Open = 0
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := g.Eval(f); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkCompileOffice(b *testing.B) {
	source := TemplateSource("office-default")
	for b.Loop() {
		if _, report := Compile(source, Names{}); report.Err() != nil {
			b.Fatal(report.Err())
		}
	}
}

func TestCompiledPartsAreSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	d := mustCompile(t, string(TemplateSource("office-default")))
	text, err := ParseText("${task.id} ${children.open}")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	const readers = 8
	for n := range readers {
		go func() {
			f := facts()
			f.Children.Open = n
			for range 200 {
				if ok, err := d.Step("work").On["turn_complete"][0].If.Eval(f); err != nil || ok != (n == 0) {
					done <- fmt.Errorf("reader %d: got %v, %v", n, ok, err)
					return
				}
				if s, err := text.Expand(f); err != nil || s != fmt.Sprintf("tsk_1 %d", n) {
					done <- fmt.Errorf("reader %d: got %q, %v", n, s, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range readers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestKeysWithDotsAreNotPaths(t *testing.T) {
	t.Parallel()
	d := mustCompile(t, "workflow: w\nsteps:\n  - {key: a, agent: x, on: {comment: [{queue_run: {to: primary, payload: {a: {b: 1}, a.b: 2}}}]}}\n")
	if got := d.Step("a").On["comment"][0].Payload; got["a.b"] != int64(2) {
		t.Errorf("got %v", got)
	}
}
