package engine

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

func TestE42_AMoveBeforeTheFirstEnterWasDelivered(t *testing.T) {
	t.Parallel()
	b := newBench(t, plain)
	b.do(Trigger{Kind: KindCreate, Actor: agentActor("chief"), NoEnter: true})
	p := b.do(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "review"}})
	equal(t, "effects", kinds(p.Effects), []string{
		"Entered", "NewAssignment", "Wake", "AddComment", "EndVisit", "BeginVisit", "NewAssignment", "Wake",
	})
	equal(t, "wakes", woken(p.Effects), []string{"coder assigned", "second look"})
	equal(t, "enter by", effects[Wake](p.Effects)[0].By, agentActor("chief"))
	p = b.do(Trigger{Kind: fairlead.TriggerEnter, Actor: fairlead.Engine()})
	equal(t, "delivered later", kinds(p.Effects), []string{})
	b.stands("review", 2)
}

func TestExplicitMovesThatAreRefused(t *testing.T) {
	t.Parallel()
	other := compile(t, strings.Replace(approving, "workflow: approving", "workflow: elsewhere", 1))
	b := created(t, plain, "")
	b.s.Other = other
	for name, c := range map[string]struct {
		actor fairlead.Actor
		move  *Move
		want  fairlead.Code
	}{
		"no move":                     {owner, nil, fairlead.CodeInvalid},
		"no step":                     {owner, &Move{}, fairlead.CodeInvalid},
		"unknown step":                {owner, &Move{To: "nowhere"}, fairlead.CodeInvalid},
		"client to another workflow":  {client, &Move{To: "work", Workflow: "elsewhere"}, fairlead.CodeForbidden},
		"unknown workflow":            {owner, &Move{To: "work", Workflow: "nowhere"}, fairlead.CodeInvalid},
		"unknown step over there":     {owner, &Move{To: "nowhere", Workflow: "elsewhere"}, fairlead.CodeInvalid},
		"its own workflow, by a name": {owner, &Move{To: "review", Workflow: "plain"}, ""},
	} {
		_, err := b.try(Trigger{Kind: KindMove, Actor: c.actor, Move: c.move})
		got := fairlead.Code("")
		if err != nil {
			got = err.Code
		}
		equal(t, name, got, c.want)
	}
	// The step of the same key in another workflow is another place.
	p := b.do(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "work", Workflow: "elsewhere"}})
	b.stands("work", 2)
	equal(t, "workflow", []string{b.s.Task.Workflow, b.s.Pinned.Key, b.s.Newest.Key}, []string{"elsewhere", "elsewhere", "elsewhere"})
	equal(t, "moved", p.Moved, true)
	b.do(Trigger{Kind: fairlead.TriggerComment, Actor: client})
	b.stands("review", 3)
}

func TestTerminalSteps(t *testing.T) {
	t.Parallel()
	b := created(t, plain, "done")
	p := b.do(Trigger{Kind: fairlead.TriggerComment, Actor: owner})
	equal(t, "no rules, nothing happens", p.Effects, []Effect(nil))
	_, err := b.try(Trigger{Kind: KindMove, Actor: agentActor("coder"), Move: &Move{To: "work"}})
	equal(t, "agent", err.Code, fairlead.CodeRefused)
	b.do(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "work"}})
	equal(t, "open again", b.s.Task.Terminal, fairlead.TerminalNone)

	// A coordination task never ends.
	b = created(t, plain, "review")
	b.s.Task.Coordination = "chief"
	_, err = b.try(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "done"}})
	equal(t, "explicit", err.Code, fairlead.CodeRefused)
	p = b.do(Trigger{Kind: fairlead.TriggerComment, Actor: owner})
	b.stands("work", 2)
	if !strings.Contains(strings.Join(why(p), "\n"), "comment move failed never_ends") {
		t.Errorf("why: %v", why(p))
	}
}

func TestE20_TheNextVisitHasTheNewVersion(t *testing.T) {
	t.Parallel()
	b := created(t, plain, "")
	newer := compile(t, strings.Replace(plain, "reason: look", "reason: look_twice", 1))
	newer.Version = 2
	b.s.Newest = newer
	p := b.do(b.turnEnds(b.primary(), true))
	equal(t, "wakes", woken(p.Effects), []string{"second look_twice"})
	equal(t, "version", effects[BeginVisit](p.Effects)[0].Visit.WorkflowVersion, 2)

	// A rule of the old version may name a step that the newest lost: visible, and the task stays.
	b = created(t, plain, "")
	b.s.Newest = compile(t, looping)
	p = b.do(b.turnEnds(b.primary(), true))
	equal(t, "why", why(p), []string{"turn_complete move failed no_such_step"})
	equal(t, "effects", kinds(p.Effects), []string{"AddNotice"})
}

func TestE20_RepinMovesAStandingVisit(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	b.vote("agent:reviewer", fairlead.VerdictApproved)
	p := b.do(Trigger{Kind: KindRepin, Actor: owner})
	equal(t, "same", why(p), []string{"repin repin skipped same_version"})

	newer := compile(t, strings.Replace(reviewed, "agent: tester", "agent: second", 1))
	newer.Version = 2
	b.s.Newest = newer
	p = b.do(Trigger{Kind: KindRepin, Actor: owner})
	equal(t, "effects", kinds(p.Effects), []string{"Repinned", "RemoveSeat", "AddSeat", "NewAssignment", "Wake"})
	equal(t, "place", []int{b.s.Visit.N, b.s.Visit.Round, b.s.Visit.WorkflowVersion, b.s.Task.WorkflowVersion}, []int{1, 1, 2, 2})
	// Votes of seats that stay are kept.
	equal(t, "approved", FactsOf(b.s, nil).Decisions.Approved, 1)

	gone := compile(t, looping)
	gone.Version = 3
	b.s.Newest = gone
	_, err := b.try(Trigger{Kind: KindRepin, Actor: owner})
	equal(t, "gone", []string{string(err.Code), err.Hint}, []string{"refused", "move the task to one of the steps it has: [rest a b quiet]"})

	ended := compile(t, strings.Replace(reviewed, "    name: Review\n", "    name: Review\n    terminal: cancelled\n", 1))
	ended.Version = 4
	b.s.Newest = ended
	p = b.do(Trigger{Kind: KindRepin, Actor: owner})
	equal(t, "terminal", effects[Repinned](p.Effects)[0], Repinned{Version: 4, Terminal: fairlead.TerminalCancelled})
	b.s.Newest.Version, b.s.Task.Coordination = 5, "chief"
	_, err = b.try(Trigger{Kind: KindRepin, Actor: owner})
	equal(t, "coordination", err.Code, fairlead.CodeRefused)
}

func TestArchiveEndsEverything(t *testing.T) {
	t.Parallel()
	b := created(t, approving, "")
	b.do(manual("any", nil))
	b.do(manual("away", nil))
	p := b.do(Trigger{Kind: KindArchive, Actor: owner})
	equal(t, "effects", kinds(p.Effects), []string{"DropDeferred", "CloseRequest", "EndVisit", "ArchiveTask"})
	for _, k := range []fairlead.TriggerKind{KindMove, KindSeats, KindRepin, KindRelease, fairlead.TriggerManual} {
		if _, err := b.try(Trigger{Kind: k, Key: "any", Actor: owner}); fairlead.ErrorCode(err) != fairlead.CodeRefused {
			t.Errorf("%s: %v", k, err)
		}
	}
	for _, k := range []fairlead.TriggerKind{KindArchive, KindRecheck, fairlead.TriggerComment} {
		p, err := b.try(Trigger{Kind: k, Actor: owner})
		if err != nil || len(p.Effects) != 0 || p.Why[0].Reason != "archived" {
			t.Errorf("%s: %v %v", k, p, err)
		}
	}
}

func TestTriggersThatAreRefused(t *testing.T) {
	t.Parallel()
	b := created(t, approving, "")
	for name, c := range map[string]struct {
		t    Trigger
		code fairlead.Code
		hint string
	}{
		"unknown":     {Trigger{Kind: "dance"}, fairlead.CodeInvalid, "use one of the triggers of the guide to workflows"},
		"later visit": {Trigger{Kind: fairlead.TriggerComment, Visit: 9}, fairlead.CodeConflict, "read the task again and decide on what it shows"},
		"manual key":  {Trigger{Kind: fairlead.TriggerManual, Key: "dance"}, fairlead.CodeInvalid, "use one of: any, ask, away, wrong"},
		"create":      {Trigger{Kind: KindCreate, Move: &Move{To: "nowhere"}}, fairlead.CodeInvalid, "use one of: [work review approved away done]"},
	} {
		_, err := b.try(c.t)
		equal(t, name, []string{string(err.Code), err.Hint}, []string{string(c.code), c.hint})
	}
	b = created(t, plain, "")
	_, err := b.try(manual("any", nil))
	equal(t, "no manual", err.Hint, "name it under `manual` of step work")
	b.s.Visit.Step = "lost"
	_, err = b.try(manual("any", nil))
	equal(t, "lost", err.Code, fairlead.CodeInternal)
	equal(t, "no quorums", len(Quorums(b.s))+len(Quorums(Snapshot{})), 0)
}

func TestHeartbeatAsksItsConditionFirst(t *testing.T) {
	t.Parallel()
	source := func(condition string) string {
		return `
workflow: beating
name: Beating
start: work
steps:
  - key: work
    name: Work
    agent: coder
    on:
      heartbeat: {every: 15m, only_if: "` + condition + `", do: [{queue_run: {to: primary}}]}
`
	}
	beat := Trigger{Kind: fairlead.TriggerHeartbeat, Actor: fairlead.Engine()}
	b := created(t, source("children.open > 0"), "")
	p := b.do(beat)
	equal(t, "false", why(p), []string{"heartbeat only_if skipped guard_false"})
	equal(t, "nothing", kinds(p.Effects), []string{})
	b.s.Children = []Linked{{Task: "tsk_2", Open: true}}
	equal(t, "true", woken(b.do(beat).Effects), []string{"coder heartbeat"})
	b = created(t, source("payload.missed > 3"), "")
	equal(t, "error", why(b.do(beat)), []string{"heartbeat only_if skipped guard_error"})
}

func TestAGuardThatErrorsIsFalse(t *testing.T) {
	t.Parallel()
	b := created(t, approving, "")
	p := b.do(manual("ask", nil))
	equal(t, "why", why(p), []string{
		"manual:ask request_approval taken", "manual:ask move skipped guard_false", "manual:ask move skipped guard_error",
	})
}

func TestQuorumsExplainEachGuard(t *testing.T) {
	t.Parallel()
	b := created(t, `
workflow: two
name: Two
start: review
steps:
  - key: review
    name: Review
    participants:
      - {role: reviewer, agent: reviewer}
      - {role: reviewer, agent: tester}
    on:
      comment: [{move: {to: done, if: 'quorum("reviewer", "n_approve:3")'}}]
      decision:
        - move: {to: done, if: 'quorum("reviewer", "majority_approve")'}
      manual: {go: [{move: {to: done, if: 'quorum("reviewer", "all_decide") && payload.go'}}]}
  - {key: done, name: Done, terminal: done}
`, "")
	reasons := func() (out []string) {
		for _, q := range Quorums(b.s) {
			out = append(out, q.Trigger+" "+q.Reason)
		}
		return out
	}
	equal(t, "at first", reasons(), []string{"comment unsatisfiable", "decision waiting", "manual:go waiting"})
	b.vote("agent:reviewer", fairlead.VerdictRejected)
	q := Quorums(b.s)[1]
	equal(t, "half", []any{q.Needed, q.Received, len(q.Missing), q.Missing[0].Agent, q.Guard, q.Round},
		[]any{2, 0, 1, "tester", `quorum("reviewer", "majority_approve")`, 1})
	b.vote("agent:tester", fairlead.VerdictRejected)
	equal(t, "all", reasons(), []string{"comment unsatisfiable", "decision not_met", "manual:go met"})
	if !(FactsOf(b.s, nil).Quorum("reviewer", "all_decide")) || FactsOf(b.s, nil).Quorum("reviewer", "most") {
		t.Error("facts answer quorums wrongly")
	}
	equal(t, "unknown threshold", hopeless(&b.s, workflow.QuorumRef{Role: "reviewer", Threshold: "most"}), "unsatisfiable")
}
