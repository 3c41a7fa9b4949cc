package control

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/catalog"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/workflow"
)

// facts are the workspace beside the task, as this transaction sees it.
func (w *work) facts() (*catalog.Facts, error) { return w.c.catalog.Facts(w.tx, w.meta.Workspace) }

// snapshot loads everything the engine may read of one task. The order of every slice is the statements' order.
func (c *Control) snapshot(tx *store.ReadTx, row *store.TaskRow) (engine.Snapshot, error) {
	around, err := tx.Around(row.Workspace, row.ID, row.Visit)
	if err != nil {
		return engine.Snapshot{}, fmt.Errorf("load task: %w", err)
	}
	if row.Visit > 0 {
		tx.Ahead(store.NeedVisit(row.ID, row.Visit), store.NeedAssignments(row.ID, row.Visit), store.NeedActiveRuns(row.ID))
		if row.Visit > row.PersonVisit {
			tx.Ahead(store.NeedVisitCounts(row.ID, row.PersonVisit))
		}
	}
	f, err := c.catalog.Facts(tx, row.Workspace)
	if err != nil {
		return engine.Snapshot{}, err
	}
	s := engine.Snapshot{
		Task: row.Task, Entered: row.Entered,
		Agents: f.Agents, People: f.People, Duties: f.Duties, Workflows: f.Workflows,
	}
	for _, load := range []func(*store.ReadTx, *engine.Snapshot, store.Around) error{
		c.loadWorkflow, loadVisit, loadSeats, loadEdges, loadOpen,
	} {
		if err := load(tx, &s, around); err != nil {
			return s, fmt.Errorf("load task: %w", err)
		}
	}
	return s, nil
}

func (c *Control) loadWorkflow(tx *store.ReadTx, s *engine.Snapshot, _ store.Around) (err error) {
	t := &s.Task
	if s.Newest, err = c.catalog.Definition(tx, t.Workspace, t.Workflow, 0); err != nil {
		return err
	}
	if s.Pinned = s.Newest; t.WorkflowVersion != s.Newest.Version && t.Visit > 0 {
		s.Pinned, err = c.catalog.Definition(tx, t.Workspace, t.Workflow, t.WorkflowVersion)
	}
	return err
}

func loadVisit(tx *store.ReadTx, s *engine.Snapshot, _ store.Around) (err error) {
	t := &s.Task
	if t.Visit == 0 {
		return nil
	}
	if s.Visit, err = tx.LoadVisit(t.ID, t.Visit); err != nil {
		return err
	}
	if t.Visit > t.PersonVisit {
		if s.Entries, err = tx.VisitCounts(t.ID, t.PersonVisit); err != nil {
			return err
		}
	}
	s.Assignments, err = tx.ListAssignments(t.ID, t.Visit)
	return err
}

// loadSeats loads who takes part. Who worked the task matters only where somebody may vote.
func loadSeats(tx *store.ReadTx, s *engine.Snapshot, around store.Around) (err error) {
	t := &s.Task
	if around.Participants {
		if s.Participants, err = tx.ListParticipants(t.ID); err != nil {
			return err
		}
	}
	if around.Seats {
		if s.Seats, err = tx.ListSeats(t.ID, t.Visit); err != nil {
			return err
		}
	}
	if len(s.Seats) > 0 {
		if s.Decisions, err = tx.ListDecisions(t.ID, t.Visit, t.Round); err != nil {
			return err
		}
	}
	if len(s.Participants)+len(s.Seats) == 0 && !seats(s.Newest) && !seats(s.Pinned) {
		return nil
	}
	return loadWorked(tx, s)
}

// loadWorked loads which agents made the task or worked it: they may not judge it.
func loadWorked(tx *store.ReadTx, s *engine.Snapshot) (err error) {
	if s.Worked, err = tx.WorkedAs(s.Task.ID); err != nil {
		return err
	}
	if s.Task.Creator.Kind == fairlead.ActorAgent {
		s.Worked = append(s.Worked, s.Task.Creator.Key)
	}
	return nil
}

// seats reports whether a step of the workflow seats anybody.
func seats(d *workflow.Definition) bool {
	return slices.ContainsFunc(d.Steps, func(step *workflow.Step) bool { return len(step.Participants) > 0 })
}

func loadEdges(tx *store.ReadTx, s *engine.Snapshot, around store.Around) error {
	t := &s.Task
	var blockers, children []store.Link
	var err error
	if around.Blockers {
		if blockers, err = tx.ListBlockers(t.ID); err != nil {
			return err
		}
	}
	if around.Children {
		if children, err = tx.ListChildren(t.ID); err != nil {
			return err
		}
	}
	told := map[store.Told]bool{}
	if len(blockers)+len(children) > 0 {
		rows, err := tx.ListTold(t.ID)
		if err != nil {
			return err
		}
		for _, r := range rows {
			told[r] = true
		}
	}
	for _, l := range blockers {
		k := linked(l, t.CancelledBlocker)
		k.Told = told[store.Told{Kind: toldBlocker, Other: l.Task, Visit: l.Visit}]
		s.Blockers = append(s.Blockers, k)
	}
	for _, l := range children {
		k := linked(l, fairlead.CancelledResolves)
		k.Told = told[store.Told{Kind: toldChild, Other: l.Task, Visit: l.Visit}]
		s.Children = append(s.Children, k)
	}
	return nil
}

// What a task is told of others; the words are those of engine.Tell.
const (
	toldBlocker = "blocker"
	toldChild   = "child"
)

// linked says how another task's place counts for this one: cancelled is the rule for one that ended cancelled.
func linked(l store.Link, cancelled string) engine.Linked {
	k := engine.Linked{Task: l.Task, Outcome: l.Terminal}
	if l.Outcome() == fairlead.TerminalNone {
		k.Open = true
		return k
	}
	k.Outcome, k.Visit = l.Outcome(), l.Visit
	k.Open = k.Outcome == fairlead.TerminalCancelled && cancelled == fairlead.CancelledKeeps
	return k
}

func loadOpen(tx *store.ReadTx, s *engine.Snapshot, around store.Around) (err error) {
	t := &s.Task
	if around.Requests {
		if s.Open, err = tx.OpenRequests(t.ID); err != nil {
			return err
		}
	}
	if around.Approval {
		if s.Approval, err = tx.NewestApproval(t.ID, t.Visit); err != nil {
			return err
		}
	}
	if around.Deferred {
		if err := loadDeferred(tx, s); err != nil {
			return err
		}
	}
	runs, err := tx.ActiveRuns(t.ID)
	if err != nil {
		return err
	}
	for _, r := range runs {
		s.Runs = append(s.Runs, engine.RunRef{ID: r.ID, Assignment: r.Assignment, Visit: r.Visit, Status: r.Status})
	}
	return nil
}

func loadDeferred(tx *store.ReadTx, s *engine.Snapshot) error {
	rows, err := tx.ListDeferred(s.Task.ID, s.Task.Visit)
	if err != nil {
		return err
	}
	for _, r := range rows {
		d := engine.Deferred{Seq: r.Seq}
		if err := unmarshal(r.Trigger, &d.Trigger); err != nil {
			return err
		}
		s.Deferred = append(s.Deferred, d)
	}
	return nil
}
