package read

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/catalog"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// NoticeNoSignal is the notice of a turn that ended without the signal its step wants.
const NoticeNoSignal = "no_signal"

// situation is what a task's state is derived from, with what its view shows of it.
type situation struct {
	row         *store.TaskRow
	facts       *catalog.Facts
	blockers    []store.Link
	requests    []fairlead.Request
	assignments []fairlead.Assignment
	runs        []fairlead.Run // queued and live
	holds       []fairlead.Hold
	held        []bool // by run: a hold is in force
	dead        bool
	noSignal    bool
}

// situation loads the rows a task's state depends on. An ended task needs none of them but its requests.
func (r *Reader) situation(tx *store.ReadTx, row *store.TaskRow) (s *situation, err error) {
	s = &situation{row: row}
	if s.facts, err = r.catalog.Facts(tx, row.Workspace); err != nil {
		return nil, err
	}
	if s.requests, err = tx.OpenRequests(row.ID); err != nil {
		return nil, err
	}
	if s.blockers, err = tx.ListBlockers(row.ID); err != nil {
		return nil, err
	}
	if s.runs, err = tx.ActiveRuns(row.ID); err != nil {
		return nil, err
	}
	if row.Visit > 0 {
		if s.assignments, err = tx.ListAssignments(row.ID, row.Visit); err != nil {
			return nil, err
		}
	}
	if row.Ended() {
		return s, nil
	}
	if err := r.addHolds(tx, s); err != nil {
		return nil, err
	}
	if s.dead, err = primaryDead(tx, s); err != nil {
		return nil, err
	}
	if len(s.assignments) > 0 {
		s.noSignal, err = tx.HasNotice(row.ID, row.Visit, NoticeNoSignal)
	}
	return s, err
}

func (r *Reader) addHolds(tx *store.ReadTx, s *situation) error {
	s.held = make([]bool, len(s.runs))
	if s.row.Held == fairlead.HeldLoop {
		s.holds = append(s.holds, policy.Hold(fairlead.HoldLoop, s.row.ID))
	}
	for i, run := range s.runs {
		if run.Status != fairlead.RunQueued {
			continue
		}
		holds, err := r.holdsOf(tx, run)
		if err != nil {
			return err
		}
		s.held[i] = len(holds) > 0
		for _, h := range holds {
			if !slices.ContainsFunc(s.holds, func(o fairlead.Hold) bool { return o.Kind == h.Kind && o.Ref == h.Ref }) {
				s.holds = append(s.holds, h)
			}
		}
	}
	return nil
}

// holdsOf lists the holds of one queued run.
func (r *Reader) holdsOf(tx *store.ReadTx, run fairlead.Run) ([]fairlead.Hold, error) {
	if run.Status != fairlead.RunQueued {
		return nil, nil
	}
	if r.Holds != nil {
		return r.Holds(tx, run)
	}
	if run.Due {
		return nil, nil
	}
	h := policy.Hold(fairlead.HoldDue, run.ID)
	due := run.DueAt
	h.Until = &due
	return []fairlead.Hold{h}, nil
}

// primaryDead reports whether the primary's newest run of this visit is dead and no wake came later. A run that was
// merged into another one says nothing.
func primaryDead(tx *store.ReadTx, s *situation) (bool, error) {
	i := slices.IndexFunc(s.assignments, func(a fairlead.Assignment) bool { return a.Capacity == fairlead.CapacityPrimary })
	if i < 0 {
		return false, nil
	}
	primary := s.assignments[i].ID
	if slices.ContainsFunc(s.runs, func(r fairlead.Run) bool { return r.Assignment == primary }) {
		return false, nil
	}
	run, err := tx.LastRunOf(s.row.ID, primary)
	return err == nil && run != nil && run.Status == fairlead.RunDead, err
}

// state derives what people are shown.
func (s *situation) state() fairlead.State {
	f := policy.StateFacts{
		Terminal: s.row.Terminal, Archived: !s.row.ArchivedAt.IsZero(), Dead: s.dead, Waiting: s.noSignal,
		Asks:   slices.ContainsFunc(s.requests, asksPerson),
		Paused: s.row.Held == fairlead.HeldLoop || s.waitsForPaused(),
	}
	for i, run := range s.runs {
		switch {
		case run.Status.Live():
			f.Running = true
		case s.held != nil && s.held[i]:
			f.Waiting = true
		default:
			f.Queued = true
		}
	}
	for _, a := range s.assignments {
		f.Waiting = f.Waiting || a.State == fairlead.AssignmentParked
	}
	for _, b := range s.blockers {
		f.Waiting = f.Waiting || blocks(b, s.row.CancelledBlocker)
	}
	return policy.DeriveState(f)
}

// waitsForPaused reports whether every queued run of the task, or that of its primary, is one of a paused agent.
func (s *situation) waitsForPaused() bool {
	queued, paused := 0, 0
	for _, run := range s.runs {
		if run.Status != fairlead.RunQueued {
			continue
		}
		queued++
		if !s.facts.Agents[run.Agent].Paused {
			continue
		}
		paused++
		for _, a := range s.assignments {
			if a.ID == run.Assignment && a.Capacity == fairlead.CapacityPrimary {
				return true
			}
		}
	}
	return queued > 0 && queued == paused
}

// asksPerson reports whether a person is among those who may resolve the request.
func asksPerson(q fairlead.Request) bool {
	who := q.WhoMay
	if len(who) == 0 {
		who = q.AskedOf
	}
	return len(who) == 0 || slices.ContainsFunc(who, func(w string) bool {
		return strings.HasPrefix(w, string(fairlead.ActorPerson)+":")
	})
}

// blocks reports whether the other end of an edge still blocks; cancelled is the blocked task's rule.
func blocks(l store.Link, cancelled string) bool {
	switch l.Outcome() {
	case fairlead.TerminalNone:
		return true
	case fairlead.TerminalCancelled:
		return cancelled == fairlead.CancelledKeeps
	}
	return false
}
