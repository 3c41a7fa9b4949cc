package engine

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// MaxMoves is how many moves one plan may make; the next one drops it.
const MaxMoves = 16

// Decide returns what has to be written because t happened to the task of s. It changes neither of them, and the plan
// shares no memory with them that a writer could change.
//
// An error refuses the trigger: nothing may be written. A plan without effects is an answer like any other, and its
// explanations say why. Ids in the plan are fairlead.NewID(prefix, now, s.Seed, 0), then 1, and so on.
func Decide(s Snapshot, t Trigger, now time.Time) (Plan, *fairlead.Error) {
	d := &decider{s: s.own(), now: now}
	t = t.own()
	if err := d.admit(t); err != nil {
		return Plan{}, err
	}
	if err := d.carryOut(t); err != nil {
		return Plan{}, err
	}
	if d.looped {
		return d.dropped(s, t), nil
	}
	d.plan.Moved = d.hops > 0
	d.plan.Step, d.plan.Visit = d.s.Visit.Step, d.s.Visit.N
	return d.plan, nil
}

// decider is one plan in the making.
type decider struct {
	s    Snapshot // the task as the plan so far leaves it
	now  time.Time
	plan Plan
	ids  int

	hops   int
	looped bool     // the hop bound was passed: nothing more is decided
	facts  []Effect // what stays even if the bound drops the plan

	replay bool // put-aside triggers are being decided
	// pending holds the seats that are still to be asked in the trigger under way; a wake by an action counts as asking.
	pending []string
	// carried is the assignment that takes a live turn over, turn its run (turn_start).
	carried, turn string
}

// carryOut decides one trigger, and then whatever it releases.
func (d *decider) carryOut(t Trigger) *fairlead.Error {
	if t.Kind == KindCreate {
		return d.create(t)
	}
	if !d.s.Task.ArchivedAt.IsZero() {
		d.explain(t, -1, string(t.Kind), OutcomeSkipped, "archived", "")
		return nil
	}
	if t.Kind == KindArchive {
		d.archive(t)
		return nil
	}
	if !d.s.Entered && t.Kind != fairlead.TriggerEnter {
		d.firstEnter(t)
	}
	if err := d.one(t); err != nil {
		return err
	}
	d.replayDeferred()
	return nil
}

// one decides a single trigger by its kind.
func (d *decider) one(t Trigger) *fairlead.Error {
	if d.looped {
		return nil
	}
	switch t.Kind {
	case fairlead.TriggerEnter:
		d.delivered(t)
	case KindMove:
		return d.explicit(t)
	case KindRecheck:
		d.recheck(t)
	case KindSeats:
		return d.seats(t)
	case KindRepin:
		return d.repin(t)
	case KindRelease:
		d.release(t)
	case KindWake:
		d.addressed(t)
	case fairlead.TriggerApprovalResolved, fairlead.TriggerRequestResolved:
		d.heed(t)
		d.fire(t)
	case fairlead.TriggerDecision:
		d.fire(d.withTally(t))
	default:
		d.fire(t)
	}
	return nil
}

// dropped is the plan that is left of one that passed the hop bound: the fact that caused it, and a hold.
func (d *decider) dropped(before Snapshot, t Trigger) Plan {
	p := Plan{Why: d.plan.Why, Held: fairlead.HeldLoop, Step: before.Visit.Step, Visit: before.Visit.N}
	p.Effects = append(p.Effects, d.facts...)
	for _, e := range d.facts {
		if b, ok := e.(BeginVisit); ok {
			p.Step, p.Visit = b.Visit.Step, b.Visit.N
		}
	}
	if d.replay {
		// What was put aside led into the circle; tried again it would drop the next plan too.
		for _, x := range before.Deferred {
			p.Effects = append(p.Effects, DropDeferred{Seq: x.Seq, Outcome: DroppedSuperseded})
		}
	}
	p.Effects = append(p.Effects, HoldTask{Held: fairlead.HeldLoop})
	if before.Task.Held == "" || t.Actor.Kind == fairlead.ActorPerson {
		p.Effects = append(p.Effects, AddNotice{
			Kind: NoticeLoop,
			Text: "The rules of the workflow moved this task in a circle, so it stays where it was. Move it, start it or repin it to go on.",
			Data: map[string]any{"trigger": string(t.Kind), "step": p.Step},
		})
	}
	return p
}

// settleFacts marks everything planned so far as the fact itself, which the hop bound does not take back.
func (d *decider) settleFacts() { d.facts = append([]Effect(nil), d.plan.Effects...) }

// emit adds an effect to the plan and to the state that later guards see.
func (d *decider) emit(e Effect) {
	d.plan.Effects = append(d.plan.Effects, e)
	d.s.apply(e, d.now)
}

// id derives the plan's next id.
func (d *decider) id(prefix string) string {
	id := fairlead.NewID(prefix, d.now, d.s.Seed, d.ids)
	d.ids++
	return id
}

// step is where the task stands in the plan so far; admit has seen that it is there.
func (d *decider) step() *workflow.Step { return stepOf(&d.s) }

// blocked reports whether an open request stops the task's automatic moves.
func (d *decider) blocked() bool {
	for _, r := range d.s.Open {
		if r.Blocks == fairlead.BlocksTask {
			return true
		}
	}
	return false
}

// explain records what became of an action; index -1 is for what stands in no list.
func (d *decider) explain(t Trigger, index int, action, outcome, reason, detail string) {
	d.plan.Why = append(d.plan.Why, Explanation{
		Trigger: labelOf(t), Step: d.s.Visit.Step, Index: index, Action: action, Outcome: outcome, Reason: reason, Detail: detail,
	})
}

// labelOf names a trigger as explanations do.
func labelOf(t Trigger) string {
	if t.Kind == fairlead.TriggerManual && t.Key != "" {
		return string(t.Kind) + ":" + t.Key
	}
	return string(t.Kind)
}
