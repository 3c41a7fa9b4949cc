package read

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/workflow"
)

// GetRoutine shows a routine with where its schedule stands.
func (r *Reader) GetRoutine(ctx context.Context, ws, key string) (fairlead.RoutineView, error) {
	return ask(ctx, r, "show routine", func(tx *store.ReadTx) (fairlead.RoutineView, error) {
		if err := CheckWorkspace(tx, ws); err != nil {
			return fairlead.RoutineView{}, err
		}
		v, err := Routine(tx, ws, key)
		if err != nil {
			return fairlead.RoutineView{}, err
		}
		return RoutineView(tx, v)
	})
}

// Routine finds a routine of a workspace.
func Routine(tx *store.ReadTx, ws, key string) (fairlead.Routine, error) {
	v, err := tx.LoadRoutine(ws, key)
	if fairlead.IsCode(err, fairlead.CodeNotFound) {
		return v, fairlead.Errorf(fairlead.CodeNotFound, "no such routine").WithHint("list the routines with: fairlead routine list")
	}
	return v, err
}

// ListRoutines lists the routines of a workspace by key.
func (r *Reader) ListRoutines(ctx context.Context, ws string) ([]fairlead.RoutineView, error) {
	return ask(ctx, r, "list routines", func(tx *store.ReadTx) ([]fairlead.RoutineView, error) {
		out := []fairlead.RoutineView{}
		if err := CheckWorkspace(tx, ws); err != nil {
			return out, err
		}
		all, err := tx.ListRoutines(ws)
		if err != nil {
			return out, err
		}
		for _, x := range all {
			v, err := RoutineView(tx, x)
			if err != nil {
				return out, err
			}
			out = append(out, v)
		}
		return out, nil
	})
}

// RoutineView shows a routine as it stands in the caller's transaction.
func RoutineView(tx *store.ReadTx, r fairlead.Routine) (fairlead.RoutineView, error) {
	v := fairlead.RoutineView{
		Routine: r, Webhook: r.Secret != "", Paused: r.Paused, PauseReason: r.PauseReason, LastAt: fairlead.StampPtr(r.LastAt), LastTask: r.LastTask, Version: r.Version, UpdatedAt: fairlead.StampOf(r.UpdatedAt),
	}
	if r.Waiting != nil {
		v.WaitingAt = &r.Waiting.At
	}
	s, _, scheduled, err := workflow.RoutineSchedule(&r)
	if err != nil {
		return v, err
	}
	if scheduled {
		v.Schedule = s.String()
	}
	timer, err := tx.FindTimer(fairlead.TimerRoutine, r.Workspace+"/"+r.Key)
	if err != nil {
		return v, err
	}
	if timer != nil {
		v.NextAt = fairlead.StampPtr(timer.DueAt)
	}
	open, err := tx.OpenRoutineTasks(r.Workspace, r.Key)
	v.Open = len(open)
	return v, err
}

// RoutineReceipts lists what became of a routine's fires, newest first.
func (r *Reader) RoutineReceipts(ctx context.Context, ws, key string, most int, cursor string) (fairlead.Page[fairlead.ReceiptView], error) {
	return ask(ctx, r, "list receipts", func(tx *store.ReadTx) (fairlead.Page[fairlead.ReceiptView], error) {
		page := fairlead.Page[fairlead.ReceiptView]{Items: []fairlead.ReceiptView{}}
		if err := CheckWorkspace(tx, ws); err != nil {
			return page, err
		}
		if _, err := Routine(tx, ws, key); err != nil {
			return page, err
		}
		all, next, err := tx.ListReceipts(ws, fairlead.ScheduleRoutine, key, store.Page{Limit: limit(most), Cursor: cursor})
		page.NextCursor = next
		for _, x := range all {
			page.Items = append(page.Items, receiptView(x))
		}
		return page, err
	})
}

func receiptView(x fairlead.Receipt) fairlead.ReceiptView {
	return fairlead.ReceiptView{
		ID: x.ID, At: fairlead.StampOf(x.At), Until: fairlead.StampOf(x.Until), Count: x.Count, Outcome: x.Outcome, Reason: x.Reason,
		Cause: x.Cause, Step: x.Step, Task: x.Task, MadeAt: fairlead.StampOf(x.MadeAt),
	}
}
