package engine

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// Values of queue_run's task.
const (
	taskThis         = "this"
	taskParent       = "parent"
	taskCoordination = "coordination"
)

// queueRun wakes the agents its target names, on this task or another.
func (d *decider) queueRun(x doing) {
	reason, payload, key, ok := d.wakeParts(x)
	if !ok {
		return
	}
	switch task := x.a.Task; task {
	case "", taskThis, d.s.Task.ID:
		d.wakeTarget(x, x.a.Target, reason, payload, key)
	case taskParent:
		if d.s.Task.Parent == "" {
			d.say(x, OutcomeSkipped, "no_parent", "")
			return
		}
		d.sendWake(x, d.s.Task.Parent, reason, payload, key)
	case taskCoordination:
		d.wakeCoordination(x, reason, payload, key)
	default:
		d.sendWake(x, task, reason, payload, key)
	}
}

// wakeParts fills in what a wake says: the trigger's name and payload, unless the action has its own.
func (d *decider) wakeParts(x doing) (reason string, payload map[string]any, key string, ok bool) {
	if reason = x.a.Reason; reason == "" {
		reason = string(x.t.Kind)
	}
	payload = x.t.Payload
	if x.a.Payload != nil {
		if payload, ok = d.values(x, x.a.Payload); !ok {
			return
		}
	}
	key, ok = d.text(x, x.a.RunKey)
	return
}

// wakeTarget wakes on this task.
func (d *decider) wakeTarget(x doing, to workflow.Target, reason string, payload map[string]any, key string) {
	if to.Kind == workflow.TargetRole {
		d.wakeRole(x, fairlead.Role(to.Name), reason, payload, key)
		return
	}
	agent, ok := d.resolve(x, to)
	if !ok {
		return
	}
	if d.passesBy(x, agent) {
		return
	}
	a := d.as(to, agent)
	if a.ID == d.carried && a.Capacity == fairlead.CapacityPrimary {
		d.say(x, OutcomeSkipped, "absorbed", agent)
		return
	}
	d.wake(x.t, a, reason, payload, key)
	d.say(x, OutcomeTaken, "", "agent:"+agent)
}

// resolve finds the target's agent. A duty that nobody has is a silent no-op; any other agent that is not there fails
// the action.
func (d *decider) resolve(x doing, to workflow.Target) (string, bool) {
	agent := to.Name
	switch to.Kind {
	case workflow.TargetPrimary:
		agent = primaryOf(&d.s)
	case workflow.TargetDuty:
		agent = d.s.Duties[to.Name]
		if !hasAgent(&d.s, agent) {
			d.say(x, OutcomeSkipped, "no_such_agent", to.String())
			return "", false
		}
	}
	if !hasAgent(&d.s, agent) {
		d.noAgent(x, agent)
		return "", false
	}
	return agent, true
}

// passesBy reports whether a wake would tell an agent what it did itself: its own comment, or its own error.
func (d *decider) passesBy(x doing, agent string) bool {
	own := x.t.Kind == fairlead.TriggerComment && x.t.Actor.Kind == fairlead.ActorAgent && x.t.Actor.Key == agent
	if own || failing(x.t) == agent {
		d.say(x, OutcomeSkipped, "self", "agent:"+agent)
		return true
	}
	return false
}

// as finds as what an agent is woken: as primary or as the seat it holds, else as a guest.
func (d *decider) as(to workflow.Target, agent string) fairlead.Assignment {
	if to.Kind == workflow.TargetPrimary || agent == primaryOf(&d.s) {
		return d.assignment(fairlead.CapacityPrimary, agent, "")
	}
	for _, seat := range d.s.Seats {
		if seat.Agent == agent && seat.RemovedAt.IsZero() && seat.Role != fairlead.RoleWatcher {
			return d.assignment(fairlead.Capacity(seat.Role), agent, seat.ID)
		}
	}
	return d.assignment(fairlead.CapacityGuest, agent, "")
}

// wakeRole wakes every agent that holds a seat of the role. People are asked by fan_out, they do not run.
func (d *decider) wakeRole(x doing, role fairlead.Role, reason string, payload map[string]any, key string) {
	d.eachSeat(x, role, func(seat fairlead.Seat) {
		switch {
		case seat.Person != "":
			d.say(x, OutcomeSkipped, "person", seat.Holder())
		default:
			d.wakeSeat(x, seat, reason, payload, key)
		}
	})
}

// fanOut reaches every seat of a role: agents by a run, people by a request for their decision.
func (d *decider) fanOut(x doing) {
	reason, payload, key, ok := d.wakeParts(x)
	if !ok {
		return
	}
	d.eachSeat(x, x.a.Role, func(seat fairlead.Seat) {
		switch {
		case seat.Agent != "":
			d.wakeSeat(x, seat, reason, payload, key)
		case x.t.Kind == fairlead.TriggerComment && x.t.Actor.Kind == fairlead.ActorPerson && x.t.Actor.Key == seat.Person:
			d.say(x, OutcomeSkipped, "self", seat.Holder())
		case !seat.Role.Votes():
			d.say(x, OutcomeSkipped, "no_vote", seat.Holder())
		default:
			d.askPerson(x.t, x.index, string(x.a.Kind), seat)
		}
	})
}

// eachSeat does something for every seat of a role but watchers, who are told and never asked or woken.
func (d *decider) eachSeat(x doing, role fairlead.Role, do func(fairlead.Seat)) {
	found := false
	for _, seat := range d.s.Seats {
		if seat.Role != role || !seat.RemovedAt.IsZero() {
			continue
		}
		found = true
		if role == fairlead.RoleWatcher {
			d.say(x, OutcomeSkipped, "watcher", seat.Holder())
			continue
		}
		do(seat)
	}
	if !found {
		d.say(x, OutcomeSkipped, "slate_empty", "role:"+string(role))
	}
}

func (d *decider) wakeSeat(x doing, seat fairlead.Seat, reason string, payload map[string]any, key string) {
	if !hasAgent(&d.s, seat.Agent) {
		d.unpend(seat.ID)
		d.noAgent(x, seat.Agent)
		return
	}
	if d.passesBy(x, seat.Agent) {
		return
	}
	d.wake(x.t, d.assignment(fairlead.Capacity(seat.Role), seat.Agent, seat.ID), reason, payload, key)
	d.say(x, OutcomeTaken, "", seat.Holder())
}

// wakeCoordination wakes an agent on its standing task.
func (d *decider) wakeCoordination(x doing, reason string, payload map[string]any, key string) {
	if x.a.Target.Kind == workflow.TargetRole {
		d.failed(x, "no_such_target", x.a.Target.String(), "A role has no coordination task; name an agent or a duty.")
		return
	}
	agent, ok := d.resolve(x, x.a.Target)
	if !ok || d.passesBy(x, agent) {
		return
	}
	d.send(x, taskCoordination+":"+agent, "agent:"+agent, reason, payload, key)
}

// sendWake addresses a wake to another task; what "primary" and roles mean is known only there.
func (d *decider) sendWake(x doing, task, reason string, payload map[string]any, key string) {
	to := x.a.Target
	if to.Kind == workflow.TargetAgent || to.Kind == workflow.TargetDuty {
		agent, ok := d.resolve(x, to)
		if !ok || d.passesBy(x, agent) {
			return
		}
		to = workflow.Target{Kind: workflow.TargetAgent, Name: agent}
	}
	d.send(x, task, to.String(), reason, payload, key)
}

func (d *decider) send(x doing, task, to, reason string, payload map[string]any, key string) {
	p := map[string]any{"to": to, "reason": reason, "payload": copyMap(payload)}
	if key != "" {
		p["key"] = key
	}
	// The id names the operation, the place in its plan and the receiver, so that a repeated delivery is the same
	// operation and two actions are two, also those of two triggers that one operation decides.
	place := fmt.Sprint(d.s.Visit.N, " ", labelOf(x.t), " ", len(d.plan.Effects))
	op := fairlead.DerivedOp(string(x.t.Op), x.t.Actor.OpScope(), "wake", d.s.Task.ID, place, task)
	d.took(x, Send{Task: task, Kind: fairlead.OutboxWake, Trigger: Trigger{Op: op, Kind: KindWake, Actor: x.t.Actor, Payload: p}}, task)
}
