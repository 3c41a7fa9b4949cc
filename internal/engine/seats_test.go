package engine

import (
	"testing"

	"github.com/fairlead/fairlead"
)

func participant(id string, role fairlead.Role, holder string) fairlead.Participant {
	p := fairlead.Participant{ID: id, Task: "tsk_1", Role: role, DecisionRequired: role.Votes()}
	if key, ok := cutPerson(holder); ok {
		p.Person = key
		return p
	}
	p.Agent = holder
	return p
}

// join adds a participant and lets the seats follow.
func (b *bench) join(p fairlead.Participant) (Plan, *fairlead.Error) {
	b.s.Participants = append(b.s.Participants, p)
	return b.try(Trigger{Kind: KindSeats, Actor: owner, Payload: map[string]any{"participant": p.ID}})
}

func TestE10_ASeatAddedInMidRoundIsAskedAndCounted(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	b.vote("agent:reviewer", fairlead.VerdictApproved)
	b.vote("agent:tester", fairlead.VerdictApproved)
	p, err := b.join(participant("par_1", fairlead.RoleReviewer, "person:anna"))
	if err != nil {
		t.Fatal(err)
	}
	b.take(p)
	equal(t, "effects", kinds(p.Effects), []string{"AddSeat", "OpenRequest"})
	b.vote("person:owner", fairlead.VerdictApproved)
	b.stands("review", 1)
	b.vote("person:anna", fairlead.VerdictApproved)
	b.stands("done", 2)
}

func TestE10_AnAgentSeatIsWoken(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	p, err := b.join(participant("par_1", fairlead.RoleReviewer, "second"))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "wakes", woken(p.Effects), []string{"second decision"})
	equal(t, "assignment", effects[NewAssignment](p.Effects)[0].Assignment.Capacity, fairlead.Capacity("reviewer"))
}

func TestE11_AnEmptySlateBlocksVisiblyOrPasses(t *testing.T) {
	t.Parallel()
	const source = `
workflow: empty
name: Empty
start: work
steps:
  - {key: work, name: Work, on: {comment: [{move: {to: review}}]}}
  - key: review
    name: Review
    quorum: {on_empty: %s}
    on:
      decision:
        - move: {to: work, if: 'quorum("reviewer", "any_reject")'}
        - move: {to: done, if: 'quorum("reviewer", "all_approve")'}
  - {key: done, name: Done, terminal: done}
`
	b := created(t, replace(source, "block"), "")
	p := b.do(Trigger{Kind: fairlead.TriggerComment, Actor: owner})
	b.stands("review", 2)
	n := effects[AddNotice](p.Effects)
	if len(n) != 1 || n[0].Kind != "slate_empty" || !n[0].Once {
		t.Errorf("notices: %+v", n)
	}
	equal(t, "why", why(p), []string{"comment move taken", "decision move skipped slate_empty", "decision move skipped slate_empty"})
	q := Quorums(b.s)
	equal(t, "reason", []any{q[1].Reason, q[1].Holds, q[1].Needed, q[1].To, q[1].Trigger}, []any{"slate_empty", false, 0, "done", "decision"})

	// A seat fills the slate: somebody to wait for, no further notice.
	p, err := b.join(participant("par_1", fairlead.RoleReviewer, "person:anna"))
	if err != nil || len(effects[AddNotice](p.Effects)) != 0 {
		t.Errorf("after joining: %v %v", p.Effects, err)
	}

	b = created(t, replace(source, "pass"), "")
	b.do(Trigger{Kind: fairlead.TriggerComment, Actor: owner})
	b.stands("done", 3)
}

func TestE12_WhoWorkedTheTaskCannotJudgeIt(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "work")
	b.s.Worked = []string{"coder", "reviewer"}
	_, err := b.join(participant("par_1", fairlead.RoleReviewer, "coder"))
	equal(t, "code", fairlead.ErrorCode(err), fairlead.CodeRefused)
	b.s.Participants = nil

	// A template seat of such an agent is left out, with an explanation; its owner may sit.
	p := b.do(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "review"}})
	var holders []string
	for _, s := range effects[AddSeat](p.Effects) {
		holders = append(holders, s.Seat.Holder())
	}
	equal(t, "seats", holders, []string{"agent:tester", "person:owner"})
	equal(t, "why", p.Why[1], Explanation{
		Trigger: "enter", Step: "review", Index: -1, Action: "seat", Outcome: OutcomeSkipped, Reason: "seat_excluded",
		Detail: "agent:reviewer created or worked this task",
	})

	// A row that was there before the agent worked refuses nothing later.
	b.s.Participants = []fairlead.Participant{participant("par_2", fairlead.RoleReviewer, "coder")}
	if _, err := b.join(participant("par_3", fairlead.RoleReviewer, "person:anna")); err != nil {
		t.Errorf("another seat is refused: %v", err)
	}

	b = created(t, replace("self_review: true\n%s", reviewed[1:]), "review")
	b.s.Worked = []string{"coder"}
	if _, err := b.join(participant("par_1", fairlead.RoleReviewer, "coder")); err != nil {
		t.Errorf("self_review: %v", err)
	}

	b = newBench(t, reviewed)
	b.s.Task.Creator = agentActor("tester")
	p = b.do(Trigger{Kind: KindCreate, Actor: agentActor("tester"), Move: &Move{To: "review"}})
	equal(t, "creator left out", len(effects[AddSeat](p.Effects)), 2)
}

func TestCanSeatRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	for name, c := range map[string]struct {
		p    fairlead.Participant
		want fairlead.Code
	}{
		"role":         {fairlead.Participant{Role: "judge", Agent: "second"}, fairlead.CodeInvalid},
		"nobody":       {fairlead.Participant{Role: fairlead.RoleReviewer}, fairlead.CodeInvalid},
		"both":         {fairlead.Participant{Role: fairlead.RoleReviewer, Agent: "second", Person: "anna"}, fairlead.CodeInvalid},
		"watcher vote": {fairlead.Participant{Role: fairlead.RoleWatcher, Agent: "second", DecisionRequired: true}, fairlead.CodeInvalid},
		"no agent":     {participant("p", fairlead.RoleReviewer, "nobody"), fairlead.CodeInvalid},
		"no person":    {participant("p", fairlead.RoleReviewer, "person:nobody"), fairlead.CodeInvalid},
		"removal":      {fairlead.Participant{Role: fairlead.RoleReviewer, Agent: "gone", Removed: true}, ""},
		"fine":         {participant("p", fairlead.RoleApprover, "person:anna"), ""},
	} {
		var got fairlead.Code
		if err := CanSeat(b.s, c.p); err != nil {
			got = err.Code
		}
		equal(t, name, got, c.want)
	}
}

func TestE14_ADecisionOnAClosedRoundIsAConflict(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	tr := b.voted("agent:reviewer", fairlead.VerdictApproved)
	tr.Round = 3
	_, err := b.try(tr)
	equal(t, "round", []string{string(err.Code), err.Reason}, []string{"conflict", fairlead.ReasonRoundClosed})
	tr.Round, tr.Visit = 1, 7
	_, err = b.try(tr)
	equal(t, "visit", err.Reason, fairlead.ReasonVisitEnded)
}

func TestE9_DecisionsOfOtherRoundsInTheSnapshotNeverCount(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	for _, h := range []string{"agent:reviewer", "agent:tester", "person:owner"} {
		b.voted(h, fairlead.VerdictApproved)
	}
	b.s.Decisions[0].Round, b.s.Decisions[1].Visit = 0, 0
	p := b.do(Trigger{Kind: fairlead.TriggerDecision, Actor: owner})
	equal(t, "moved", p.Moved, false)
	equal(t, "approved", FactsOf(b.s, nil).Decisions.Approved, 1)
}

func TestADecisionsPayloadHasTheTally(t *testing.T) {
	t.Parallel()
	b := created(t, replace(`
workflow: tally
name: Tally
start: review
steps:
  - key: review
    name: Review
    participants: [{role: reviewer, agent: reviewer}, {role: reviewer, person: owner}]
    on: {decision: [{comment: {text: "%s"}}, {move: {to: done, if: "payload.tally.approved == 1 && payload.tally.pending == 1"}}]}
  - {key: done, name: Done, terminal: done}
`, "${payload.tally.approved} of 2"), "")
	tr := b.voted("agent:reviewer", fairlead.VerdictApproved)
	tr.Payload = nil
	p := b.do(tr)
	equal(t, "comment", effects[AddComment](p.Effects)[0].Text, "1 of 2")
	b.stands("done", 2)
}

func TestSeatOf(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	b.s.Participants = []fairlead.Participant{
		participant("par_1", fairlead.RoleApprover, "person:owner"), participant("par_2", fairlead.RoleWatcher, "person:anna"),
	}
	b.s.Participants[0].Step = "review"
	b.s.Participants[1].Step = "review"
	b.do(Trigger{Kind: KindSeats, Actor: owner})
	if s, err := SeatOf(b.s, agentActor("reviewer"), ""); err != nil || s.Agent != "reviewer" {
		t.Errorf("agent: %v %v", s, err)
	}
	if s, err := SeatOf(b.s, owner, fairlead.RoleApprover); err != nil || s.Role != fairlead.RoleApprover {
		t.Errorf("role: %v %v", s, err)
	}
	for name, c := range map[string]struct {
		actor fairlead.Actor
		want  fairlead.Code
	}{"two seats": {owner, fairlead.CodeInvalid}, "watcher": {anna, fairlead.CodeForbidden}, "client": {client, fairlead.CodeForbidden}, "nobody": {agentActor("coder"), fairlead.CodeForbidden}} {
		_, err := SeatOf(b.s, c.actor, "")
		equal(t, name, err.Code, c.want)
	}
}

func TestTaskRowsTakePrecedence(t *testing.T) {
	t.Parallel()
	b := newBench(t, reviewed)
	optional := participant("par_1", fairlead.RoleReviewer, "tester")
	optional.DecisionRequired = false
	gone := participant("par_2", fairlead.RoleReviewer, "person:owner")
	gone.Removed = true
	elsewhere := participant("par_3", fairlead.RoleReviewer, "second")
	elsewhere.Step = "work"
	noRole := participant("par_4", fairlead.RoleApprover, "second")
	nearer := participant("par_5", fairlead.RoleReviewer, "person:owner")
	nearer.Step = "review"
	b.s.Participants = []fairlead.Participant{nearer, optional, gone, elsewhere, noRole}
	p := b.do(Trigger{Kind: KindCreate, Actor: owner, Move: &Move{To: "review"}})
	var got []string
	for _, s := range effects[AddSeat](p.Effects) {
		line := s.Seat.Holder() + " " + s.Seat.Participant
		if s.Seat.DecisionRequired {
			line += " required"
		}
		got = append(got, line)
	}
	equal(t, "seats", got, []string{"agent:reviewer  required", "agent:tester par_1", "person:owner par_5 required"})
	// Only counted seats are asked by themselves; fan_out reaches the others too.
	equal(t, "wakes", woken(p.Effects), []string{"reviewer review", "tester review"})
}

func TestE31_ASeatRemovedLetsAQuorumHold(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	b.vote("agent:reviewer", fairlead.VerdictApproved)
	b.vote("agent:tester", fairlead.VerdictApproved)
	gone := participant("par_1", fairlead.RoleReviewer, "person:owner")
	gone.Removed = true
	b.s.Participants = []fairlead.Participant{gone}
	p := b.do(Trigger{Kind: KindSeats, Actor: owner})
	equal(t, "effects", kinds(p.Effects), []string{"RemoveSeat", "CloseRequest", "EndVisit", "BeginVisit"})
	equal(t, "closed", effects[CloseRequest](p.Effects)[0].State, fairlead.RequestSuperseded)
	b.stands("done", 2)
}

func TestClearDecisionsOpensARoundOnlyAfterADecision(t *testing.T) {
	t.Parallel()
	b := created(t, `
workflow: rounds
name: Rounds
start: review
steps:
  - key: review
    name: Review
    participants:
      - {role: reviewer, agent: reviewer, decision_required: true}
      - {role: approver, person: owner}
      - {role: collaborator, agent: second}
    on:
      manual: {again: [{clear_decisions: {}}, {queue_run: {to: "role:reviewer", reason: again, key: "k-${visit.round}"}}]}
      decision: [{move: {to: done, if: 'quorum("reviewer", "all_approve") && quorum("approver", "all_approve")'}}]
  - {key: done, name: Done, terminal: done}
`, "")
	again := Trigger{Kind: fairlead.TriggerManual, Key: "again", Actor: owner, Payload: map[string]any{"why": "new plan"}}
	p := b.do(again)
	equal(t, "nothing decided", why(p), []string{"manual:again clear_decisions skipped no_decision", "manual:again queue_run taken"})
	b.vote("agent:reviewer", fairlead.VerdictApproved)
	p = b.do(again)
	equal(t, "effects", kinds(p.Effects), []string{"CloseRequest", "OpenRound", "Wake", "OpenRequest"})
	w := effects[Wake](p.Effects)[0]
	equal(t, "wake", []any{w.Agent, w.Reason, w.Key, w.Payload["why"]}, []any{"reviewer", "again", "k-1", "new plan"})
	equal(t, "round", []int{b.s.Visit.Round, b.s.Task.Round, effects[OpenRequest](p.Effects)[0].Request.Round}, []int{2, 2, 2})
	b.vote("person:owner", fairlead.VerdictApproved)
	b.stands("review", 1)
	b.vote("agent:reviewer", fairlead.VerdictComment)
	b.stands("review", 1)
	b.vote("agent:reviewer", fairlead.VerdictApproved)
	b.stands("done", 2)
}
