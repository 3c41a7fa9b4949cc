package engine

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// precondition says why the rules of a trigger may not move the task, whatever their guards say; "" if they may. A
// turn moves the task only as the primary's, and its end only when the work is done.
func (d *decider) precondition(t Trigger) string {
	switch t.Kind {
	case fairlead.TriggerExit:
		return "not_allowed"
	case fairlead.TriggerTurnStart:
		if !d.isPrimary(t.Assignment) {
			return "not_primary"
		}
	case fairlead.TriggerTurnComplete:
		switch {
		case !d.isPrimary(t.Assignment):
			return "not_primary"
		case d.asks(t.Assignment):
			return "question_open"
		case !d.completed(t):
			return "not_completed"
		}
	}
	return ""
}

func (d *decider) assignmentOf(id string) *fairlead.Assignment {
	for i := range d.s.Assignments {
		if d.s.Assignments[i].ID == id {
			return &d.s.Assignments[i]
		}
	}
	return nil
}

// isPrimary reports whether the assignment is the step's main work. No assignment at all means a turn that is only
// supposed, as in a simulation.
func (d *decider) isPrimary(assignment string) bool {
	if assignment == "" {
		return true
	}
	a := d.assignmentOf(assignment)
	return a != nil && a.Capacity == fairlead.CapacityPrimary && a.Parent == ""
}

// asks reports whether the assignment waits for an answer: its turn then completes nothing.
func (d *decider) asks(assignment string) bool {
	for _, r := range d.s.Open {
		if assignment != "" && r.Assignment == assignment {
			return true
		}
	}
	return false
}

// completed reports whether the turn's end completes the step. The end of a turn alone never completes a plain step
// that waits for a signal.
func (d *decider) completed(t Trigger) bool {
	step := d.step()
	plain := step.Program == "" || step.Program == programPlain
	if !t.Completed || !plain || step.Complete != workflow.CompleteSignal || t.Assignment == "" {
		return t.Completed
	}
	a := d.assignmentOf(t.Assignment)
	return d.s.Task.SignalVisit == d.s.Visit.N || a != nil && a.Signalled
}

// ownMove judges the move that the agent asked for in the turn that ends. It is the agent's, not the rules', so it does
// not need the step's completion; a question that is still open voids it.
func (d *decider) ownMove(t Trigger) candidate {
	by := t.Actor
	if a := d.assignmentOf(t.Assignment); a != nil {
		// Whoever reports the end of the run, the move is the agent's.
		by = fairlead.Actor{Kind: fairlead.ActorAgent, Key: a.Agent, Assignment: a.ID, Run: t.Run}
	}
	c := candidate{
		label: labelOf(t), index: -1, action: actionOwnMove, to: t.OwnMove.To, by: by, reason: reasonOf(t.OwnMove), note: t.OwnMove.Note,
		holds: true,
	}
	if d.asks(t.Assignment) {
		c.holds, c.why = false, "question_open"
	}
	return c
}

// carries reports whether a move takes the live turn along. One that was put aside does so only while the turn lives.
func (d *decider) carries(t Trigger, c candidate) bool {
	if t.Kind != fairlead.TriggerTurnStart || c.label != labelOf(t) || t.Run == "" {
		return false
	}
	if !d.replay {
		return true
	}
	for _, r := range d.s.Runs {
		if r.ID == t.Run && (r.Status == fairlead.RunClaimed || r.Status == fairlead.RunRunning) {
			return true
		}
	}
	return false
}
