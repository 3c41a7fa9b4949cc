package e2e

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/program"
)

// place is what a journal and a task's view must agree on.
type place struct {
	Workflow, Step, Agent  string
	Version, Visit, Round  int
	Archived               bool
	Priority               fairlead.Priority
	Labels, Open, Blockers []string
	Children               int
	Seats                  map[string]program.SeatState
	Decided                map[string]fairlead.Verdict
}

// replays folds the task's journal and compares it with the task as the server shows it. The task must be at rest.
func (s *server) replays(t *testing.T, task string) program.TaskState {
	t.Helper()
	var records []fairlead.Record
	for _, r := range s.journal(task) {
		records = append(records, fairlead.Record{Seq: r.Seq, Kind: r.Kind, Visit: r.Visit, Run: r.Run, Actor: r.Actor, Data: r.Data})
	}
	f, err := program.FoldAll(records)
	if err != nil {
		t.Fatalf("fold journal of %s: %v", task, err)
	}
	v := s.show(task)
	got := place{
		Workflow: f.Workflow, Step: f.Step, Agent: f.Agent, Version: f.Version, Visit: f.Visit, Round: f.Round, Archived: f.Archived,
		Priority: f.Priority, Labels: sorted(f.Labels), Open: keys(f.Requests), Blockers: keys(f.Blockers), Children: len(f.Children),
		Seats: f.Seats, Decided: f.Decided,
	}
	want := place{
		Workflow: v.Workflow, Step: v.Step, Agent: v.Agent, Version: v.WorkflowVersion, Visit: v.Visit, Round: v.Round, Archived: v.Archived,
		Priority: v.Priority, Labels: sorted(v.Labels), Open: sorted(v.OpenRequests), Children: v.Children.Total,
		Seats: map[string]program.SeatState{}, Decided: map[string]fairlead.Verdict{},
	}
	for _, b := range v.Blockers {
		want.Blockers = append(want.Blockers, b.Task)
	}
	want.Blockers = sorted(want.Blockers)
	for _, x := range v.Seats {
		holder := "person:" + x.Person
		if x.Agent != "" {
			holder = "agent:" + x.Agent
		}
		want.Seats[x.ID] = program.SeatState{Role: x.Role, Holder: holder, Required: x.DecisionRequired}
		if x.Verdict == fairlead.VerdictApproved || x.Verdict == fairlead.VerdictRejected {
			want.Decided[x.ID] = x.Verdict
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the journal of %s tells another state than the task (-task +journal):\n%s", task, diff)
	}
	return f
}

func sorted(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(list))
}

func keys[V any](m map[string]V) []string { return sorted(slices.Collect(maps.Keys(m))) }
