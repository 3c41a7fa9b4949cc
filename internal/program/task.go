package program

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead/fairlead"
)

// TaskState is what the records of a task say about its place and everything that is open at it.
type TaskState struct {
	Seq         int64 // of the last record folded in
	Workflow    string
	Version     int // of the workflow, pinned by the visit
	Step        string
	Visit       int
	Round       int
	Terminal    fairlead.Terminal
	Archived    bool
	Held        string
	SignalVisit int
	Priority    fairlead.Priority
	Agent       string
	Labels      []string

	Seats    map[string]SeatState        // of the current visit, by seat id; removed ones are gone
	Requests map[string]bool             // open ones, by id
	Deferred map[int64]bool              // put-aside triggers, by number
	Blockers map[string]bool             // ids of tasks it has an edge to
	Children map[string]bool             // ids of children it made
	Decided  map[string]fairlead.Verdict // by seat, in the current round: approved or rejected only
}

// SeatState is a seat as the journal knows it.
type SeatState struct {
	Role     fairlead.Role
	Holder   string
	Required bool
}

// Fold takes one more record into the state. The records of a task must come in order without a gap. The state passed
// in is not changed.
func Fold(s TaskState, r fairlead.Record) (TaskState, error) {
	if r.Seq != s.Seq+1 {
		return s, fmt.Errorf("fold record %d after %d: the journal has a gap", r.Seq, s.Seq)
	}
	s = s.clone()
	s.Seq = r.Seq
	apply, known := folds[r.Kind]
	if !known {
		return s, nil
	}
	var d fields
	if err := json.Unmarshal(r.Data, &d); err != nil {
		return s, fmt.Errorf("fold record %d (%s): %w", r.Seq, r.Kind, err)
	}
	apply(&s, r, d)
	return s, nil
}

// FoldAll folds a whole journal.
func FoldAll(records []fairlead.Record) (s TaskState, err error) {
	for _, r := range records {
		if s, err = Fold(s, r); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s TaskState) clone() TaskState {
	s.Labels = slices.Clone(s.Labels)
	s.Seats, s.Requests, s.Deferred = copied(s.Seats), copied(s.Requests), copied(s.Deferred)
	s.Blockers, s.Children, s.Decided = copied(s.Blockers), copied(s.Children), copied(s.Decided)
	return s
}

func copied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return make(map[K]V)
	}
	return maps.Clone(m)
}
