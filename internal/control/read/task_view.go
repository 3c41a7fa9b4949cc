package read

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// taskView shows a task with its surroundings.
func (r *Reader) taskView(tx *store.ReadTx, s *situation) (fairlead.TaskView, error) {
	t := s.row
	v := fairlead.TaskView{
		ID: t.ID, Identifier: t.Identifier, Workspace: t.Workspace, Workflow: t.Workflow, WorkflowVersion: t.WorkflowVersion,
		Step: t.Step, StepName: t.Step, Visit: t.Visit, Round: t.Round, State: s.state(), Title: t.Title, Description: t.Description,
		Requirements: t.Requirements, Priority: t.Priority, Position: t.Position, Labels: t.Labels, Parent: t.Parent,
		Origin: t.Origin, Creator: t.Creator, Agent: t.Agent, Repository: t.Repository, Metadata: t.Metadata,
		CancelledBlocker: t.CancelledBlocker, Holds: s.holds, Ephemeral: t.Ephemeral, Archived: !t.ArchivedAt.IsZero(),
		MovedAt: fairlead.StampOf(t.MovedAt), CreatedAt: fairlead.StampOf(t.CreatedAt), UpdatedAt: fairlead.StampOf(t.UpdatedAt),
		Version: t.Version,
	}
	if t.Worktree != (fairlead.Worktree{}) {
		tree := t.Worktree
		v.Worktree = &tree
	}
	for _, q := range s.requests {
		v.OpenRequests = append(v.OpenRequests, q.ID)
	}
	for _, b := range s.blockers {
		v.Blockers = append(v.Blockers, fairlead.BlockerView{
			Task: b.Task, Identifier: b.Identifier, Title: b.Title, Open: blocks(b, t.CancelledBlocker),
		})
	}
	for _, add := range []func(*store.ReadTx, *store.TaskRow, *fairlead.TaskView) error{r.addStep, addChildren, addCheckout, addSeats} {
		if err := add(tx, t, &v); err != nil {
			return fairlead.TaskView{}, err
		}
	}
	return v, nil
}

func (r *Reader) addStep(tx *store.ReadTx, t *store.TaskRow, v *fairlead.TaskView) error {
	d, err := r.catalog.Definition(tx, t.Workspace, t.Workflow, t.WorkflowVersion)
	if err != nil {
		return err
	}
	if s := d.Step(t.Step); s != nil && s.Name != "" {
		v.StepName = s.Name
	}
	return nil
}

func addChildren(tx *store.ReadTx, t *store.TaskRow, v *fairlead.TaskView) error {
	children, err := tx.ListChildren(t.ID)
	for _, c := range children {
		v.Children.Total++
		switch c.Outcome() {
		case fairlead.TerminalDone:
			v.Children.Done++
		case fairlead.TerminalCancelled:
			v.Children.Cancelled++
		case fairlead.TerminalNone:
			v.Children.Open++
		}
	}
	return err
}

func addCheckout(tx *store.ReadTx, t *store.TaskRow, v *fairlead.TaskView) error {
	c, err := tx.CheckoutOf(t.ID)
	if err == nil && c != nil {
		v.Checkout = &fairlead.CheckoutView{Agent: c.Agent, Run: c.Run, Since: fairlead.StampOf(c.Since)}
	}
	return err
}

func addSeats(tx *store.ReadTx, t *store.TaskRow, v *fairlead.TaskView) error {
	if t.Visit == 0 {
		return nil
	}
	seats, err := tx.ListSeats(t.ID, t.Visit)
	if err != nil || len(seats) == 0 {
		return err
	}
	decisions, err := tx.ListDecisions(t.ID, t.Visit, t.Round)
	if err != nil {
		return err
	}
	v.Seats = Seats(seats, decisions)
	return nil
}

// Seats shows the seats that were not removed, each with its effective verdict of the round whose decisions are given,
// oldest first: the latest approved or rejected one, else its comment.
func Seats(seats []fairlead.Seat, decisions []fairlead.Decision) []fairlead.SeatView {
	var out []fairlead.SeatView
	for _, s := range seats {
		if !s.RemovedAt.IsZero() {
			continue
		}
		v := fairlead.SeatView{
			ID: s.ID, Role: s.Role, Agent: s.Agent, Person: s.Person, DecisionRequired: s.DecisionRequired,
		}
		for _, d := range decisions {
			if d.Seat == s.ID && (d.Verdict != fairlead.VerdictComment || v.Verdict == "" || v.Verdict == fairlead.VerdictComment) {
				v.Verdict, v.Note = d.Verdict, d.Note
			}
		}
		out = append(out, v)
	}
	return out
}
