package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// apply makes the snapshot what it is once the effect is written. Slices and maps are replaced, never changed in
// place: facts taken earlier in the plan go on showing the state before.
func (s *Snapshot) apply(e Effect, now time.Time) {
	switch e := e.(type) {
	case NewAssignment:
		s.Assignments = append(slices.Clip(s.Assignments), e.Assignment)
	case OpenRound:
		s.Task.Round, s.Visit.Round, s.Decisions = e.Round, e.Round, nil
	case AddSeat:
		s.Seats = append(slices.Clip(s.Seats), e.Seat)
	case RemoveSeat:
		s.removeSeat(e.Seat, now)
	case OpenRequest:
		s.openRequest(e.Request)
	case CloseRequest:
		s.closeRequest(e)
	case CreateChild:
		s.Children = append(slices.Clip(s.Children), Linked{Task: e.Task, Open: true})
	case SetTask:
		s.set(e.Set)
	case Tell:
		s.told(e)
	case EndVisit:
		s.Visit.EndedAt = now
		s.Deferred = nil
	case BeginVisit:
		s.begin(e)
	case Entered:
		s.Entered = true
	case Repinned:
		s.Pinned, s.Task.WorkflowVersion, s.Visit.WorkflowVersion, s.Task.Terminal = s.Newest, e.Version, e.Version, e.Terminal
	case DeferTrigger:
		s.Deferred = append(slices.Clip(s.Deferred), Deferred{Trigger: e.Trigger})
	case DropDeferred:
		s.Deferred = slices.DeleteFunc(slices.Clone(s.Deferred), func(x Deferred) bool { return x.Seq == e.Seq })
	case HoldTask:
		s.Task.Held = e.Held
	case ArchiveTask:
		s.Task.ArchivedAt = now
	}
}

func (s *Snapshot) removeSeat(id string, now time.Time) {
	s.Seats = slices.Clone(s.Seats)
	for i := range s.Seats {
		if s.Seats[i].ID == id {
			s.Seats[i].RemovedAt = now
		}
	}
	s.Assignments = slices.Clone(s.Assignments)
	for i := range s.Assignments {
		if s.Assignments[i].Seat == id {
			s.Assignments[i].State = fairlead.AssignmentEnded
		}
	}
}

func (s *Snapshot) openRequest(r fairlead.Request) {
	s.Open = append(slices.Clip(s.Open), r)
	if r.Kind == fairlead.RequestApproval {
		s.Approval = &r
	}
}

func (s *Snapshot) closeRequest(e CloseRequest) {
	s.Open = slices.DeleteFunc(slices.Clone(s.Open), func(r fairlead.Request) bool { return r.ID == e.Request })
	if s.Approval != nil && s.Approval.ID == e.Request {
		r := *s.Approval
		r.State = e.State
		s.Approval = &r
	}
}

func (s *Snapshot) told(e Tell) {
	list := &s.Blockers
	if e.Kind == TellChild {
		list = &s.Children
	}
	*list = slices.Clone(*list)
	for i := range *list {
		if (*list)[i].Task == e.Task {
			(*list)[i].Told = true
		}
	}
}

func (s *Snapshot) set(f workflow.SetFields) {
	labels := slices.DeleteFunc(slices.Clone(s.Task.Labels), func(l string) bool { return slices.Contains(f.RemoveLabels, l) })
	for _, l := range f.AddLabels {
		if !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	s.Task.Labels = labels
	if f.Priority != "" {
		s.Task.Priority = f.Priority
	}
	if f.Agent != nil {
		s.Task.Agent = *f.Agent
	}
	if len(f.Metadata) > 0 {
		m := maps.Clone(s.Task.Metadata)
		if m == nil {
			m = map[string]any{}
		}
		maps.Copy(m, f.Metadata)
		s.Task.Metadata = m
	}
}

func (s *Snapshot) begin(e BeginVisit) {
	v := e.Visit
	for _, def := range []*workflow.Definition{s.Newest, s.Other} {
		if def != nil && def.Key == v.Workflow && def.Version == v.WorkflowVersion {
			s.Pinned = def
		}
	}
	if s.Newest.Key != v.Workflow {
		s.Newest = s.Pinned
	}
	s.Visit = v
	t := &s.Task
	t.Workflow, t.WorkflowVersion, t.Step, t.Visit, t.Round, t.Terminal = v.Workflow, v.WorkflowVersion, v.Step, v.N, v.Round, e.Terminal
	if v.By.Kind == fairlead.ActorPerson {
		t.PersonVisit, s.Entries = v.N, nil
	}
	if v.By.Automatic() {
		s.Entries = maps.Clone(s.Entries)
		if s.Entries == nil {
			s.Entries = map[string]int{}
		}
		s.Entries[v.Step]++
	}
	s.Seats, s.Decisions, s.Assignments, s.Approval, s.Deferred = nil, nil, nil, nil, nil
}
