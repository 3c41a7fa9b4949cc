package engine

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// hop is one change of place.
type hop struct {
	def    *workflow.Definition // the version that the new visit pins
	to     string
	by     fairlead.Actor
	reason string
	note   string
	person bool // an explicit move by a person: open requests are withdrawn
	carry  bool // the live turn of the trigger goes along
}

// move leaves the current step and enters another. t is the trigger that caused it.
func (d *decider) move(t Trigger, h hop) {
	if d.hops == MaxMoves {
		d.looped = true
		d.explain(t, -1, actionMove, OutcomeFailed, fairlead.HeldLoop, "to "+h.to)
		return
	}
	d.hops++
	from := d.s.Visit.Step
	payload := map[string]any{"from": from, "to": h.to, "actor": h.by.String(), "reason": h.reason}
	d.exit(t, payload)

	agent, keep := "", ""
	if h.carry {
		d.turn = t.Run
	}
	if d.turn != "" {
		agent = d.turnAgent(t)
	}
	if d.hops == 1 {
		keep = t.Run
	}
	if d.turn != "" {
		keep = d.turn
	}
	d.endVisit(EndVisit{N: d.s.Visit.N, By: h.by, Reason: h.reason, KeepRun: keep, Carry: d.turn != ""}, h.person)

	d.beginVisit(h, from, d.s.Visit.N+1)
	if d.turn != "" {
		d.carryTurn(agent)
	}
	d.enter(Trigger{Op: t.Op, Kind: fairlead.TriggerEnter, Actor: t.Actor, Payload: payload})
}

// exit runs the old step's exit actions. Seats that they would ask anew are leaving with the visit.
func (d *decider) exit(t Trigger, payload map[string]any) {
	x := Trigger{Op: t.Op, Kind: fairlead.TriggerExit, Actor: t.Actor, Payload: payload}
	facts := FactsOf(d.s, payload)
	for i, a := range d.step().On[fairlead.TriggerExit] {
		if isMove(a) {
			d.explain(x, i, string(a.Kind), OutcomeSkipped, "not_allowed", "")
			continue
		}
		d.act(x, i, a, facts)
	}
	d.pending = nil
}

// endVisit closes what belongs to the visit and ends it.
func (d *decider) endVisit(e EndVisit, byPerson bool) {
	d.dropDeferred()
	for _, r := range d.s.Open {
		if r.Visit == 0 {
			continue // of a budget's scope, never of a visit
		}
		state := fairlead.RequestSuperseded
		if byPerson && r.Kind != fairlead.RequestDecision {
			state = fairlead.RequestWithdrawn
		}
		d.emit(CloseRequest{Request: r.ID, State: state, Reason: closedVisitEnded})
	}
	d.emit(e)
}

// dropDeferred records what is still put aside as superseded. What this plan itself put aside has no number yet, so it
// is taken out of the plan again; the explanations keep it.
func (d *decider) dropDeferred() {
	for _, x := range d.s.Deferred {
		if x.Seq != 0 {
			d.emit(DropDeferred{Seq: x.Seq, Outcome: DroppedSuperseded})
			continue
		}
		d.explain(x.Trigger, -1, actionMove, OutcomeSkipped, DroppedSuperseded, "")
		d.plan.Deferred = false
	}
	d.plan.Effects = slices.DeleteFunc(d.plan.Effects, func(e Effect) bool { _, ok := e.(DeferTrigger); return ok })
}

// beginVisit puts the task at the step; where engine and agents entered it too often, people are asked first.
func (d *decider) beginVisit(h hop, from string, n int) {
	step := h.def.Step(h.to)
	limit := step.MaxVisits
	if limit <= 0 {
		limit = workflow.DefaultMaxVisits
	}
	entries := d.s.Entries[step.Key]
	d.emit(BeginVisit{
		Visit: fairlead.Visit{
			Task: d.s.Task.ID, N: n, Workflow: h.def.Key, WorkflowVersion: h.def.Version, Step: step.Key, From: from,
			By: h.by, Reason: h.reason, Note: h.note, Round: 1, BeganAt: d.now,
		},
		Terminal: step.Terminal,
	})
	if h.by.Automatic() && entries >= limit {
		d.supervise(step, entries+1)
	}
}

// enter fixes the seats, runs the step's enter actions and asks the seats, then looks whether a quorum already holds.
func (d *decider) enter(t Trigger) {
	d.fixSeats(t)
	d.entered(t)
}

func (d *decider) entered(t Trigger) {
	end := d.fire(t)
	if end == stayed {
		end = d.weighQuorums(t)
	}
	if end != moved && !d.looped {
		d.noticeSlate()
	}
}

// turnAgent is the agent whose turn goes along.
func (d *decider) turnAgent(t Trigger) string {
	id := t.Assignment
	if d.carried != "" {
		id = d.carried
	}
	if a := d.assignmentOf(id); a != nil {
		return a.Agent
	}
	return primaryOf(&d.s)
}

// carryTurn gives the live turn an assignment in the new visit. As the new step's primary it takes the place of the
// wake that enter would give; the turn of another agent goes on as a guest's.
func (d *decider) carryTurn(agent string) {
	capacity := fairlead.CapacityPrimary
	if p := primaryOf(&d.s); p != "" && p != agent {
		capacity = fairlead.CapacityGuest
	}
	a := d.assignment(capacity, agent, "")
	d.carried = a.ID
	d.emit(CarryRun{Run: d.turn, Assignment: a.ID})
}
