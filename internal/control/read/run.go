package read

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// GetRun shows a run with its wakes and holds.
func (r *Reader) GetRun(ctx context.Context, ws, id string) (fairlead.RunView, error) {
	return ask(ctx, r, "show run", func(tx *store.ReadTx) (fairlead.RunView, error) {
		run, err := r.run(tx, ws, id)
		if err != nil {
			return fairlead.RunView{}, err
		}
		return r.RunView(tx, run)
	})
}

func (r *Reader) run(tx *store.ReadTx, ws, id string) (fairlead.Run, error) {
	run, err := tx.LoadRun(id)
	if fairlead.IsCode(err, fairlead.CodeNotFound) || err == nil && run.Workspace != ws {
		return run, fairlead.Errorf(fairlead.CodeNotFound, "no such run").WithHint("list the runs with: fairlead run list")
	}
	return run, err
}

// RunView shows a run as it stands in the caller's transaction.
func (r *Reader) RunView(tx *store.ReadTx, run fairlead.Run) (fairlead.RunView, error) {
	v := fairlead.RunView{
		ID: run.ID, Workspace: run.Workspace, Agent: run.Agent, Task: run.Task, Assignment: run.Assignment, Session: run.Session,
		Step: run.Step, Visit: run.Visit, Status: run.Status, Outcome: run.Outcome, Reason: run.Reason, Absorbed: run.Absorbed,
		Attempt: run.Attempt, Priority: run.Priority, Light: run.Light, Direct: run.Direct, DueAt: fairlead.StampOf(run.DueAt),
		RequestedAt: fairlead.StampOf(run.RequestedAt), ClaimedAt: fairlead.StampPtr(run.ClaimedAt),
		StartedAt: fairlead.StampPtr(run.StartedAt), FinishedAt: fairlead.StampPtr(run.FinishedAt),
		ErrorClass: run.ErrorClass, ErrorMessage: run.ErrorMessage, StopReason: run.StopReason, Fence: run.Fence.Number,
		Node: run.Node, MergedInto: run.MergedInto, Version: run.Version,
	}
	wakes, err := tx.ListWakes(run.ID)
	if err != nil {
		return v, err
	}
	for _, w := range wakes {
		v.Wakes = append(v.Wakes, fairlead.WakeView{
			Seq: w.Seq, Reason: w.Reason, Payload: w.Payload, Key: w.Key, By: w.By, At: fairlead.StampOf(w.At),
		})
	}
	v.Holds, err = r.holdsOf(tx, run)
	return v, err
}

// ListRuns lists runs, newest first. Of many wakes, and of long texts in them, an item shows the beginning; the run
// itself shows all.
func (r *Reader) ListRuns(ctx context.Context, ws string, q RunQuery) (fairlead.Page[fairlead.RunView], error) {
	return ask(ctx, r, "list runs", func(tx *store.ReadTx) (fairlead.Page[fairlead.RunView], error) {
		if err := r.checkRuns(tx, ws, &q); err != nil {
			return fairlead.Page[fairlead.RunView]{}, err
		}
		f := store.RunFilter{Workspace: ws, Task: q.Task, Agent: q.Agent, Status: q.Status, Step: q.Step}
		return listing[fairlead.Run, fairlead.RunView]{
			limit: q.Limit, cursor: q.Cursor, size: runSize,
			fetch: func(p store.Page) ([]fairlead.Run, string, error) { return tx.ListRuns(f, p) },
			show: func(run *fairlead.Run) (fairlead.RunView, bool, error) {
				v, err := r.RunView(tx, *run)
				lighten(&v)
				return v, err == nil, err
			},
		}.page()
	})
}

// checkRuns checks a query and resolves the task it may name by identifier.
func (r *Reader) checkRuns(tx *store.ReadTx, ws string, q *RunQuery) error {
	if err := CheckWorkspace(tx, ws); err != nil {
		return err
	}
	switch s := fairlead.RunStatus(q.Status); {
	case s == "", s == fairlead.RunQueued, s.Live():
	case s == fairlead.RunSucceeded, s == fairlead.RunParked, s == fairlead.RunCancelled, s == fairlead.RunSuperseded, s == fairlead.RunDead:
	default:
		return fairlead.Errorf(fairlead.CodeInvalid, "no such status of a run").
			WithHint("use queued, claimed, running, stopping, succeeded, parked, cancelled, superseded or dead")
	}
	if q.Task != "" {
		row, err := r.task(tx, ws, q.Task)
		if err != nil {
			return err
		}
		q.Task = row.ID
	}
	return nil
}

// listWakes is how many wakes an item of a list shows.
const listWakes = 50

// lighten cuts what would make a list heavy.
func lighten(v *fairlead.RunView) {
	v.Wakes = v.Wakes[:min(len(v.Wakes), listWakes)]
	for i := range v.Wakes {
		for k, value := range v.Wakes[i].Payload {
			if text, ok := value.(string); ok {
				v.Wakes[i].Payload[k] = head(text, listText)
			}
		}
	}
}

func runSize(v *fairlead.RunView) int {
	n := 900 + len(v.ErrorMessage) + 250*len(v.Holds)
	for _, w := range v.Wakes {
		n += 200 + weigh(w.Payload)
	}
	return n
}

// TaskRuns lists the runs of a task, newest first: its first page.
func (r *Reader) TaskRuns(ctx context.Context, ws, ref string) (fairlead.Page[fairlead.RunView], error) {
	return r.ListRuns(ctx, ws, RunQuery{Task: ref, Limit: MaxLimit})
}

// RunEvents lists a run's audit log behind a number, oldest first. NextCursor is the number of the last line if there
// may be more: the next page's after.
func (r *Reader) RunEvents(ctx context.Context, ws, id string, after int64) (fairlead.Page[fairlead.RunEventView], error) {
	return ask(ctx, r, "list run events", func(tx *store.ReadTx) (fairlead.Page[fairlead.RunEventView], error) {
		if _, err := r.run(tx, ws, id); err != nil {
			return fairlead.Page[fairlead.RunEventView]{}, err
		}
		events, err := tx.ListRunEvents(id, after, MaxLimit+1)
		return numbered(events, MaxLimit, func(e fairlead.RunEvent) (fairlead.RunEventView, int64, int) {
			v := fairlead.RunEventView{Run: e.Run, Seq: e.Seq, Kind: e.Kind, Data: e.Data, At: fairlead.StampOf(e.At)}
			return v, e.Seq, 150 + weigh(e.Data)
		}), err
	})
}
