package engine

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// candidate is a move that the trigger under way may make, judged on the state before the actions.
type candidate struct {
	label  string // of the list it stands in
	index  int
	action string
	to     string
	by     fairlead.Actor
	reason string
	note   string
	holds  bool
	why    string // why it does not hold
	detail string
}

// settled is how the moves of a trigger ended.
type settled int

const (
	stayed settled = iota
	moved
	putAside
)

// fire carries out what the current step does on t: its actions in file order, then the asking of seats, then the
// first move that holds.
func (d *decider) fire(t Trigger) settled {
	step := d.step()
	facts := FactsOf(d.s, t.Payload)
	if !d.due(t, step, facts) {
		return stayed
	}
	moves := d.candidates(t, facts)
	for i, a := range listOf(step, t) {
		if !isMove(a) {
			d.act(t, i, a, facts)
		}
	}
	d.askPending(t)
	return d.settle(t, moves)
}

// due answers the heartbeat's own condition; every other trigger is always due.
func (d *decider) due(t Trigger, step *workflow.Step, facts workflow.Facts) bool {
	if t.Kind != fairlead.TriggerHeartbeat || step.Heartbeat == nil || step.Heartbeat.OnlyIf == nil {
		return true
	}
	ok, err := step.Heartbeat.OnlyIf.Eval(facts)
	switch {
	case err != nil:
		d.explain(t, -1, "only_if", OutcomeSkipped, "guard_error", err.Error())
	case !ok:
		d.explain(t, -1, "only_if", OutcomeSkipped, "guard_false", step.Heartbeat.OnlyIf.Source)
	}
	return ok && err == nil
}

// listOf is what a step does on a trigger.
func listOf(step *workflow.Step, t Trigger) []workflow.Action {
	if t.Kind == fairlead.TriggerManual {
		return step.Manual[t.Key]
	}
	return step.On[t.Kind]
}

func isMove(a workflow.Action) bool {
	return a.Kind == workflow.ActionMove || a.Kind == workflow.ActionEnd
}

// candidates judges every move t may make: the agent's own first, then those of its list, then those that are weighed
// again at each decision and resolution.
func (d *decider) candidates(t Trigger, facts workflow.Facts) []candidate {
	var out []candidate
	if t.OwnMove != nil {
		out = append(out, d.ownMove(t))
	}
	before := d.precondition(t)
	for i, a := range listOf(d.step(), t) {
		if !isMove(a) {
			continue
		}
		c := d.judge(labelOf(t), i, a, facts, t)
		if before != "" {
			c.holds, c.why = false, before
		}
		out = append(out, c)
	}
	if reweighs(t.Kind) {
		for _, w := range weighed(d.step()) {
			if w.label != labelOf(t) {
				out = append(out, d.judge(w.label, w.index, w.action, facts, t))
			}
		}
	}
	return out
}

// judge evaluates the guard of one move.
func (d *decider) judge(label string, index int, a workflow.Action, facts workflow.Facts, t Trigger) candidate {
	c := candidate{label: label, index: index, action: string(a.Kind), to: a.To, by: fairlead.Engine(), reason: string(t.Kind)}
	if a.If == nil {
		c.holds = true
		return c
	}
	ok, err := a.If.Eval(facts)
	switch {
	case err != nil:
		c.why, c.detail = "guard_error", err.Error()
	case ok:
		c.holds = true
	default:
		c.why, c.detail = d.falseBecause(a.If)
	}
	return c
}

// settle takes the first move that holds, last of everything, or puts the trigger aside while the task is blocked.
func (d *decider) settle(t Trigger, moves []candidate) settled {
	if d.looped {
		return stayed
	}
	taken := -1
	for i, c := range moves {
		switch {
		case c.holds && taken >= 0:
			d.explainMove(c, OutcomeSkipped, "earlier_move", "")
		case !c.holds:
			d.explainMove(c, OutcomeSkipped, c.why, c.detail)
		case c.to == d.s.Visit.Step:
			d.explainMove(c, OutcomeSkipped, "same_step", "")
		case !d.canGo(t, c):
		case d.blocked():
			d.explainMove(c, OutcomeDeferred, "blocked", "")
			taken = i
		default:
			d.explainMove(c, OutcomeTaken, "", "to "+c.to)
			taken = i
		}
	}
	if taken < 0 {
		return stayed
	}
	if d.blocked() {
		d.putAside(t)
		return putAside
	}
	c := moves[taken]
	d.move(t, hop{def: d.s.Newest, to: c.to, by: c.by, reason: c.reason, note: c.note, carry: d.carries(t, c)})
	return moved
}

// canGo fails a move visibly whose step is not there: the next visit uses the newest version, which may have lost it.
func (d *decider) canGo(t Trigger, c candidate) bool {
	step := d.s.Newest.Step(c.to)
	switch {
	case step == nil:
		d.explainMove(c, OutcomeFailed, "no_such_step", c.to)
		d.fail(t, c.action, fmt.Sprintf("The workflow's newest version has no step %q to move to.", c.to))
	case d.s.Task.Coordination != "" && step.Terminal != fairlead.TerminalNone:
		d.explainMove(c, OutcomeFailed, "never_ends", c.to)
		d.fail(t, c.action, "A coordination task never ends.")
	default:
		return true
	}
	return false
}

func (d *decider) explainMove(c candidate, outcome, reason, detail string) {
	d.plan.Why = append(d.plan.Why, Explanation{
		Trigger: c.label, Step: d.s.Visit.Step, Index: c.index, Action: c.action, Outcome: outcome, Reason: reason, Detail: detail,
	})
}

// putAside keeps a trigger until the task is free to move.
func (d *decider) putAside(t Trigger) {
	t.Visit = d.s.Visit.N
	d.plan.Deferred = d.hops == 0
	d.emit(DeferTrigger{Trigger: t})
}

// fail makes an action's failure visible beyond the explanation.
func (d *decider) fail(t Trigger, action, text string) {
	d.emit(AddNotice{
		Kind: NoticeActionFailed, Text: text,
		Data: map[string]any{"action": action, "step": d.s.Visit.Step, "trigger": labelOf(t)},
	})
}
