package engine

import (
	"testing"

	"github.com/fairlead/fairlead"
)

const signalled = `
workflow: signalled
name: Signalled
start: work
steps:
  - key: work
    name: Work
    agent: coder
    complete: signal
    on:
      enter: [{queue_run: {to: primary}}]
      turn_complete: [{comment: {text: "turn over"}}, {move: {to: review}}]
  - key: review
    name: Review
    participants: [{role: reviewer, person: owner}]
    on:
      decision: [{move: {to: work, if: 'quorum("reviewer", "any_reject")'}}]
`

func TestE22_ARecordedSignalCountsThoughTheTurnFails(t *testing.T) {
	t.Parallel()
	b := created(t, signalled, "")
	a := b.primary()
	b.s.Task.SignalVisit = 1
	end := b.turnEnds(a, true)
	end.Payload["outcome"] = "limited"
	p := b.do(end)
	b.stands("review", 2)
	equal(t, "why", why(p)[:2], []string{"turn_complete comment taken", "turn_complete move taken"})
	// The retry's end speaks of a visit that is over: the step advances once.
	_, err := b.try(end)
	equal(t, "again", err.Reason, fairlead.ReasonVisitEnded)
}

func TestE23_TheEndOfATurnAloneIsNoSignal(t *testing.T) {
	t.Parallel()
	b := created(t, signalled, "")
	a := b.primary()
	for _, completed := range []bool{true, false} {
		p := b.do(b.turnEnds(a, completed))
		equal(t, "why", why(p), []string{"turn_complete comment taken", "turn_complete move skipped not_completed"})
	}
	b.stands("work", 1)
	b.s.Assignments[0].Signalled = true
	b.do(b.turnEnds(a, true))
	b.stands("review", 2)
}

func TestE24_ACompletionOfAnEarlierVisitIsRefused(t *testing.T) {
	t.Parallel()
	b := created(t, signalled, "")
	first := b.primary()
	b.s.Task.SignalVisit = 1
	b.do(b.turnEnds(first, true))
	b.vote("person:owner", fairlead.VerdictRejected)
	b.stands("work", 3)
	_, err := b.try(b.turnEnds(first, true))
	equal(t, "earlier visit", []string{string(err.Code), err.Reason}, []string{"conflict", fairlead.ReasonVisitEnded})
	b.s.Task.SignalVisit = 3
	b.do(b.turnEnds(b.primary(), true))
	b.stands("review", 4)
}

func TestE25_AnAgentsOwnMoveIsTheFirst(t *testing.T) {
	t.Parallel()
	b := created(t, plain, "")
	end := b.turnEnds(b.primary(), true)
	end.OwnMove = &Move{To: "done", Note: "nothing to review"}
	p := b.do(end)
	equal(t, "why", why(p)[:2], []string{"turn_complete own_move taken", "turn_complete move skipped earlier_move"})
	v := effects[BeginVisit](p.Effects)[0].Visit
	equal(t, "visit", []any{v.Step, v.By.Key, v.Note, v.Reason}, []any{"done", "coder", "nothing to review", "move"})

	b = created(t, plain, "")
	end = b.turnEnds(b.primary(), true)
	end.OwnMove = &Move{To: "work"}
	b.do(end)
	b.stands("review", 2)

	// It needs no completion, and it waits behind a blocking request like any other trigger.
	b = created(t, plain, "")
	b.ask("", fairlead.BlocksTask)
	end = b.turnEnds(b.primary(), false)
	end.OwnMove = &Move{To: "done"}
	p = b.do(end)
	if !p.Deferred {
		t.Fatalf("not put aside: %v", why(p))
	}
	b.resolve(fairlead.RequestQuestion, fairlead.RequestAnswered, nil)
	b.stands("done", 2)

	b = created(t, plain, "")
	end = b.turnEnds(b.primary(), false)
	end.OwnMove = &Move{To: "nowhere"}
	p = b.do(end)
	equal(t, "gone", why(p)[0], "turn_complete own_move failed no_such_step")
	equal(t, "notice", kinds(p.Effects), []string{"AddNotice"})
}

func TestE38_ATurnWithAnOpenQuestionCompletesNothing(t *testing.T) {
	t.Parallel()
	b := created(t, plain, "")
	a := b.primary()
	b.ask(a.ID, fairlead.BlocksTask)
	end := b.turnEnds(a, true)
	end.OwnMove = &Move{To: "done"}
	p := b.do(end)
	equal(t, "why", why(p), []string{"turn_complete own_move skipped question_open", "turn_complete move skipped question_open"})
	equal(t, "effects", kinds(p.Effects), []string{})
	b.resolve(fairlead.RequestQuestion, fairlead.RequestAnswered, nil)
	b.stands("work", 1)
	b.do(b.turnEnds(a, true))
	b.stands("review", 2)
}

func TestE39_TheLastVotersRunMayFinish(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	b.vote("agent:reviewer", fairlead.VerdictApproved)
	b.vote("person:owner", fairlead.VerdictApproved)
	vote := b.voted("agent:tester", fairlead.VerdictApproved)
	vote.Run = "run_7"
	p := b.do(vote)
	equal(t, "end", effects[EndVisit](p.Effects)[0], EndVisit{N: 1, By: fairlead.Engine(), Reason: "decision", KeepRun: "run_7"})
}

const board = `
workflow: board
name: Board
start: backlog
steps:
  - {key: backlog, name: Backlog, agent: coder, on: {turn_start: [{move: {to: doing}}]}}
  - key: doing
    name: Doing
    agent: coder
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}, {queue_run: {to: "agent:second"}}]
      turn_complete: [{move: {to: review}}]
  - {key: review, name: Review, agent: second, on: {turn_start: [{move: {to: through}}]}}
  - {key: through, name: Through, agent: second, on: {enter: [{queue_run: {to: primary}}, {move: {to: doing, if: "children.open == 0"}}]}}
`

// works gives the step's primary an assignment, as a direct start does.
func (b *bench) works(agent string, capacity fairlead.Capacity) fairlead.Assignment {
	b.seq++
	a := fairlead.Assignment{
		ID: "asg_of_" + agent, Task: "tsk_1", Visit: b.s.Visit.N, Step: b.s.Visit.Step, Agent: agent, Capacity: capacity, State: fairlead.AssignmentOpen,
	}
	b.s.apply(NewAssignment{Assignment: a}, at)
	return a
}

func starts(a fairlead.Assignment) Trigger {
	return Trigger{Kind: fairlead.TriggerTurnStart, Actor: agentActor(a.Agent), Visit: a.Visit, Assignment: a.ID, Run: "run_1"}
}

func TestE37_AMoveUnderTurnStartCarriesTheTurn(t *testing.T) {
	t.Parallel()
	b := created(t, board, "")
	p := b.do(starts(b.works("coder", fairlead.CapacityPrimary)))
	equal(t, "effects", kinds(p.Effects), []string{"EndVisit", "BeginVisit", "NewAssignment", "CarryRun", "NewAssignment", "Wake"})
	equal(t, "end", effects[EndVisit](p.Effects)[0], EndVisit{N: 1, By: fairlead.Engine(), Reason: "turn_start", KeepRun: "run_1", Carry: true})
	equal(t, "carried", effects[CarryRun](p.Effects)[0], CarryRun{Run: "run_1", Assignment: b.primary().ID})
	equal(t, "wakes", woken(p.Effects), []string{"second enter"})
	equal(t, "why", why(p)[1], "enter queue_run skipped absorbed")
	b.do(b.turnEnds(b.primary(), true))
	b.stands("review", 3)

	// Through two steps: each visit takes the turn over. The turn of another agent goes on as a guest's, and the new
	// primary is woken.
	p = b.do(starts(b.works("second", fairlead.CapacityPrimary)))
	b.stands("doing", 5)
	equal(t, "carries", len(effects[CarryRun](p.Effects)), 2)
	equal(t, "ends", []bool{effects[EndVisit](p.Effects)[0].Carry, effects[EndVisit](p.Effects)[1].Carry}, []bool{true, true})
	last := effects[CarryRun](p.Effects)[1].Assignment
	for _, a := range b.s.Assignments {
		if a.ID == last {
			equal(t, "guest", []any{a.Agent, a.Capacity}, []any{"second", fairlead.CapacityGuest})
		}
	}
	equal(t, "wakes", woken(p.Effects), []string{"coder assigned", "second enter"})
}

func TestTurnStartOfASeatMovesNothing(t *testing.T) {
	t.Parallel()
	b := created(t, board, "")
	p := b.do(starts(b.works("second", fairlead.CapacityGuest)))
	equal(t, "why", why(p), []string{"turn_start move skipped not_primary"})
	equal(t, "simulated", b.do(Trigger{Kind: fairlead.TriggerTurnStart, Actor: owner}).Moved, true)
}

func TestAPutAsideTurnStartCarriesOnlyALiveTurn(t *testing.T) {
	t.Parallel()
	for status, carried := range map[fairlead.RunStatus]bool{fairlead.RunRunning: true, fairlead.RunStopping: false} {
		b := created(t, board, "")
		b.ask("", fairlead.BlocksTask)
		b.do(starts(b.works("coder", fairlead.CapacityPrimary)))
		b.stands("backlog", 1)
		b.s.Runs = []RunRef{{ID: "run_1", Visit: 1, Status: status}}
		p := b.resolve(fairlead.RequestQuestion, fairlead.RequestAnswered, nil)
		b.stands("doing", 2)
		equal(t, string(status), effects[EndVisit](p.Effects)[0].Carry, carried)
	}
}
