package control

import (
	"context"

	"github.com/fairlead/fairlead"
)

// StepComplete records that the primary's work at this step is complete. The step advances when the turn ends, however
// it ends. Only the agent's own run may say so, and not while a question of it is open.
func (c *Control) StepComplete(ctx context.Context, m Meta, summary string) (fairlead.Outcome, error) {
	task, err := c.taskOf(ctx, m.Actor.Assignment)
	if err != nil {
		return fairlead.Outcome{}, c.refused(ctx, m, command{name: "complete step", run: m.Actor.Run}, err)
	}
	cmd := command{name: "complete step", task: task, run: m.Actor.Run, body: summary}
	return do(ctx, c, m, cmd, func(w *work) (fairlead.Outcome, error) {
		if err := w.fenced(); err != nil {
			return fairlead.Outcome{}, err
		}
		_, a, err := w.own()
		if err != nil {
			return fairlead.Outcome{}, err
		}
		if err := w.mayComplete(a); err != nil {
			return fairlead.Outcome{}, err
		}
		a.Signalled = true
		if err := w.tx.SaveAssignment(&a); err != nil {
			return fairlead.Outcome{}, err
		}
		w.task.row.SignalVisit = w.task.row.Visit
		w.record(fairlead.Record{Kind: fairlead.RecordCompleted, Assignment: a.ID, Run: w.meta.Actor.Run}, map[string]any{"summary": summary})
		w.changed()
		if err := w.flush(); err != nil {
			return fairlead.Outcome{}, err
		}
		return fairlead.Outcome{
			Task: taskRef(&w.task.row.Task), Visit: w.task.row.Visit, Step: w.task.row.Step,
			Effects: []fairlead.EffectView{}, Explanation: []fairlead.ExplanationView{},
		}, nil
	})
}

func (w *work) mayComplete(a fairlead.Assignment) error {
	switch {
	case a.Visit != w.task.row.Visit || a.State == fairlead.AssignmentEnded:
		return fairlead.Conflict(fairlead.ReasonVisitEnded, "visit %d is over", a.Visit).WithHint("end the turn: the task has moved on")
	case a.Capacity == fairlead.CapacityGuest:
		return fairlead.Errorf(fairlead.CodeRefused, "a guest does not complete a step").WithHint("say what you found in a comment and end the turn")
	case a.Capacity != fairlead.CapacityPrimary:
		return fairlead.Errorf(fairlead.CodeRefused, "a seat does not complete a step").WithHint("give your verdict with record_decision_fairlead")
	case a.Program != "plain":
		return fairlead.Errorf(fairlead.CodeRefused, "this step is completed by its program").WithHint("finish the work; the program ends the step")
	}
	if open, err := w.hasOpenQuestion(a.ID); err != nil || open {
		return openQuestion(err)
	}
	return nil
}

// taskOf finds the task of an assignment; both never change.
func (c *Control) taskOf(ctx context.Context, assignment string) (task string, err error) {
	err = c.db.Read(ctx, func(tx *storeReadTx) error {
		a, err := tx.LoadAssignment(assignment)
		task = a.Task
		return err
	})
	return task, err
}
