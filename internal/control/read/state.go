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

// situation loads the rows a task's state depends on. For an ended task those that speak of work are left out. With
// want set, loading stops as soon as the state is known to be another one: ok false.
func (r *Reader) situation(tx *store.ReadTx, row *store.TaskRow, want fairlead.State) (s *situation, ok bool, err error) {
	s = &situation{row: row}
	if s.facts, err = r.catalog.Facts(tx, row.Workspace); err != nil {
		return nil, false, err
	}
	loads := []func(*store.ReadTx, *situation) error{loadRequests, loadRuns, loadAssignments, primaryDead, loadBlockers, r.addHolds, loadSignal}
	if row.Ended() {
		loads = []func(*store.ReadTx, *situation) error{loadRequests, loadRuns, loadBlockers}
	}
	for _, load := range loads {
		if err := load(tx, s); err != nil {
			return nil, false, err
		}
		if want != "" && s.decided(want) {
			return s, false, nil
		}
	}
	return s, want == "" || s.state() == want, nil
}

// decided reports whether what is loaded so far rules the wanted state out: what comes first in the order of the states
// is loaded first.
func (s *situation) decided(want fairlead.State) bool {
	switch have := s.state(); have {
	case fairlead.StateDone, fairlead.StateCancelled, fairlead.StateNeedsYou, fairlead.StateRunning:
		return have != want
	case want:
		return false
	}
	return want == fairlead.StateNeedsYou || want == fairlead.StateDone || want == fairlead.StateCancelled ||
		want == fairlead.StateRunning && s.runs != nil
}

func loadRequests(tx *store.ReadTx, s *situation) (err error) {
	s.requests, err = tx.OpenRequests(s.row.ID)
	return err
}

func loadRuns(tx *store.ReadTx, s *situation) (err error) {
	s.runs, err = tx.ActiveRuns(s.row.ID)
	if s.runs == nil {
		s.runs = []fairlead.Run{}
	}
	return err
}

func loadBlockers(tx *store.ReadTx, s *situation) (err error) {
	s.blockers, err = tx.ListBlockers(s.row.ID)
	return err
}

func loadAssignments(tx *store.ReadTx, s *situation) (err error) {
	if s.row.Visit > 0 {
		s.assignments, err = tx.ListAssignments(s.row.ID, s.row.Visit)
	}
	return err
}

func loadSignal(tx *store.ReadTx, s *situation) (err error) {
	if len(s.assignments) > 0 {
		s.noSignal, err = tx.HasNotice(s.row.ID, s.row.Visit, NoticeNoSignal)
	}
	return err
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
	h.Until = fairlead.StampPtr(run.DueAt)
	return []fairlead.Hold{h}, nil
}

// primaryDead notes whether the primary's newest run of this visit is dead and no wake came later.
func primaryDead(tx *store.ReadTx, s *situation) error {
	i := slices.IndexFunc(s.assignments, func(a fairlead.Assignment) bool { return a.Capacity == fairlead.CapacityPrimary })
	if i < 0 {
		return nil
	}
	primary := s.assignments[i].ID
	if slices.ContainsFunc(s.runs, func(r fairlead.Run) bool { return r.Assignment == primary }) {
		return nil
	}
	run, err := tx.LastRunOf(s.row.ID, primary)
	if err == nil && run != nil && run.MergedInto != "" {
		// It was absorbed by an older run of the same assignment, which is the one that speaks.
		var into fairlead.Run
		into, err = tx.LoadRun(run.MergedInto)
		run = &into
	}
	s.dead = err == nil && run != nil && run.Status == fairlead.RunDead
	return err
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
