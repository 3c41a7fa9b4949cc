package engine

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
)

// model is a task as somebody sees it who knows nothing but the effects: a second, plain reading of what they mean.
type model struct {
	step, workflow string
	visit, round   int
	open           bool // a visit is open
	terminal       fairlead.Terminal
	held           string
	archived       bool
	seats          map[string]fairlead.Seat
	assignments    map[string]fairlead.Assignment // of the open visit, not ended
	asked          map[string]int                 // seat -> last round it was asked in
	requests       map[string]fairlead.Request
	deferred       int
	moves          int
}

func newModel() *model { return &model{requests: map[string]fairlead.Request{}} }

// take reads one effect and returns what is wrong with it, "" if nothing.
func (m *model) take(e Effect) string {
	switch e := e.(type) {
	case EndVisit:
		return m.end(e)
	case BeginVisit:
		return m.begin(e)
	case NewAssignment:
		if a := e.Assignment; !m.open || a.Visit != m.visit || a.Step != m.step || a.ID == "" {
			return fmt.Sprintf("assignment of visit %d at %s in visit %d at %s", a.Visit, a.Step, m.visit, m.step)
		}
		m.assignments[e.Assignment.ID] = e.Assignment
	case Wake:
		a, ok := m.assignments[e.Assignment]
		if !ok || a.Agent != e.Agent {
			return "a wake without its assignment"
		}
		m.asked[a.Seat] = m.round
	case CarryRun:
		if _, ok := m.assignments[e.Assignment]; !ok {
			return "a run carried to no assignment"
		}
	case OpenRound:
		if e.Round != m.round+1 {
			return fmt.Sprintf("round %d after %d", e.Round, m.round)
		}
		m.round = e.Round
	case AddSeat:
		if e.Seat.Visit != m.visit {
			return "a seat of another visit"
		}
		m.seats[e.Seat.ID] = e.Seat
	case RemoveSeat:
		delete(m.seats, e.Seat)
		for id, a := range m.assignments {
			if a.Seat == e.Seat {
				delete(m.assignments, id)
			}
		}
	case OpenRequest:
		m.requests[e.Request.ID] = e.Request
		if e.Request.Seat != "" {
			m.asked[e.Request.Seat] = m.round
		}
	case CloseRequest:
		if _, ok := m.requests[e.Request]; !ok {
			return "a request closed that was not open"
		}
		delete(m.requests, e.Request)
	case DeferTrigger:
		m.deferred++
	case DropDeferred:
		if m.deferred == 0 || e.Seq == 0 {
			return "a put-aside trigger dropped that was none"
		}
		m.deferred--
	case HoldTask:
		m.held = e.Held
	case Repinned:
		m.terminal = e.Terminal
	case ArchiveTask:
		m.archived = true
	}
	return ""
}

func (m *model) end(e EndVisit) string {
	switch {
	case !m.open || e.N != m.visit:
		return fmt.Sprintf("visit %d ended in visit %d", e.N, m.visit)
	case m.deferred > 0:
		return "a visit ended with triggers put aside"
	}
	for _, r := range m.requests {
		if r.Visit != 0 && r.Visit == m.visit {
			return "a visit ended with open requests"
		}
	}
	m.open, m.assignments = false, nil
	return ""
}

func (m *model) begin(e BeginVisit) string {
	if m.open || e.Visit.N != m.visit+1 || e.Visit.From != m.step || m.archived {
		return fmt.Sprintf("visit %d from %q after visit %d at %q", e.Visit.N, e.Visit.From, m.visit, m.step)
	}
	m.open, m.step, m.visit, m.round, m.terminal, m.workflow = true, e.Visit.Step, e.Visit.N, e.Visit.Round, e.Terminal, e.Visit.Workflow
	m.seats, m.assignments, m.asked = map[string]fairlead.Seat{}, map[string]fairlead.Assignment{}, map[string]int{}
	m.moves++
	return ""
}

// differs compares the model with the engine's own reading of the same effects.
func (m *model) differs(s *Snapshot) string {
	var seats, assignments, requests []string
	for _, x := range s.Seats {
		if x.RemovedAt.IsZero() {
			seats = append(seats, x.ID)
		}
	}
	for _, x := range s.Assignments {
		if x.State != fairlead.AssignmentEnded && m.open {
			assignments = append(assignments, x.ID)
		}
	}
	for _, x := range s.Open {
		requests = append(requests, x.ID)
	}
	got := fmt.Sprint(s.Visit.Step, s.Visit.N, s.Visit.Round, s.Task.Terminal, s.Task.Held, !s.Task.ArchivedAt.IsZero(), len(s.Deferred),
		sorted(seats), sorted(assignments), sorted(requests))
	want := fmt.Sprint(m.step, m.visit, m.round, m.terminal, m.held, m.archived, m.deferred,
		sorted(keysOf(m.seats)), sorted(keysOf(m.assignments)), sorted(keysOf(m.requests)))
	if got != want {
		return "the engine reads " + got + "\nthe model reads " + want
	}
	return ""
}

func keysOf[V any](m map[string]V) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
