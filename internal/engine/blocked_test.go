package engine

import (
	"testing"

	"github.com/fairlead/fairlead"
)

const approving = `
workflow: approving
name: Approving
start: work
steps:
  - key: work
    name: Work
    agent: coder
    on:
      comment: [{queue_run: {to: primary}}, {move: {to: review, if: 'labels.size() == 0'}}]
      manual:
        ask: [{request_approval: {of: "person:owner", prompt: "May ${task.title} go on?"}}, {move: {to: approved, if: "approval.granted"}}, {move: {to: review, if: "payload.go"}}]
        any: [{request_approval: {}}]
        wrong: [{request_approval: {of: "person:nobody"}}]
        away: [{move: {to: away}}]
      approval_resolved:
        - move: {to: done, if: "approval.granted && approval.text == 'now'"}
        - comment: {text: "verdict ${payload.verdict}"}
      request_resolved: [{comment: {text: "outcome ${payload.outcome}"}}]
  - {key: review, name: Review}
  - {key: approved, name: Approved}
  - {key: away, name: Away}
  - {key: done, name: Done, terminal: done}
`

func manual(key string, payload map[string]any) Trigger {
	return Trigger{Kind: fairlead.TriggerManual, Key: key, Actor: owner, Payload: payload}
}

func TestE30_ATriggerBehindABlockingRequestIsPutAside(t *testing.T) {
	t.Parallel()
	b := created(t, approving, "")
	b.ask("", fairlead.BlocksTask)
	p := b.do(Trigger{Kind: fairlead.TriggerComment, Actor: client, Payload: map[string]any{"comment_id": "com_1"}})
	// What is no move happens at once: no wake is lost.
	equal(t, "effects", kinds(p.Effects), []string{"NewAssignment", "Wake", "DeferTrigger"})
	equal(t, "why", why(p), []string{"comment queue_run taken", "comment move deferred blocked"})
	equal(t, "plan", []any{p.Deferred, p.Moved}, []any{true, false})
	equal(t, "trigger", effects[DeferTrigger](p.Effects)[0].Trigger.Payload, map[string]any{"comment_id": "com_1"})
	b.do(manual("away", nil))

	p = b.resolve(fairlead.RequestQuestion, fairlead.RequestExpired, nil)
	b.stands("review", 2)
	// The resolution's own trigger first, then the put-aside ones: the first moves, the second is superseded.
	equal(t, "replay", kinds(p.Effects), []string{"AddComment", "DropDeferred", "DropDeferred", "EndVisit", "BeginVisit"})
	drops := effects[DropDeferred](p.Effects)
	equal(t, "outcomes", []DropDeferred{drops[0], drops[1]}, []DropDeferred{{Seq: 2, Outcome: DroppedMoved}, {Seq: 3, Outcome: DroppedSuperseded}})
	equal(t, "by", effects[BeginVisit](p.Effects)[0].Visit.Reason, "comment")
}

func TestE30_GuardsAreEvaluatedAnew(t *testing.T) {
	t.Parallel()
	b := created(t, approving, "")
	b.ask("", fairlead.BlocksTask)
	b.do(Trigger{Kind: fairlead.TriggerComment, Actor: client})
	b.do(manual("away", nil))
	b.s.Task.Labels = []string{"later"}
	p := b.resolve(fairlead.RequestQuestion, fairlead.RequestAnswered, nil)
	b.stands("away", 2)
	equal(t, "outcomes", effects[DropDeferred](p.Effects), []DropDeferred{{Seq: 2, Outcome: DroppedNoMove}, {Seq: 3, Outcome: DroppedMoved}})
	// Non-move actions are not repeated.
	equal(t, "wakes", woken(p.Effects), []string{})
}

func TestE30_TheLastOfSeveralRequestsFrees(t *testing.T) {
	t.Parallel()
	b := created(t, approving, "")
	b.ask("", fairlead.BlocksTask)
	b.do(manual("any", nil))
	b.do(manual("away", nil))
	p := b.resolve(fairlead.RequestApproval, fairlead.RequestAnswered, &fairlead.Answer{Verdict: "approve", Text: "now"})
	// Its own move holds too, and waits behind the other request.
	equal(t, "effects", kinds(p.Effects), []string{"AddComment", "DeferTrigger"})
	b.stands("work", 1)
	b.resolve(fairlead.RequestQuestion, fairlead.RequestAnswered, nil)
	b.stands("approved", 2)
}

func TestApprovalsAreWeighedAtTheirResolution(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state  fairlead.RequestState
		answer *fairlead.Answer
		want   string
	}{
		"own move first":       {fairlead.RequestAnswered, &fairlead.Answer{Verdict: "approve", Text: "now"}, "done"},
		"weighed":              {fairlead.RequestAnswered, &fairlead.Answer{Verdict: "approve"}, "approved"},
		"rejected":             {fairlead.RequestAnswered, &fairlead.Answer{Verdict: "reject"}, "work"},
		"revise":               {fairlead.RequestAnswered, &fairlead.Answer{Verdict: "revise", Text: "now"}, "work"},
		"declined":             {fairlead.RequestDeclined, &fairlead.Answer{Verdict: "approve", Decline: true}, "work"},
		"expiry is no consent": {fairlead.RequestExpired, nil, "work"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := created(t, approving, "")
			p := b.do(manual("ask", map[string]any{"go": true}))
			r := effects[OpenRequest](p.Effects)[0].Request
			equal(t, "request", []any{r.Kind, r.Blocks, r.Prompt, r.AskedOf, len(r.Options)},
				[]any{fairlead.RequestApproval, fairlead.BlocksTask, "May Mend the gate go on?", []string{"person:owner"}, 3})
			// The approval asked for in the same list stops the list's own move.
			equal(t, "why", why(p), []string{
				"manual:ask request_approval taken", "manual:ask move skipped guard_false", "manual:ask move deferred blocked",
			})
			b.s.Deferred = nil
			b.resolve(fairlead.RequestApproval, c.state, c.answer)
			equal(t, "step", b.s.Visit.Step, c.want)
		})
	}
	b := created(t, approving, "")
	p := b.do(manual("any", nil))
	r := effects[OpenRequest](p.Effects)[0].Request
	equal(t, "any", []any{r.Prompt, len(r.AskedOf)}, []any{`Approve "Mend the gate" at step "Work"?`, 0})
	f := FactsOf(b.s, nil)
	equal(t, "open", f.Approval.Open, true)
	p = b.do(manual("wrong", nil))
	equal(t, "nobody", why(p), []string{"manual:wrong request_approval failed no_such_person"})
	equal(t, "notice", kinds(p.Effects), []string{"AddNotice"})
}

func TestE40_APersonsMoveSupersedesWhatWasPutAside(t *testing.T) {
	t.Parallel()
	b := created(t, approving, "")
	b.do(manual("any", nil))
	b.do(manual("away", nil))
	p := b.do(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "review"}})
	equal(t, "effects", kinds(p.Effects), []string{"DropDeferred", "CloseRequest", "EndVisit", "BeginVisit"})
	equal(t, "dropped", effects[DropDeferred](p.Effects)[0].Outcome, DroppedSuperseded)
	equal(t, "closed", effects[CloseRequest](p.Effects)[0].State, fairlead.RequestWithdrawn)
	b.stands("review", 2)
}

func TestAMoveByAnybodyElseWaitsBehindARequest(t *testing.T) {
	t.Parallel()
	for _, actor := range []fairlead.Actor{client, agentActor("chief"), fairlead.Engine()} {
		b := created(t, approving, "")
		b.do(manual("any", nil))
		p := b.do(Trigger{Kind: KindMove, Actor: actor, Move: &Move{To: "review", Reason: "remap"}})
		equal(t, "why", why(p), []string{"move move deferred blocked"})
		p = b.resolve(fairlead.RequestApproval, fairlead.RequestDeclined, nil)
		b.stands("review", 2)
		equal(t, "reason", effects[BeginVisit](p.Effects)[0].Visit.Reason, "remap")
	}
	// A step that is gone by then: visible, and the next in line is tried.
	b := created(t, approving, "")
	b.do(manual("any", nil))
	b.do(Trigger{Kind: KindMove, Actor: client, Move: &Move{To: "review"}})
	b.do(manual("away", nil))
	b.s.Deferred[0].Trigger.Move = &Move{To: "gone"}
	p := b.resolve(fairlead.RequestApproval, fairlead.RequestDeclined, &fairlead.Answer{Decline: true})
	b.stands("away", 2)
	equal(t, "outcomes", []string{effects[DropDeferred](p.Effects)[0].Outcome, effects[DropDeferred](p.Effects)[1].Outcome}, []string{DroppedNoMove, DroppedMoved})
	equal(t, "notices", len(effects[AddNotice](p.Effects)), 1)
}

func TestOnlyRequestsOfAVisitEndWithIt(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	b.s.openRequest(fairlead.Request{ID: "req_budget", Kind: fairlead.RequestBudget, Blocks: fairlead.BlocksNothing, State: fairlead.RequestOpen})
	b.ask("", fairlead.BlocksAssignment)
	p := b.do(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "work"}})
	var got []string
	for _, c := range effects[CloseRequest](p.Effects) {
		got = append(got, string(c.State))
	}
	equal(t, "closed", got, []string{"superseded", "withdrawn"}) // the decision asked of the owner, and the question
	equal(t, "left", len(b.s.Open), 1)
	p = b.do(Trigger{Kind: KindArchive, Actor: owner})
	equal(t, "archive leaves the budget's", len(effects[CloseRequest](p.Effects)), 0)
}

func TestQuorumThatHoldsWhileBlockedIsNotLost(t *testing.T) {
	t.Parallel()
	// A vote that completes the quorum while the task is blocked is put aside and moves at the answer.
	b := created(t, reviewed, "review")
	b.vote("agent:reviewer", fairlead.VerdictApproved)
	b.vote("person:owner", fairlead.VerdictApproved)
	b.ask("", fairlead.BlocksTask)
	if p := b.vote("agent:tester", fairlead.VerdictApproved); !p.Deferred {
		t.Fatalf("not put aside: %v", why(p))
	}
	b.resolve(fairlead.RequestQuestion, fairlead.RequestAnswered, nil)
	b.stands("done", 2)

	// The same for a change of seats.
	b = created(t, reviewed, "review")
	b.vote("agent:reviewer", fairlead.VerdictApproved)
	b.vote("agent:tester", fairlead.VerdictApproved)
	b.ask("", fairlead.BlocksTask)
	gone := participant("par_1", fairlead.RoleReviewer, "person:owner")
	gone.Removed = true
	b.s.Participants = []fairlead.Participant{gone}
	p := b.do(Trigger{Kind: KindSeats, Actor: owner})
	equal(t, "put aside", kinds(p.Effects), []string{"RemoveSeat", "CloseRequest", "DeferTrigger"})
	b.s.Open = nil
	// Any trigger of a task that nothing blocks replays what waits.
	b.do(Trigger{Kind: fairlead.TriggerComment, Actor: owner})
	b.stands("done", 2)
}
