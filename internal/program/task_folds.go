package program

import (
	"github.com/fairlead/fairlead"
)

// fields are the data of every record that changes a task's state.
type fields struct {
	Workflow  string            `json:"workflow"`
	Version   int               `json:"version"`
	To        string            `json:"to"`
	Terminal  fairlead.Terminal `json:"terminal"`
	Round     int               `json:"round"`
	Seat      string            `json:"seat"`
	Role      fairlead.Role     `json:"role"`
	Holder    string            `json:"holder"`
	Required  bool              `json:"decision_required"`
	Verdict   fairlead.Verdict  `json:"verdict"`
	Request   string            `json:"request"`
	Deferred  int64             `json:"deferred"`
	Held      string            `json:"held"`
	BlockedBy string            `json:"blocked_by"`
	Task      string            `json:"task"`
	Priority  fairlead.Priority `json:"priority"`
	Agent     *string           `json:"agent"`
	Labels    *[]string         `json:"labels"`
}

// folds says what each kind of record does to the state; a kind that is not here changes none of it.
var folds = map[string]func(s *TaskState, r fairlead.Record, d fields){
	fairlead.RecordCreated: func(s *TaskState, _ fairlead.Record, d fields) { s.Workflow, s.Priority = d.Workflow, d.Priority },
	fairlead.RecordMoved:   foldMoved,
	fairlead.RecordRepinned: func(s *TaskState, _ fairlead.Record, d fields) {
		s.Version, s.Terminal = d.Version, d.Terminal
	},
	fairlead.RecordRoundOpened: func(s *TaskState, _ fairlead.Record, d fields) {
		s.Round = d.Round
		clear(s.Decided)
	},
	fairlead.RecordSeatAdded: func(s *TaskState, _ fairlead.Record, d fields) {
		s.Seats[d.Seat] = SeatState{Role: d.Role, Holder: d.Holder, Required: d.Required}
	},
	fairlead.RecordSeatRemoved: func(s *TaskState, _ fairlead.Record, d fields) {
		delete(s.Seats, d.Seat)
		delete(s.Decided, d.Seat)
	},
	fairlead.RecordDecision: func(s *TaskState, _ fairlead.Record, d fields) {
		if d.Verdict != fairlead.VerdictComment {
			s.Decided[d.Seat] = d.Verdict
		}
	},
	fairlead.RecordRequestOpened:   func(s *TaskState, _ fairlead.Record, d fields) { s.Requests[d.Request] = true },
	fairlead.RecordRequestResolved: func(s *TaskState, _ fairlead.Record, d fields) { delete(s.Requests, d.Request) },
	fairlead.RecordDeferred:        func(s *TaskState, r fairlead.Record, _ fields) { s.Deferred[r.Seq] = true },
	fairlead.RecordSuperseded:      func(s *TaskState, _ fairlead.Record, d fields) { delete(s.Deferred, d.Deferred) },
	fairlead.RecordHeld:            func(s *TaskState, _ fairlead.Record, d fields) { s.Held = d.Held },
	fairlead.RecordReleased:        func(s *TaskState, _ fairlead.Record, _ fields) { s.Held = "" },
	fairlead.RecordArchived:        func(s *TaskState, _ fairlead.Record, _ fields) { s.Archived = true },
	fairlead.RecordCompleted:       func(s *TaskState, r fairlead.Record, _ fields) { s.SignalVisit = r.Visit },
	fairlead.RecordBlockerAdded:    func(s *TaskState, _ fairlead.Record, d fields) { s.Blockers[d.BlockedBy] = true },
	fairlead.RecordBlockerRemoved:  func(s *TaskState, _ fairlead.Record, d fields) { delete(s.Blockers, d.BlockedBy) },
	fairlead.RecordChildCreated:    func(s *TaskState, _ fairlead.Record, d fields) { s.Children[d.Task] = true },
	fairlead.RecordUpdated:         foldUpdated,
}

// foldMoved begins a visit: seats and verdicts belong to the one before.
func foldMoved(s *TaskState, r fairlead.Record, d fields) {
	s.Workflow, s.Version, s.Step, s.Terminal = d.Workflow, d.Version, d.To, d.Terminal
	s.Visit, s.Round = r.Visit, 1
	clear(s.Seats)
	clear(s.Decided)
}

func foldUpdated(s *TaskState, _ fairlead.Record, d fields) {
	if d.Priority != "" {
		s.Priority = d.Priority
	}
	if d.Agent != nil {
		s.Agent = *d.Agent
	}
	if d.Labels != nil {
		s.Labels = *d.Labels
	}
}
