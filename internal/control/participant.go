package control

import (
	"context"
	"errors"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/catalog"
	"github.com/fairlead/fairlead/internal/engine"
)

// newParticipant checks a participant against the workspace.
func newParticipant(f *catalog.Facts, p fairlead.NewParticipant) (fairlead.Participant, error) {
	row := fairlead.Participant{Role: p.Role, Agent: p.Agent, Person: p.Person}
	switch {
	case !p.Role.Valid():
		return row, invalidField("role", "unknown role", "use reviewer, approver, watcher or collaborator")
	case (p.Agent == "") == (p.Person == ""):
		return row, invalidField("agent", "name exactly one of agent and person", "leave the other one out")
	case p.Agent != "" && f.Agents[p.Agent].Key == "":
		return row, invalidField("agent", "no such agent", "list the agents with: fairlead agent list")
	case p.Person != "" && !f.People[p.Person]:
		return row, invalidField("person", "no such person", "list the people with: fairlead person list")
	}
	row.DecisionRequired = p.Role.Votes()
	if p.DecisionRequired != nil {
		if *p.DecisionRequired && !p.Role.Votes() {
			return row, invalidField("decision_required", "this role does not vote", "use it with reviewer or approver")
		}
		row.DecisionRequired = *p.DecisionRequired
	}
	return row, nil
}

// inField puts the path of the surrounding list in front of an error's fields.
func inField(err error, path string) error {
	var e *fairlead.Error
	if errors.As(err, &e) {
		for i := range e.Fields {
			e.Fields[i].Path = path + "." + e.Fields[i].Path
		}
	}
	return err
}

// canSeat refuses an agent that created the task or worked as its primary.
func (w *work) canSeat(p fairlead.Participant) error {
	s, err := w.load()
	if err != nil {
		return err
	}
	if refusal := engine.CanSeat(*s, p); refusal != nil {
		return refusal
	}
	return nil
}

// AddParticipant attaches an agent or a person to this task only. A seat is asked at once and the guards are weighed.
func (c *Control) AddParticipant(ctx context.Context, m Meta, ref string, body fairlead.ParticipantBody) (fairlead.TaskView, error) {
	return onTask(ctx, c, m, "add participant", ref, body, func(w *work) (fairlead.TaskView, error) {
		if err := w.personOnly("participants"); err != nil {
			return fairlead.TaskView{}, err
		}
		f, err := w.facts()
		if err != nil {
			return fairlead.TaskView{}, err
		}
		p, err := newParticipant(f, body.NewParticipant)
		if err != nil {
			return fairlead.TaskView{}, err
		}
		p.ID, p.Task, p.By, p.At = w.id(fairlead.PrefixParticipant), w.task.row.ID, w.meta.Actor, w.now
		if err := w.putParticipant(p); err != nil {
			return fairlead.TaskView{}, err
		}
		w.changed()
		_, err = w.decide(engine.Trigger{Kind: engine.KindSeats, Payload: map[string]any{"participant": p.ID}})
		if err != nil {
			return fairlead.TaskView{}, err
		}
		return w.view(w.task)
	})
}

// putParticipant inserts a row, or gives a row that took the same holder away its seat back.
func (w *work) putParticipant(p fairlead.Participant) error {
	rows, err := w.tx.ListParticipants(p.Task)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Role != p.Role || r.Agent != p.Agent || r.Person != p.Person {
			continue
		}
		if !r.Removed {
			return fairlead.Conflict(fairlead.ReasonExists, "this participant is on the task already")
		}
		if r.Step == p.Step {
			p.ID = r.ID
			return w.tx.SaveParticipant(p)
		}
	}
	_, err = w.tx.InsertParticipant(p)
	return err
}

// RemoveParticipant takes a participant away, by the id of its row or of its seat. A template's seat is taken away for
// this task only.
func (c *Control) RemoveParticipant(ctx context.Context, m Meta, ref, id string, body fairlead.OpBody) (fairlead.TaskView, error) {
	type fingerprint struct {
		Participant string
		fairlead.OpBody
	}
	return onTask(ctx, c, m, "remove participant", ref, fingerprint{id, body}, func(w *work) (fairlead.TaskView, error) {
		if err := w.personOnly("participants"); err != nil {
			return fairlead.TaskView{}, err
		}
		if err := w.dropParticipant(id); err != nil {
			return fairlead.TaskView{}, err
		}
		w.changed()
		if _, err := w.decide(engine.Trigger{Kind: engine.KindSeats}); err != nil {
			return fairlead.TaskView{}, err
		}
		return w.view(w.task)
	})
}

func (w *work) dropParticipant(id string) error {
	s, err := w.load()
	if err != nil {
		return err
	}
	for _, p := range s.Participants {
		if p.ID == id && !p.Removed {
			p.Removed = true
			return w.tx.SaveParticipant(p)
		}
	}
	for _, seat := range s.Seats {
		if seat.ID != id || !seat.RemovedAt.IsZero() {
			continue
		}
		for _, p := range s.Participants {
			if p.ID == seat.Participant {
				p.Removed = true
				return w.tx.SaveParticipant(p)
			}
		}
		_, err := w.tx.InsertParticipant(fairlead.Participant{
			ID: w.id(fairlead.PrefixParticipant), Task: w.task.row.ID, Step: w.task.row.Step, Role: seat.Role, Agent: seat.Agent, Person: seat.Person,
			Removed: true, By: w.meta.Actor, At: w.now,
		})
		return err
	}
	return fairlead.Errorf(fairlead.CodeNotFound, "no such participant").WithHint("the task's seats are listed with: fairlead task show TASK")
}
