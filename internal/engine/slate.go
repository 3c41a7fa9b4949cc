package engine

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// place is a seat as it should be, before it has an id.
type place struct {
	role          fairlead.Role
	agent, person string
	required      bool
	participant   string // task row, "" for a template row
}

func (p place) holder() string {
	if p.agent != "" {
		return "agent:" + p.agent
	}
	return "person:" + p.person
}

func (p place) same(s *fairlead.Seat) bool {
	return p.role == s.Role && p.agent == s.Agent && p.person == s.Person
}

// slate returns who takes part in a visit of the step: the template's rows and the task's. A task row takes the place
// of a template row with the same role and holder, and may take it away. left are those left out because they made or
// worked the task.
func slate(s *Snapshot, def *workflow.Definition, step *workflow.Step) (seats, left []place) {
	var rows []place
	for _, p := range step.Participants {
		rows = put(rows, place{p.Role, p.Agent, p.Person, p.DecisionRequired, ""})
	}
	// Rows for one step come after those for every step, so that the nearer one wins.
	for _, anywhere := range []bool{true, false} {
		for _, p := range s.Participants {
			if (p.Step == "") != anywhere || !takesPart(step, p) {
				continue
			}
			row := place{p.Role, p.Agent, p.Person, p.DecisionRequired, p.ID}
			if p.Removed {
				rows = slices.DeleteFunc(rows, func(x place) bool { return x.role == row.role && x.holder() == row.holder() })
				continue
			}
			rows = put(rows, row)
		}
	}
	for _, r := range rows {
		if excluded(s, def, r.agent) {
			left = append(left, r)
			continue
		}
		seats = append(seats, r)
	}
	return seats, left
}

// put replaces the row of the same role and holder, or adds one.
func put(rows []place, p place) []place {
	for i, x := range rows {
		if x.role == p.role && x.holder() == p.holder() {
			rows[i] = p
			return rows
		}
	}
	return append(rows, p)
}

// takesPart reports whether a task row counts at the step: it names it, or names none and the step knows its role. To
// watch, a step needs to know nothing.
func takesPart(step *workflow.Step, p fairlead.Participant) bool {
	if p.Step != "" {
		return p.Step == step.Key
	}
	return p.Role == fairlead.RoleWatcher || hasRole(step, p.Role)
}

// hasRole reports whether the step speaks of a role: as a participant of its template, as a target of its actions, or
// in a quorum.
func hasRole(step *workflow.Step, role fairlead.Role) bool {
	for _, p := range step.Participants {
		if p.Role == role {
			return true
		}
	}
	names := func(list []workflow.Action) bool {
		for _, a := range list {
			if actionNames(a, role) {
				return true
			}
		}
		return false
	}
	for _, list := range step.On {
		if names(list) {
			return true
		}
	}
	for _, list := range step.Manual {
		if names(list) {
			return true
		}
	}
	return false
}

func actionNames(a workflow.Action, role fairlead.Role) bool {
	switch {
	case a.Kind == workflow.ActionFanOut:
		return a.Role == role
	case a.Kind == workflow.ActionQueueRun && a.Target.Kind == workflow.TargetRole:
		return fairlead.Role(a.Target.Name) == role
	case a.If != nil:
		return slices.ContainsFunc(a.If.Quorums, func(q workflow.QuorumRef) bool { return q.Role == role })
	}
	return false
}

// excluded reports whether an agent may not judge the task: it made it or worked it, and the workflow does not allow
// self-review. People never are.
func excluded(s *Snapshot, def *workflow.Definition, agent string) bool {
	if agent == "" || def.SelfReview {
		return false
	}
	c := s.Task.Creator
	return slices.Contains(s.Worked, agent) || c.Kind == fairlead.ActorAgent && c.Key == agent
}

// CanSeat refuses a participant that may not be added to the task of s: an unknown holder, a vote for a role that has
// none, or an agent that made or worked the task.
func CanSeat(s Snapshot, p fairlead.Participant) *fairlead.Error {
	s = s.own()
	switch {
	case !p.Role.Valid():
		return fairlead.Errorf(fairlead.CodeInvalid, "unknown role").WithHint("use reviewer, approver, watcher or collaborator")
	case (p.Agent == "") == (p.Person == ""):
		return fairlead.Errorf(fairlead.CodeInvalid, "a participant is one agent or one person").WithHint("name either agent or person")
	case p.DecisionRequired && !p.Role.Votes():
		return fairlead.Errorf(fairlead.CodeInvalid, "a %s has no vote", p.Role).WithHint("use reviewer or approver, or leave decision_required out")
	case p.Removed:
		return nil
	case p.Agent != "" && !hasAgent(&s, p.Agent):
		return fairlead.Errorf(fairlead.CodeInvalid, "no such agent in the workspace").WithHint("list them with: fairlead agent list")
	case p.Person != "" && !s.People[p.Person]:
		return fairlead.Errorf(fairlead.CodeInvalid, "no such person in the workspace").WithHint("list them with: fairlead person list")
	case excluded(&s, s.Pinned, p.Agent):
		return fairlead.Errorf(fairlead.CodeRefused, "the agent created this task or worked on it and cannot judge it").
			WithHint("name another agent or a person, or set self_review: true in the workflow")
	}
	return nil
}

// SeatOf returns the seat of the current visit that the actor decides for. Role "" is enough where the actor holds one
// seat only. Watchers decide nothing.
func SeatOf(s Snapshot, actor fairlead.Actor, role fairlead.Role) (fairlead.Seat, *fairlead.Error) {
	var found []fairlead.Seat
	for _, seat := range s.Seats {
		mine := actor.Kind == fairlead.ActorAgent && seat.Agent == actor.Key || actor.Kind == fairlead.ActorPerson && seat.Person == actor.Key
		if mine && actor.Key != "" && seat.RemovedAt.IsZero() && seat.Role.Votes() && (role == "" || seat.Role == role) {
			found = append(found, seat)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return fairlead.Seat{}, fairlead.Errorf(fairlead.CodeForbidden, "you hold no seat that decides in this visit").
			WithHint("ask for a seat as reviewer or approver")
	}
	return fairlead.Seat{}, fairlead.Errorf(fairlead.CodeInvalid, "you hold more than one seat in this visit").WithHint("name the role")
}

func hasAgent(s *Snapshot, key string) bool {
	_, ok := s.Agents[key]
	return ok
}
