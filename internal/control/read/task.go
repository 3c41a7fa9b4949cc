package read

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// listText is how much of a long text an item of a list shows.
const listText = 1000

// GetTask shows a task by id or identifier.
func (r *Reader) GetTask(ctx context.Context, ws, ref string) (fairlead.TaskView, error) {
	return ask(ctx, r, "show task", func(tx *store.ReadTx) (fairlead.TaskView, error) {
		row, err := r.task(tx, ws, ref)
		if err != nil {
			return fairlead.TaskView{}, err
		}
		return r.TaskView(tx, row)
	})
}

// TaskView shows a task as it stands in the caller's transaction.
func (r *Reader) TaskView(tx *store.ReadTx, row *store.TaskRow) (fairlead.TaskView, error) {
	if err := tx.Shelve(*row); err != nil {
		return fairlead.TaskView{}, err
	}
	s, _, err := r.situation(tx, row, "")
	if err != nil {
		return fairlead.TaskView{}, err
	}
	return r.taskView(tx, s)
}

// ListTasks lists the tasks of one step of a workflow by position, any others newest first. A long description is cut;
// the task itself shows all of it. With a State, which no database can compare, a page may be short and still have a
// next one.
func (r *Reader) ListTasks(ctx context.Context, ws string, q TaskQuery) (fairlead.Page[fairlead.TaskView], error) {
	return ask(ctx, r, "list tasks", func(tx *store.ReadTx) (fairlead.Page[fairlead.TaskView], error) {
		if err := r.checkTasks(tx, ws, &q); err != nil {
			return fairlead.Page[fairlead.TaskView]{}, err
		}
		f := store.TaskFilter{
			Workspace: ws, Workflow: q.Workflow, Step: q.Step, Label: q.Label, Query: q.Q, Parent: q.Parent,
			Archived: q.Archived, Ephemeral: q.Ephemeral, Open: openState(fairlead.State(q.State)),
		}
		return listing[store.TaskRow, fairlead.TaskView]{
			limit: q.Limit, cursor: q.Cursor, size: taskSize,
			fetch: func(p store.Page) ([]store.TaskRow, string, error) {
				rows, next, err := tx.ListTasks(f, p)
				if err == nil {
					err = tx.Shelve(rows...)
				}
				return rows, next, err
			},
			show: func(row *store.TaskRow) (v fairlead.TaskView, ok bool, err error) {
				s, ok, err := r.situation(tx, row, fairlead.State(q.State))
				if err != nil || !ok {
					return v, false, err
				}
				v, err = r.taskView(tx, s)
				v.Description = head(v.Description, listText)
				return v, err == nil, err
			},
		}.page()
	})
}

// checkTasks checks a query and resolves the parent it may name by identifier.
func (r *Reader) checkTasks(tx *store.ReadTx, ws string, q *TaskQuery) error {
	if err := CheckWorkspace(tx, ws); err != nil {
		return err
	}
	if q.State != "" && !knownState(fairlead.State(q.State)) {
		return fairlead.Errorf(fairlead.CodeInvalid, "no such state").
			WithHint("use todo, queued, running, needs_you, waiting, failed, paused, done or cancelled")
	}
	if q.Parent != "" {
		row, err := r.task(tx, ws, q.Parent)
		if err != nil {
			return err
		}
		q.Parent = row.ID
	}
	return nil
}

func knownState(s fairlead.State) bool {
	switch s {
	case fairlead.StateDone, fairlead.StateCancelled, fairlead.StateNeedsYou, fairlead.StateRunning, fairlead.StateFailed,
		fairlead.StatePaused, fairlead.StateQueued, fairlead.StateWaiting, fairlead.StateTodo:
		return true
	}
	return false
}

// openState reports whether only a task that has not ended can be in the state: then the database leaves the others out.
func openState(s fairlead.State) bool {
	return s != "" && s != fairlead.StateDone && s != fairlead.StateCancelled
}

func taskSize(v *fairlead.TaskView) int {
	n := 700 + len(v.Description) + len(v.Title) + 300*(len(v.Blockers)+len(v.Seats)+len(v.Holds)) + 40*len(v.OpenRequests)
	for _, q := range v.Requirements {
		n += len(q)
	}
	for k, m := range v.Metadata {
		n += len(k) + weigh(m)
	}
	return n
}

// weigh is about how many bytes a JSON value has.
func weigh(v any) int {
	n := 8
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, e := range v {
			n += weigh(e)
		}
	case map[string]any:
		for k, e := range v {
			n += len(k) + weigh(e)
		}
	}
	return n
}
