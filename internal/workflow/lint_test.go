package workflow

import (
	"strings"
	"testing"
)

// E11: a quorum with nobody to vote, or that its slate cannot reach, is a warning and no refusal.
func TestE11_LintWarnings(t *testing.T) {
	t.Parallel()
	const head = "workflow: w\nsteps:\n  - {key: work, agent: coder, on: {comment: [{move: {to: review}}]}}\n  - key: review\n"
	const tail = "  - {key: done, terminal: done}\n"
	const move = "    on: {decision: [{move: {to: done, if: 'quorum(\"reviewer\", \"all_approve\")'}}]}\n"
	for name, c := range map[string]struct{ source, want string }{
		"nobody votes":        {head + move + tail, "5:22: nobody votes as reviewer"},
		"empty passes":        {head + "    quorum: {on_empty: pass}\n" + move + tail, ""},
		"only without a vote": {head + "    participants: [{role: reviewer, person: owner, decision_required: false}]\n" + move + tail, "nobody votes"},
		"other role":          {head + "    participants: [{role: approver, person: owner}]\n" + move + tail, "nobody votes"},
		"out of reach": {head + "    participants: [{role: reviewer, person: owner}]\n" + strings.Replace(move, "all_approve", "n_approve:2", 1) + tail,
			"n_approve:2 needs 2 votes, but only 1"},
		"reviews itself":    {head + "    participants: [{role: reviewer, agent: coder}]\n" + move + tail, "is left out of the vote"},
		"may review itself": {"self_review: true\n" + head + "    participants: [{role: reviewer, agent: coder}]\n" + move + tail, ""},
		"twice is one warning": {head + "    on: {decision: [{move: {to: done, if: 'quorum(\"reviewer\", \"any_reject\")'}}, {move: {to: work, if: 'quorum(\"reviewer\", \"any_reject\")'}}]}\n" + tail,
			"nobody votes"},
		"unreached":                {head + tail, "no move names the step \"done\""},
		"own step":                 {head + "    on: {comment: [{move: {to: review}}, {move: {to: done}}]}\n" + tail, "a move to its own step"},
		"never taken":              {head + "    on: {comment: [{move: {to: work}}, {move: {to: done, if: children.open == 0}}]}\n" + tail, "never taken"},
		"approval nobody asks for": {head + "    on: {comment: [{move: {to: done, if: approval.granted}}]}\n" + tail, "nothing at this step asks for one"},
		"approval of a program":    {head + "    program: flow:fix-bug\n    on: {comment: [{move: {to: done, if: approval.granted}}]}\n" + tail, ""},
		"by hand alone":            {head + "    manual: {finish: [{move: {to: done}}]}\n" + tail, ""},
		"unknown duty":             {head + "    on: {comment: [{queue_run: {to: \"duty:cfo\"}}, {move: {to: done}}]}\n" + tail, "no agent of the workspace has the duty \"cfo\""},
	} {
		d, report := Compile([]byte(c.source), workspace())
		if report.Err() != nil || d == nil {
			t.Errorf("%s: refused: %v", name, report.Err())
			continue
		}
		got := FileErrors("w", report.Warnings)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 1 {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// E18: a cycle that has an event from outside, or a guard, on it is accepted.
func TestE18_GuardedCyclesAreAccepted(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"workflow: w\nsteps:\n  - {key: a, on: {enter: [{move: {to: b, if: visit.n < 9}}]}}\n  - {key: b, on: {enter: [{move: {to: a}}]}}\n",
		"workflow: w\nsteps:\n  - {key: a, agent: x, on: {enter: [auto_start], turn_complete: [{move: {to: b}}]}}\n  - {key: b, agent: x, on: {enter: [auto_start], turn_complete: [{move: {to: a}}]}}\n",
		"workflow: w\nsteps:\n  - {key: a, on: {enter: [{create_child: {title: x, workflow: other}}]}}\n",
		"workflow: w\nsteps:\n  - {key: a, on: {enter: [{move: {to: a}}]}}\n",
	} {
		mustCompile(t, source)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	d := mustCompile(t, "workflow: w\nsteps:\n  - key: a\n    on: {comment: [{create_child: {title: x}}, {inbox_item: {}}, {queue_run: {to: primary}}, {end: {}}, {request_approval: }], enter: }\n    manual: {noop: }\n  - {key: z, terminal: done}\n")
	a := d.Step("a")
	if d.Name != "w" || d.Style != "kanban" || d.Start != "a" || d.SelfReview || d.Version != 0 {
		t.Errorf("workflow: got %+v", d)
	}
	if a.Name != "a" || a.Stage != "custom" || a.Program != ProgramPlain || a.Complete != CompleteTurn || a.WIP != 0 || a.Settle != 0 || a.Plan ||
		a.MaxVisits != DefaultMaxVisits || a.OnInterrupt != "continue" || a.Approve != "ask" || a.OnEmpty != OnEmptyBlock || a.Terminal != "" {
		t.Errorf("step: got %+v", a)
	}
	acts := a.On["comment"]
	if acts[0].Workflow != "w" || acts[1].NoticeKind != "comment" || acts[2].Reason != "comment" || acts[2].Payload != nil ||
		acts[3].Kind != ActionMove || acts[3].To != "z" || acts[4].Of != "" {
		t.Errorf("actions: got %+v", acts)
	}
	if got, ok := a.Manual["noop"]; !ok || len(got) != 0 {
		t.Errorf("manual: got %v", a.Manual)
	}
	if d.Step("none") != nil || d.TerminalStep("cancelled") != nil {
		t.Error("a step that is not there was found")
	}
	for want, target := range map[string]Target{"primary": {Kind: TargetPrimary}, "duty:ceo": {TargetDuty, "ceo"}} {
		if target.String() != want {
			t.Errorf("target: got %s, want %s", target, want)
		}
	}
}

func TestRemovedAndRemap(t *testing.T) {
	t.Parallel()
	old := mustCompile(t, "workflow: w\nsteps: [{key: a}, {key: b}, {key: c}]\n")
	now := mustCompile(t, "workflow: w\nsteps: [{key: b}, {key: d}]\n")
	if got := Removed(old, now); !equal(got, []string{"a", "c"}) {
		t.Errorf("removed: got %v", got)
	}
	if Removed(nil, now) != nil {
		t.Error("nothing was there to remove")
	}
	if err := CheckRemap(old, now, map[string]string{"a": "b", "c": "d"}).Err(); err != nil {
		t.Errorf("got %v", err)
	}
	bad := CheckRemap(old, now, map[string]string{"a": "c", "b": "d"})
	if len(bad.Errors) != 2 || bad.Errors[0].Path != "remap.a" || bad.Errors[1].Path != "remap.b" {
		t.Errorf("got %+v", bad.Errors)
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	d := mustCompile(t, "workflow: w\nsteps:\n  - {key: a, agent: x, program: {flow: f, with: {cmd: task.metadata.test_cmd, none: task.metadata.absent, n: 3}}}\n")
	values, missing := d.Step("a").Inputs(facts())
	if values["cmd"] != "go test ./..." || values["n"] != int64(3) || len(values) != 2 || !equal(missing, []string{"none"}) {
		t.Errorf("got %v, missing %v", values, missing)
	}
}
