package engine

import (
	"testing"

	"github.com/fairlead/fairlead"
)

const looping = `
workflow: looping
name: Looping
start: rest
steps:
  - key: rest
    name: Rest
    on:
      comment: [{comment: {text: heard}}, {move: {to: a}}]
      manual: {calm: [{move: {to: quiet}}]}
  - {key: a, name: A, on: {enter: [{move: {to: b, if: "children.open == 0"}}]}}
  - {key: b, name: B, on: {enter: [{move: {to: a, if: "children.open == 0"}}]}}
  - {key: quiet, name: Quiet}
`

func TestE18_ACircleOfGuardsIsDroppedAtTheBound(t *testing.T) {
	t.Parallel()
	b := created(t, looping, "")
	p := b.do(Trigger{Kind: fairlead.TriggerComment, Actor: client})
	equal(t, "effects", kinds(p.Effects), []string{"HoldTask", "AddNotice"})
	equal(t, "plan", []any{p.Held, p.Moved, p.Step, p.Visit}, []any{fairlead.HeldLoop, false, "rest", 1})
	taken := 0
	for _, e := range p.Why {
		if e.Action == "move" && e.Outcome == OutcomeTaken {
			taken++
		}
	}
	equal(t, "moves explained", taken, 17)
	last := p.Why[len(p.Why)-1]
	equal(t, "last", []string{last.Outcome, last.Reason}, []string{OutcomeFailed, fairlead.HeldLoop})
	equal(t, "held", b.s.Task.Held, fairlead.HeldLoop)

	// Once more: the hold stands, the inbox has its notice already.
	p = b.do(Trigger{Kind: fairlead.TriggerComment, Actor: client})
	equal(t, "again", kinds(p.Effects), []string{"HoldTask"})

	for name, tr := range map[string]Trigger{
		"start":        {Kind: KindRelease, Actor: owner},
		"move":         {Kind: KindMove, Actor: owner, Move: &Move{To: "quiet"}},
		"move nowhere": {Kind: KindMove, Actor: owner, Move: &Move{To: "rest"}},
		"repin":        {Kind: KindRepin, Actor: owner},
	} {
		if p, err := b.try(tr); err != nil || len(effects[HoldTask](p.Effects)) != 1 || effects[HoldTask](p.Effects)[0].Held != "" {
			t.Errorf("%s does not release: %v %v", name, p.Effects, err)
		}
	}
	if p, _ := b.try(Trigger{Kind: KindMove, Actor: client, Move: &Move{To: "quiet"}}); len(effects[HoldTask](p.Effects)) != 0 {
		t.Error("a client's move releases the hold")
	}
	if p, _ := b.try(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "a"}}); p.Held != fairlead.HeldLoop || len(effects[AddNotice](p.Effects)) != 1 {
		t.Error("a person's move into the circle is not held with a notice")
	}
}

func TestE18_ANewTaskInACircleStaysWhereItWasMade(t *testing.T) {
	t.Parallel()
	b := newBench(t, looping)
	b.s.Participants = []fairlead.Participant{{ID: "par_1", Role: fairlead.RoleReviewer, Step: "a", Person: "owner", DecisionRequired: true}}
	p := b.do(Trigger{Kind: KindCreate, Actor: owner, Move: &Move{To: "a"}})
	equal(t, "effects", kinds(p.Effects), []string{"BeginVisit", "Entered", "AddSeat", "HoldTask", "AddNotice"})
	b.stands("a", 1)
	// The seat was never asked; releasing the hold asks it.
	p = b.do(Trigger{Kind: KindRelease, Actor: owner})
	equal(t, "release", kinds(p.Effects), []string{"HoldTask", "OpenRequest"})
	p = b.do(Trigger{Kind: KindRelease, Actor: owner})
	equal(t, "not held", why(p), []string{"release release skipped not_held"})
}

func TestE18_APutAsideTriggerThatLeadsIntoACircleIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	b := created(t, looping, "")
	b.ask("", fairlead.BlocksTask)
	b.do(Trigger{Kind: fairlead.TriggerComment, Actor: client})
	p := b.resolve(fairlead.RequestQuestion, fairlead.RequestAnswered, nil)
	equal(t, "effects", kinds(p.Effects), []string{"DropDeferred", "HoldTask", "AddNotice"})
	equal(t, "outcome", effects[DropDeferred](p.Effects)[0].Outcome, DroppedSuperseded)
}

const often = `
workflow: often
name: Often
start: a
steps:
  - {key: a, name: A, agent: coder, max_visits: 2, on: {enter: [{queue_run: {to: primary}}], turn_complete: [{move: {to: b}}]}}
  - {key: b, name: B, agent: coder, on: {enter: [{queue_run: {to: primary}}], turn_complete: [{move: {to: a}}]}}
`

func TestE33_OneEntryTooManyAsksAPerson(t *testing.T) {
	t.Parallel()
	b := created(t, often, "")
	round := func() Plan {
		b.do(b.turnEnds(b.primary(), true))
		return b.do(b.turnEnds(b.primary(), true))
	}
	for range 2 {
		if p := round(); len(effects[OpenRequest](p.Effects)) != 0 {
			t.Fatal("asked too early")
		}
	}
	p := round()
	asked := effects[OpenRequest](p.Effects)
	if len(asked) != 1 {
		t.Fatalf("%d requests, want 1", len(asked))
	}
	r := asked[0].Request
	equal(t, "request", []any{r.Kind, r.Blocks, r.Options[0].ID, r.Options[1].ID, len(r.AskedOf), r.Payload["purpose"]},
		[]any{fairlead.RequestSupervise, fairlead.BlocksTask, "go_on", "stop", 0, PurposeMaxVisits})
	equal(t, "prompt", r.Prompt, `The task entered step "A" for the 3rd time without a person's move. Shall it go on?`)
	b.stands("a", 7)
	// The entry has happened, its wake too; what moves on is put aside.
	equal(t, "wakes", woken(p.Effects), []string{"coder enter"})
	b.do(b.turnEnds(b.primary(), true))
	b.stands("a", 7)

	stopped := *b
	p = b.resolve(fairlead.RequestSupervise, fairlead.RequestAnswered, &fairlead.Answer{Option: OptionGoOn})
	b.stands("b", 8)
	if len(effects[StopRuns](p.Effects)) != 0 {
		t.Error("going on stops the runs")
	}
	for _, a := range []*fairlead.Answer{{Option: OptionStop}, {Option: OptionGoOn, Decline: true}, nil} {
		b := stopped
		p := b.resolve(fairlead.RequestSupervise, fairlead.RequestAnswered, a)
		b.stands("a", 7)
		equal(t, "stop", kinds(p.Effects), []string{"DropDeferred", "StopRuns"})
	}
	// A person's move begins the count anew.
	b = &stopped
	p = b.do(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "b"}})
	equal(t, "withdrawn", effects[CloseRequest](p.Effects)[0].State, fairlead.RequestWithdrawn)
	equal(t, "entries", len(b.s.Entries), 0)
	equal(t, "person", b.s.Task.PersonVisit, 8)
}

func TestOrdinals(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th"} {
		equal(t, "ordinal", ordinal(n), want)
	}
}
