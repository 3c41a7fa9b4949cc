package engine

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// create begins the first visit, and enters it unless the enter comes from the outbox.
func (d *decider) create(t Trigger) *fairlead.Error {
	def := d.s.Newest
	h := hop{def: def, to: def.Start, by: t.Actor, reason: string(KindCreate)}
	if t.Move != nil && t.Move.To != "" {
		h.to, h.note = t.Move.To, t.Move.Note
	}
	if def.Step(h.to) == nil {
		return noSuchStep(def)
	}
	d.beginVisit(h, "", 1)
	d.settleFacts()
	if !t.NoEnter {
		d.firstEnter(t)
	}
	return nil
}

// delivered is the first enter that comes from the outbox. Whoever met the task before has delivered it already.
func (d *decider) delivered(t Trigger) {
	if d.s.Entered {
		d.explain(t, -1, string(t.Kind), OutcomeSkipped, "already_entered", "")
		return
	}
	d.firstEnter(t)
}

// firstEnter enters the step where the task was created.
func (d *decider) firstEnter(t Trigger) {
	v := d.s.Visit
	actor := v.By
	if actor.Kind == "" {
		actor = t.Actor
	}
	x := Trigger{Op: t.Op, Kind: fairlead.TriggerEnter, Actor: actor, Payload: map[string]any{
		"from": v.From, "to": v.Step, "actor": actor.String(), "reason": v.Reason,
	}}
	d.emit(Entered{})
	d.fixSeats(x)
	if t.Kind == KindCreate || t.Kind == fairlead.TriggerEnter {
		d.settleFacts()
	}
	d.entered(x)
}

// explicit is a move that somebody asks for.
func (d *decider) explicit(t Trigger) *fairlead.Error {
	if t.Move == nil || t.Move.To == "" {
		return fairlead.Errorf(fairlead.CodeInvalid, "the move names no step").WithHint("name the step to move to")
	}
	def, err := d.destination(t)
	if err != nil {
		return err
	}
	person := t.Actor.Kind == fairlead.ActorPerson
	freed := person && d.freeLoop()
	if def.Key == d.s.Task.Workflow && t.Move.To == d.s.Visit.Step {
		d.explain(t, 0, actionMove, OutcomeSkipped, "same_step", "")
		if freed {
			d.askForgotten(t)
		}
		return nil
	}
	if !person && d.blocked() {
		d.explain(t, 0, actionMove, OutcomeDeferred, "blocked", "")
		d.putAside(t)
		return nil
	}
	d.explain(t, 0, actionMove, OutcomeTaken, "", "to "+t.Move.To)
	d.move(t, hop{def: def, to: t.Move.To, by: t.Actor, reason: reasonOf(t.Move), note: t.Move.Note, person: person})
	return nil
}

// destination checks where an explicit move wants to go.
func (d *decider) destination(t Trigger) (*workflow.Definition, *fairlead.Error) {
	def := d.s.Newest
	if w := t.Move.Workflow; w != "" && w != def.Key {
		if t.Actor.Kind != fairlead.ActorPerson {
			return nil, fairlead.Errorf(fairlead.CodeForbidden, "only a person moves a task to another workflow")
		}
		if def = d.s.Other; def == nil || def.Key != w {
			return nil, fairlead.Errorf(fairlead.CodeInvalid, "no such workflow").WithHint("list them with: fairlead workflow list")
		}
	}
	step := def.Step(t.Move.To)
	switch {
	case step == nil:
		return nil, noSuchStep(def)
	case d.s.Task.Coordination != "" && step.Terminal != fairlead.TerminalNone:
		return nil, fairlead.Errorf(fairlead.CodeRefused, "a coordination task never ends").WithHint("move it to another step")
	case d.s.Task.Terminal != fairlead.TerminalNone && t.Actor.Kind == fairlead.ActorAgent:
		return nil, fairlead.Errorf(fairlead.CodeRefused, "the task has ended; only people reopen it").WithHint("ask a person, or create a new task")
	}
	return def, nil
}

func noSuchStep(def *workflow.Definition) *fairlead.Error {
	var keys []string
	for _, s := range def.Steps {
		keys = append(keys, s.Key)
	}
	return fairlead.Errorf(fairlead.CodeInvalid, "workflow %s has no such step", def.Key).WithHint("use one of: %s", fmt.Sprint(keys))
}

// seats makes the seats of the open visit match the task's participants.
func (d *decider) seats(t Trigger) *fairlead.Error {
	if id, _ := t.Payload["participant"].(string); id != "" {
		for _, p := range d.s.Participants {
			if p.ID == id {
				if err := CanSeat(d.s, p); err != nil {
					return err
				}
			}
		}
	}
	d.reseat(t)
	return nil
}

// reseat fixes the seats anew in mid-visit, asks who is new, and looks whether a quorum holds now.
func (d *decider) reseat(t Trigger) {
	d.fixSeats(t)
	d.askPending(t)
	d.settleFacts()
	if d.weighQuorums(t) != moved && !d.looped {
		d.noticeSlate()
	}
}

// repin gives the standing visit the newest version of its workflow.
func (d *decider) repin(t Trigger) *fairlead.Error {
	step := d.s.Newest.Step(d.s.Visit.Step)
	switch {
	case step == nil:
		return fairlead.Errorf(fairlead.CodeRefused, "the newest version has no step %s", d.s.Visit.Step).
			WithHint("move the task to one of the steps it has: %s", fmt.Sprint(stepKeys(d.s.Newest)))
	case d.s.Task.Coordination != "" && step.Terminal != fairlead.TerminalNone:
		return fairlead.Errorf(fairlead.CodeRefused, "a coordination task never ends")
	}
	freed := d.freeLoop()
	if d.s.Newest.Version == d.s.Visit.WorkflowVersion {
		d.explain(t, -1, string(KindRepin), OutcomeSkipped, "same_version", "")
	} else {
		d.renew(t, step)
	}
	if freed {
		d.askForgotten(t)
	}
	return nil
}

// renew makes the visit one of the newest version.
func (d *decider) renew(t Trigger, step *workflow.Step) {
	d.explain(t, -1, string(KindRepin), OutcomeTaken, "",
		fmt.Sprintf("version %d to %d", d.s.Visit.WorkflowVersion, d.s.Newest.Version))
	d.emit(Repinned{Version: d.s.Newest.Version, Terminal: step.Terminal})
	d.reseat(t)
}

func stepKeys(def *workflow.Definition) (keys []string) {
	for _, s := range def.Steps {
		keys = append(keys, s.Key)
	}
	return keys
}

// freeLoop releases the hold of the hop bound, and reports whether there was one.
func (d *decider) freeLoop() bool {
	if d.s.Task.Held == "" {
		return false
	}
	d.emit(HoldTask{})
	return true
}

// release frees the task after a loop.
func (d *decider) release(t Trigger) {
	if !d.freeLoop() {
		d.explain(t, -1, string(KindRelease), OutcomeSkipped, "not_held", "")
		return
	}
	d.explain(t, -1, string(KindRelease), OutcomeTaken, "", "")
	d.askForgotten(t)
}

// askForgotten asks the seats that a dropped plan should have asked.
func (d *decider) askForgotten(t Trigger) {
	if d.hops > 0 || d.looped {
		return // the visit is over, or nothing of the plan is left
	}
	verdicts := effective(&d.s)
	for _, seat := range d.s.Seats {
		if _, decided := verdicts[seat.ID]; counted(&seat) && !decided && !d.wasAsked(seat.ID) {
			d.pending = append(d.pending, seat.ID)
		}
	}
	d.askPending(t)
}

// wasAsked reports whether a seat has an assignment or an open request in this visit.
func (d *decider) wasAsked(seat string) bool {
	return slices.ContainsFunc(d.s.Assignments, func(a fairlead.Assignment) bool { return a.Seat == seat }) ||
		slices.ContainsFunc(d.s.Open, func(r fairlead.Request) bool { return r.Seat == seat })
}

// archive ends all work of the task for good.
func (d *decider) archive(t Trigger) {
	d.dropDeferred()
	for _, r := range d.s.Open {
		if r.Kind != fairlead.RequestBudget {
			d.emit(CloseRequest{Request: r.ID, State: fairlead.RequestWithdrawn, Reason: closedArchived})
		}
	}
	d.emit(EndVisit{N: d.s.Visit.N, By: t.Actor, Reason: string(KindArchive)})
	d.emit(ArchiveTask{})
	d.explain(t, -1, string(KindArchive), OutcomeTaken, "", "")
}

// addressed is a wake that another task's step sent here. A task that has ended takes none.
func (d *decider) addressed(t Trigger) {
	x := doing{t: t, index: -1, a: workflow.Action{Kind: workflow.ActionQueueRun}, facts: FactsOf(d.s, t.Payload)}
	if d.s.Task.Terminal != fairlead.TerminalNone {
		d.say(x, OutcomeSkipped, "ended", "")
		return
	}
	text := func(key string) string { s, _ := t.Payload[key].(string); return s }
	name := text("to")
	if name == "" && text("agent") != "" {
		name = "agent:" + text("agent")
	}
	to, ok := parseTarget(name)
	if !ok {
		d.failed(x, "no_such_target", name, fmt.Sprintf("A wake from another task names the unknown target %q.", name))
		return
	}
	reason := text("reason")
	if reason == "" {
		reason = string(KindWake)
	}
	payload, _ := t.Payload["payload"].(map[string]any)
	d.wakeTarget(x, to, reason, payload, text("key"))
}
