package engine

import (
	"testing"

	"github.com/fairlead/fairlead"
)

const plain = `
workflow: plain
name: Plain
start: work
steps:
  - key: work
    name: Work
    agent: coder
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      exit: [{comment: {text: "left ${visit.step}"}}]
      comment: [{queue_run: {to: primary}}]
      turn_complete: [{move: {to: review}}]
  - key: review
    name: Review
    agent: second
    on:
      enter: [{queue_run: {to: primary, reason: look}}]
      comment:
        - move: {to: work, if: 'labels.exists(l, l == "redo")'}
        - set: {add_labels: [redo]}
        - move: {to: done, if: 'children.open == 0'}
        - queue_run: {to: primary}
        - move: {to: work}
      manual: {back: [{move: {to: work}}]}
  - key: done
    name: Done
    terminal: done
`

func TestE1_EnterRunsOnEveryWayIn(t *testing.T) {
	t.Parallel()
	t.Run("create", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, plain)
		p := b.do(Trigger{Kind: KindCreate, Actor: owner})
		equal(t, "effects", kinds(p.Effects), []string{"BeginVisit", "Entered", "NewAssignment", "Wake"})
		equal(t, "wakes", woken(p.Effects), []string{"coder assigned"})
		b.stands("work", 1)
	})
	t.Run("create at a step", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, plain)
		p := b.do(Trigger{Kind: KindCreate, Actor: owner, Move: &Move{To: "review"}})
		equal(t, "wakes", woken(p.Effects), []string{"second look"})
	})
	t.Run("child", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, plain)
		p := b.do(Trigger{Kind: KindCreate, Actor: fairlead.Engine(), NoEnter: true})
		equal(t, "begin", kinds(p.Effects), []string{"BeginVisit"})
		p = b.do(Trigger{Kind: fairlead.TriggerEnter, Actor: fairlead.Engine()})
		equal(t, "wakes", woken(p.Effects), []string{"coder assigned"})
		p = b.do(Trigger{Kind: fairlead.TriggerEnter, Actor: fairlead.Engine()})
		equal(t, "again", why(p), []string{"enter enter skipped already_entered"})
	})
	for name, actor := range map[string]fairlead.Actor{"person": owner, "agent": agentActor("chief"), "client": client, "engine": fairlead.Engine()} {
		t.Run("move by "+name, func(t *testing.T) {
			t.Parallel()
			b := created(t, plain, "")
			p := b.do(Trigger{Kind: KindMove, Actor: actor, Move: &Move{To: "review", Note: "look"}})
			equal(t, "wakes", woken(p.Effects), []string{"second look"})
			v := effects[BeginVisit](p.Effects)[0].Visit
			equal(t, "visit", v, fairlead.Visit{
				Task: "tsk_1", N: 2, Workflow: "plain", WorkflowVersion: 1, Step: "review", From: "work", By: actor, Reason: "move", Note: "look", Round: 1, BeganAt: at,
			})
		})
	}
	t.Run("move by a rule", func(t *testing.T) {
		t.Parallel()
		b := created(t, plain, "")
		p := b.do(b.turnEnds(b.primary(), true))
		equal(t, "wakes", woken(p.Effects), []string{"second look"})
		equal(t, "by", effects[BeginVisit](p.Effects)[0].Visit.By, fairlead.Engine())
	})
}

func TestE2_ExitThenEnterInOnePlan(t *testing.T) {
	t.Parallel()
	b := created(t, plain, "")
	p := b.do(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "review"}})
	equal(t, "effects", kinds(p.Effects), []string{"AddComment", "EndVisit", "BeginVisit", "NewAssignment", "Wake"})
	equal(t, "exit", p.Effects[0].(AddComment).Text, "left work")
	equal(t, "payload", effects[Wake](p.Effects)[0].Payload, map[string]any{"from": "work", "to": "review", "actor": "person:owner", "reason": "move"})
	b.stands("review", 2)
	if !p.Moved {
		t.Error("plan does not say that the task moved")
	}
}

func TestE3_FirstHoldingMoveWinsAndComesLast(t *testing.T) {
	t.Parallel()
	b := created(t, plain, "review")
	p := b.do(Trigger{Kind: fairlead.TriggerComment, Actor: owner})
	equal(t, "effects", kinds(p.Effects), []string{"SetTask", "Wake", "EndVisit", "BeginVisit"})
	// The label set by the same trigger does not make the first move hold: guards see the state before.
	equal(t, "why", why(p), []string{
		"comment set taken", "comment queue_run taken", "comment move skipped guard_false", "comment move taken", "comment move skipped earlier_move",
	})
	b.stands("done", 2)
	equal(t, "terminal", b.s.Task.Terminal, fairlead.TerminalDone)
}

const reviewed = `
workflow: reviewed
name: Reviewed
start: work
steps:
  - key: work
    name: Work
    agent: coder
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      turn_complete: [{move: {to: review}}]
  - key: review
    name: Review
    participants:
      - {role: reviewer, agent: reviewer, decision_required: true}
      - {role: reviewer, agent: tester, decision_required: true}
      - {role: reviewer, person: owner, decision_required: true}
    on:
      enter: [{clear_decisions: {}}, {fan_out: {role: reviewer, reason: review}}]
      decision:
        - move: {to: work, if: 'quorum("reviewer", "any_reject")'}
        - move: {to: done, if: 'quorum("reviewer", "all_approve")'}
  - key: done
    name: Done
    terminal: done
`

func TestE7_QuorumTwoAgentsOnePerson(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "")
	p := b.do(b.turnEnds(b.primary(), true))
	b.stands("review", 2)
	// Asking and fan_out meet: each agent is woken once, the person gets one request.
	equal(t, "wakes", woken(p.Effects), []string{"reviewer review", "tester review"})
	asked := effects[OpenRequest](p.Effects)
	if len(asked) != 1 {
		t.Fatalf("%d requests, want 1", len(asked))
	}
	r := asked[0].Request
	equal(t, "asked", r.AskedOf, []string{"person:owner"})
	equal(t, "request", []any{r.Kind, r.Blocks, r.Round, r.Seat}, []any{fairlead.RequestDecision, fairlead.BlocksNothing, 1, b.seat("person:owner").ID})

	for _, holder := range []string{"agent:reviewer", "person:owner"} {
		if p := b.vote(holder, fairlead.VerdictApproved); p.Moved {
			t.Fatalf("moved after the vote of %s", holder)
		}
	}
	p = b.vote("agent:tester", fairlead.VerdictApproved)
	if !p.Moved {
		t.Fatalf("the last vote did not move: %v", why(p))
	}
	b.stands("done", 3)
}

func TestE8_APersonsRejectFiresAnyReject(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	p := b.vote("person:owner", fairlead.VerdictRejected)
	b.stands("work", 2)
	// The engine moves because of the vote; what it wakes is caused by the person.
	equal(t, "by", effects[BeginVisit](p.Effects)[0].Visit.By, fairlead.Engine())
	equal(t, "wake by", effects[Wake](p.Effects)[0].By, owner)
}

func TestE9_AnewRoundCountsNoOldVote(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	b.vote("agent:reviewer", fairlead.VerdictApproved)
	b.vote("agent:tester", fairlead.VerdictRejected)
	b.stands("work", 2)
	b.do(b.turnEnds(b.primary(), true))
	b.stands("review", 3)
	f := FactsOf(b.s, nil)
	equal(t, "decisions", []int{f.Decisions.Approved, f.Decisions.Rejected, f.Decisions.Pending}, []int{0, 0, 3})
	b.vote("agent:tester", fairlead.VerdictApproved)
	b.vote("person:owner", fairlead.VerdictApproved)
	b.stands("review", 3)
	b.vote("agent:reviewer", fairlead.VerdictApproved)
	b.stands("done", 4)
}
