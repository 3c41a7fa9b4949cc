package engine

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// TestEffectsAreSealed names every effect once: a new one has to be put here, and into apply or control.
func TestEffectsAreSealed(t *testing.T) {
	t.Parallel()
	all := []Effect{
		NewAssignment{}, Wake{}, OpenRound{}, AddSeat{}, RemoveSeat{}, OpenRequest{}, CloseRequest{}, CreateChild{}, PauseAgent{}, AddNotice{},
		AddComment{}, SetTask{}, Notify{}, Send{}, EndVisit{}, BeginVisit{}, CarryRun{}, Entered{}, Repinned{}, DeferTrigger{}, DropDeferred{},
		HoldTask{}, ArchiveTask{}, StopRuns{}, Tell{},
	}
	seen := map[string]bool{}
	for _, e := range all {
		e.effect()
		seen[kinds([]Effect{e})[0]] = true
	}
	equal(t, "effects", len(seen), 25)
}

func TestPayloadsAreCopiedDeeply(t *testing.T) {
	t.Parallel()
	in := map[string]any{"list": []any{map[string]any{"a": 1}}, "texts": []string{"x"}, "n": 1}
	out := copyMap(in)
	in["list"].([]any)[0].(map[string]any)["a"] = 2
	in["texts"].([]string)[0] = "y"
	equal(t, "copy", out, map[string]any{"list": []any{map[string]any{"a": 1}}, "texts": []string{"x"}, "n": 1})
}

func TestStepsWithoutANameAndTasksWithoutAPriority(t *testing.T) {
	t.Parallel()
	b := created(t, plain, "")
	b.s.Task.Priority = ""
	equal(t, "priority", FactsOf(b.s, nil).Task.Priority, "medium")
	equal(t, "primary", FactsOf(b.s, nil).Task.Agent, "coder")
	b.s.Task.Agent = "second"
	equal(t, "own agent", FactsOf(b.s, nil).Task.Agent, "second")
	equal(t, "no definition", FactsOf(Snapshot{}, nil).Task.Agent, "")
	equal(t, "name", nameOf(&workflow.Step{Key: "k"}), "k")
}

func TestARoleIsKnownByWhateverSpeaksOfIt(t *testing.T) {
	t.Parallel()
	guard, err := workflow.ParseGuard(`quorum("approver", "all_approve")`)
	if err != nil {
		t.Fatal(err)
	}
	role := workflow.Action{Kind: workflow.ActionQueueRun, Target: workflow.Target{Kind: workflow.TargetRole, Name: "collaborator"}}
	step := &workflow.Step{
		On: map[fairlead.TriggerKind][]workflow.Action{fairlead.TriggerComment: {role}, fairlead.TriggerEnter: {{Kind: workflow.ActionFanOut, Role: "watcher"}}},
		Manual: map[string][]workflow.Action{
			"x": {{Kind: workflow.ActionMove, To: "y", If: guard}},
		},
	}
	for _, r := range []fairlead.Role{fairlead.RoleCollaborator, fairlead.RoleApprover, fairlead.RoleWatcher} {
		if !hasRole(step, r) {
			t.Errorf("%s is unknown", r)
		}
	}
	if hasRole(step, fairlead.RoleReviewer) {
		t.Error("a reviewer is known")
	}
}
