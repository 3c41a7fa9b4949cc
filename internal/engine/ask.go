package engine

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// fixSeats makes the seats of the visit what the slate says. Those that are counted and new are to be asked.
func (d *decider) fixSeats(t Trigger) {
	want, left := slate(&d.s, d.s.Pinned, d.step())
	for _, p := range left {
		d.explain(t, -1, actionSeat, OutcomeSkipped, "seat_excluded", p.holder()+" created or worked this task")
	}
	for _, seat := range d.s.Seats {
		if !seat.RemovedAt.IsZero() || slices.ContainsFunc(want, func(p place) bool { return p.same(&seat) && p.required == seat.DecisionRequired }) {
			continue
		}
		d.emit(RemoveSeat{Seat: seat.ID})
		d.closeDecisions(seat.ID, closedSeat)
	}
	for _, p := range want {
		if slices.ContainsFunc(d.s.Seats, func(s fairlead.Seat) bool { return s.RemovedAt.IsZero() && p.same(&s) }) {
			continue
		}
		seat := fairlead.Seat{
			ID: d.id(fairlead.PrefixSeat), Task: d.s.Task.ID, Visit: d.s.Visit.N, Role: p.role, Agent: p.agent, Person: p.person,
			DecisionRequired: p.required, Participant: p.participant,
		}
		d.emit(AddSeat{Seat: seat})
		switch {
		case counted(&seat):
			d.pending = append(d.pending, seat.ID)
		case seat.Role == fairlead.RoleWatcher && seat.Person != "":
			d.tellWatcher(seat)
		}
	}
}

// tellWatcher gives a person who watches the task a notice that it is here now.
func (d *decider) tellWatcher(seat fairlead.Seat) {
	d.emit(AddNotice{
		Kind: NoticeWatch, Text: fmt.Sprintf("%s is at step %q now.", d.s.Task.Title, nameOf(d.step())),
		Data: map[string]any{"for": seat.Holder(), "step": d.s.Visit.Step},
	})
}

// closeDecisions closes open requests of kind decision: those of one seat, or with seat "" all of the visit.
func (d *decider) closeDecisions(seat, reason string) {
	for _, r := range d.s.Open {
		if r.Kind == fairlead.RequestDecision && r.Visit == d.s.Visit.N && (seat == "" || r.Seat == seat) {
			d.emit(CloseRequest{Request: r.ID, State: fairlead.RequestSuperseded, Reason: reason})
		}
	}
}

// askPending asks every seat that is still to be asked and was not woken by an action of the same trigger.
func (d *decider) askPending(t Trigger) {
	for len(d.pending) > 0 {
		id := d.pending[0]
		d.pending = d.pending[1:]
		for _, seat := range d.s.Seats {
			if seat.ID == id && seat.RemovedAt.IsZero() {
				d.ask(t, seat)
			}
		}
	}
}

// ask asks one seat for its verdict: an agent by a run, a person by a request that blocks nothing.
func (d *decider) ask(t Trigger, seat fairlead.Seat) {
	if seat.Agent != "" {
		if !hasAgent(&d.s, seat.Agent) {
			d.explain(t, -1, actionAsk, OutcomeFailed, "no_such_agent", seat.Holder())
			d.fail(t, actionAsk, fmt.Sprintf("The %s %q is no agent of this workspace any more.", seat.Role, seat.Agent))
			return
		}
		a := d.assignment(fairlead.Capacity(seat.Role), seat.Agent, seat.ID)
		d.wake(t, a, reasonDecision, t.Payload, "")
		d.explain(t, -1, actionAsk, OutcomeTaken, "", seat.Holder())
		return
	}
	d.askPerson(t, -1, actionAsk, seat)
}

// askPerson opens a request of kind decision for a person's seat, unless one is open.
func (d *decider) askPerson(t Trigger, index int, action string, seat fairlead.Seat) {
	d.unpend(seat.ID)
	if !d.s.People[seat.Person] {
		d.explain(t, index, action, OutcomeFailed, "no_such_person", seat.Holder())
		d.fail(t, action, fmt.Sprintf("The %s %q is no person of this workspace any more.", seat.Role, seat.Person))
		return
	}
	for _, r := range d.s.Open {
		if r.Kind == fairlead.RequestDecision && r.Seat == seat.ID {
			d.explain(t, index, action, OutcomeSkipped, "already_asked", seat.Holder())
			return
		}
	}
	d.emit(OpenRequest{Request: fairlead.Request{
		ID: d.id(fairlead.PrefixRequest), Workspace: d.s.Task.Workspace, Kind: fairlead.RequestDecision, Task: d.s.Task.ID,
		Visit: d.s.Visit.N, Round: d.s.Visit.Round, Seat: seat.ID,
		Prompt:  fmt.Sprintf("Your decision as %s at step %q: %s", seat.Role, nameOf(d.step()), d.s.Task.Title),
		Options: decisionOptions(), Blocks: fairlead.BlocksNothing, AskedOf: []string{seat.Holder()},
		OpenedBy: fairlead.Engine(), State: fairlead.RequestOpen, OpenedAt: d.now,
	}})
	d.explain(t, index, action, OutcomeTaken, "", seat.Holder())
}

// unpend takes a seat off the list of those still to be asked.
func (d *decider) unpend(seat string) {
	d.pending = slices.DeleteFunc(d.pending, func(id string) bool { return id == seat })
}

// assignment finds the assignment of this visit for an agent in a capacity, or makes it.
func (d *decider) assignment(capacity fairlead.Capacity, agent, seat string) fairlead.Assignment {
	for _, a := range d.s.Assignments {
		if a.Visit == d.s.Visit.N && a.Capacity == capacity && a.Agent == agent && a.Seat == seat && a.Parent == "" &&
			a.State != fairlead.AssignmentEnded {
			return a
		}
	}
	program := programPlain
	if step := d.step(); capacity == fairlead.CapacityPrimary && step.Program != "" {
		program = step.Program
	}
	a := fairlead.Assignment{
		ID: d.id(fairlead.PrefixAssignment), Workspace: d.s.Task.Workspace, Task: d.s.Task.ID, Visit: d.s.Visit.N, Step: d.s.Visit.Step,
		Capacity: capacity, Agent: agent, Seat: seat, Program: program, State: fairlead.AssignmentOpen, CreatedAt: d.now,
	}
	d.emit(NewAssignment{Assignment: a})
	return a
}

// wake adds a wake to an assignment. A wake of a seat is its asking.
func (d *decider) wake(t Trigger, a fairlead.Assignment, reason string, payload map[string]any, key string) {
	byPeer := t.Actor.Kind == fairlead.ActorAgent || t.Actor.Kind == fairlead.ActorClient
	by := t.Actor
	if t.Kind == fairlead.TriggerEnter && countOpen(d.s.Blockers) > 0 {
		// A person's wake passes blockers. Creating or moving a blocked task is no wish to pass them; a comment is.
		by = fairlead.Engine()
	}
	d.emit(Wake{
		Assignment: a.ID, Agent: a.Agent, Reason: reason, Payload: copyMap(payload), Key: key, By: by,
		Settle: t.Kind == fairlead.TriggerComment && byPeer,
	})
	d.unpend(a.Seat)
}

func nameOf(s *workflow.Step) string {
	if s.Name != "" {
		return s.Name
	}
	return s.Key
}
