package workflow

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

func office(t *testing.T) *Definition {
	t.Helper()
	source, err := embedded.ReadFile("templates/office-default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return mustCompile(t, string(source))
}

func mustCompile(t *testing.T, source string) *Definition {
	t.Helper()
	d, report := Compile([]byte(source), Names{})
	if err := report.Err(); err != nil {
		t.Fatalf("compile:\n%s", FileErrors("test.yaml", report.Errors))
	}
	return d
}

func TestCompileOffice(t *testing.T) {
	t.Parallel()
	d := office(t)
	if d.Key != "office-default" || d.Name != "Office" || d.Style != "office" || d.Start != "backlog" || len(d.Steps) != 5 || d.Digest == "" {
		t.Errorf("head: got %+v", d)
	}
	w := d.Step("work")
	if w.Agent != "coder" || w.Complete != CompleteSignal || w.WIP != 5 || w.Settle != 5*time.Second || w.MaxVisits != DefaultMaxVisits {
		t.Errorf("work: got %+v", w)
	}
	if h := w.Heartbeat; h == nil || h.Every != 15*time.Minute || h.OnlyIf == nil || len(w.On[fairlead.TriggerHeartbeat]) != 1 {
		t.Errorf("heartbeat: got %+v", h)
	}
	enter := w.On[fairlead.TriggerEnter][0]
	if enter.Kind != ActionQueueRun || enter.Target != (Target{Kind: TargetPrimary}) || enter.Reason != "assigned" || enter.Task != "this" {
		t.Errorf("enter: got %+v", enter)
	}
	r := d.Step("review")
	if len(r.Participants) != 2 || !r.Participants[1].DecisionRequired || r.Participants[1].Person != "owner" {
		t.Errorf("participants: got %+v", r.Participants)
	}
	weighed := r.Weighed()
	if len(weighed) != 2 || weighed[0].Action.To != "work" || weighed[1].Action.To != "approval" || weighed[1].Index != 1 {
		t.Errorf("weighed: got %+v", weighed)
	}
	want := QuorumRef{fairlead.RoleReviewer, "any_reject"}
	if got := weighed[0].Action.If.Quorums; len(got) != 1 || got[0] != want {
		t.Errorf("quorums: got %v, want %v", got, want)
	}
	asks := func(role, threshold string) bool { return threshold == "any_reject" }
	if ok, err := weighed[0].Action.If.Eval(Facts{Quorum: asks}); !ok || err != nil {
		t.Errorf("guard: got %v, %v", ok, err)
	}
	if ok, err := weighed[1].Action.If.Eval(Facts{Quorum: asks}); ok || err != nil {
		t.Errorf("guard: got %v, %v", ok, err)
	}
	if len(d.Step("approval").Weighed()) != 2 {
		t.Error("moves that read approval are not weighed")
	}
	if d.TerminalStep(fairlead.TerminalDone).Key != "done" {
		t.Error("no terminal step")
	}
}
