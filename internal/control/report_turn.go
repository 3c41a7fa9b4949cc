package control

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/workflow"
)

// turn is one turn, or one attempt that came to none, at its end.
type turn struct {
	run      *fairlead.Run
	end      TurnEnd
	treeDead bool
	a        fairlead.Assignment
	session  fairlead.Session
	started  bool
	kept     bool // its visit has ended; it was only allowed to finish
	asked    bool // a question of this turn is open or its answer was not delivered
	open     bool // a question is open
	status   fairlead.RunStatus
	outcome  string
}

// turnEnded decides what becomes of a run whose turn is over.
func (w *work) turnEnded(r *fairlead.Run, end TurnEnd, treeDead bool) error {
	t := &turn{run: r, end: end, treeDead: treeDead, started: r.Status == fairlead.RunRunning, kept: r.StopStatus != ""}
	var err error
	if t.a, err = w.tx.LoadAssignment(r.Assignment); err != nil {
		return err
	}
	if t.session, err = w.tx.LoadSession(r.Session); err != nil {
		return err
	}
	if t.open, err = w.hasOpenQuestion(t.a.ID); err != nil {
		return err
	}
	t.asked = t.open || t.a.ParkRequested
	if err := w.runEvent(r, fairlead.RunEventTurnEnded, map[string]any{"stop_reason": end.StopReason}); err != nil {
		return err
	}
	switch {
	case t.kept:
		return w.keptEnded(t)
	case t.asked:
		return w.parked(t)
	case end.Interrupted:
		return w.interrupted(t)
	}
	return w.judged(t)
}

// keptEnded ends a run that was allowed to finish its turn after its own report had moved the task.
func (w *work) keptEnded(t *turn) error {
	t.status, t.outcome = fairlead.RunSucceeded, fairlead.OutcomeCompleted
	if t.end.Failure != nil {
		t.status, t.outcome = fairlead.RunSuperseded, ""
		t.fail()
	}
	return w.closeTurn(t, t.end.Failure == nil)
}

// fail notes the failure on the run.
func (t *turn) fail() {
	t.run.ErrorClass, t.run.ErrorMessage = t.end.Failure.Class, t.end.Failure.Message
}

// parked ends a turn in which a person was asked, whatever else became of it: the assignment waits. An answer that came
// first wakes it at once.
func (w *work) parked(t *turn) error {
	t.status = fairlead.RunParked
	if t.end.Failure != nil {
		if err := w.runEvent(t.run, fairlead.RunEventAttemptFailed, failureData(t.end.Failure)); err != nil {
			return err
		}
		if err := w.refusedToo(t); err != nil {
			return err
		}
	}
	t.a.ParkRequested, t.a.Interruptions, t.a.Signalled = false, 0, false
	t.a.State = fairlead.AssignmentOpen
	if t.open {
		t.a.State = fairlead.AssignmentParked
	}
	if t.a.OwnMove != nil && t.a.OwnMove.Run == t.run.ID {
		t.a.OwnMove = nil
	}
	if t.a.Capacity == fairlead.CapacityPrimary && w.task.row.SignalVisit == t.a.Visit {
		w.task.row.SignalVisit, w.task.dirty = 0, true
	}
	if err := w.tx.SaveAssignment(&t.a); err != nil {
		return err
	}
	if err := w.closeTurn(t, true); err != nil {
		return err
	}
	if err := w.turnComplete(t, false, nil); err != nil || t.open {
		return err
	}
	return w.wakeAnswered(t)
}

// wakeAnswered wakes the asker of a question that was answered before its turn had ended, unless the answer did.
func (w *work) wakeAnswered(t *turn) error {
	queued, err := w.tx.QueuedFor(t.a.ID)
	if err != nil || queued != nil {
		return err
	}
	a, err := w.tx.LoadAssignment(t.a.ID)
	if err != nil || a.State == fairlead.AssignmentEnded {
		return err
	}
	wake := engine.Wake{Assignment: a.ID, Agent: a.Agent, Reason: reasonAnswer, Payload: map[string]any{}, By: fairlead.Engine()}
	all, err := w.tx.RequestsOf(a.Task)
	if err != nil {
		return err
	}
	for _, q := range all {
		if q.Assignment == a.ID && q.Run == t.run.ID {
			wake.Payload["request"], wake.Payload["outcome"] = q.ID, string(q.State)
			if q.ResolvedBy != nil {
				wake.By = *q.ResolvedBy
			}
		}
	}
	return w.wake(a, wake)
}

// interrupted hands a run back. Three times in a row are a failure.
func (w *work) interrupted(t *turn) error {
	if !t.treeDead {
		return fairlead.Errorf(fairlead.CodeInvalid, "an interrupted run goes back only when its tree is dead").
			WithHint("end the tree, then report the interruption")
	}
	if t.end.Counted {
		t.a.Interruptions++
	}
	if f, failed := policy.Interrupted(t.a.Interruptions); failed {
		t.end.Failure = &f
		return w.judged(t)
	}
	if err := w.tx.SaveAssignment(&t.a); err != nil {
		return err
	}
	return w.requeue(t.run, map[string]any{"stop_reason": t.end.StopReason, "node": t.run.Node})
}

// judged ends a turn by its own merits: completed, yielded or failed.
func (w *work) judged(t *turn) error {
	if t.end.Failure == nil && (t.end.StopReason == "cancelled" || t.end.StopReason == "unasked") {
		t.end.Failure = &fairlead.Failure{Class: fairlead.ClassTransient, Message: "the turn was cancelled, but nobody had stopped it"}
	}
	completed, err := w.completed(t)
	if err != nil {
		return err
	}
	if !completed {
		stopped, err := w.stoppedByBudget(t.run)
		if err != nil {
			return err
		}
		if stopped {
			return w.parkedByBudget(t)
		}
	}
	if t.end.Failure == nil && !completed && t.a.Seat != "" {
		if err := w.missingVerdict(t); err != nil {
			return err
		}
	}
	t.a.Interruptions = 0
	if t.end.Failure != nil && !completed {
		t.a.ParkRequested = false
		if err := w.tx.SaveAssignment(&t.a); err != nil {
			return err
		}
		return w.failed(t)
	}
	t.status, t.outcome = fairlead.RunSucceeded, fairlead.OutcomeYielded
	switch {
	case t.end.Outcome == fairlead.OutcomeNothingToDo:
		t.outcome = fairlead.OutcomeNothingToDo
	case completed:
		t.outcome, t.a.State = fairlead.OutcomeCompleted, fairlead.AssignmentDone
	}
	if t.end.Failure != nil {
		t.fail() // a completion that was recorded counts even if the turn then fails
		if err := w.refusedToo(t); err != nil {
			return err
		}
	}
	if err := w.tx.SaveAssignment(&t.a); err != nil {
		return err
	}
	if err := w.closeTurn(t, true); err != nil {
		return err
	}
	if !completed && t.a.Capacity == fairlead.CapacityPrimary {
		if err := w.noSignal(t); err != nil {
			return err
		}
	}
	return w.turnComplete(t, completed, w.ownMove(t))
}

// completed reports whether the assignment is done. For a plain primary that is the end of a good turn or the recorded
// signal, as the step says; for a seat its verdict; for a guest the end of a good turn.
func (w *work) completed(t *turn) (bool, error) {
	good := t.end.Failure == nil && t.started
	if t.a.Seat != "" {
		given, required, err := w.verdictOf(t)
		return given || good && !required, err
	}
	if t.a.Capacity != fairlead.CapacityPrimary {
		return good, nil
	}
	step, err := w.pinnedStep(t.a.Step)
	if err != nil {
		return false, err
	}
	if step == nil || step.Complete != workflow.CompleteSignal {
		return good, nil
	}
	return t.a.Signalled || w.task.row.SignalVisit == t.a.Visit, nil
}

// pinnedStep returns a step of the version the task's visit pins, nil if it has none of that key.
func (w *work) pinnedStep(key string) (*workflow.Step, error) {
	t := &w.task.row.Task
	d, err := w.c.catalog.Definition(&w.tx.ReadTx, t.Workspace, t.Workflow, t.WorkflowVersion)
	if err != nil {
		return nil, err
	}
	return d.Step(key), nil
}

// verdictOf reports whether the seat has said what it was asked for, in the current round or in this very run, and
// whether it was asked for a verdict at all.
func (w *work) verdictOf(t *turn) (given, required bool, err error) {
	seats, err := w.tx.ListSeats(t.a.Task, t.a.Visit)
	if err != nil {
		return false, false, err
	}
	for _, s := range seats {
		if s.ID == t.a.Seat {
			required = s.DecisionRequired && s.Role.Votes() && s.RemovedAt.IsZero()
		}
	}
	all, err := w.tx.ListAllDecisions(t.a.Task)
	if err != nil {
		return false, false, err
	}
	for _, d := range all {
		current := d.Visit == w.task.row.Visit && d.Round == w.task.row.Round
		if d.Seat == t.a.Seat && (current || d.By.Run == t.run.ID) {
			given = true
		}
	}
	return given, required, nil
}

// missingVerdict makes a good turn of a seat that was asked for its verdict and gave none a failed one.
func (w *work) missingVerdict(t *turn) error {
	given, required, err := w.verdictOf(t)
	if err == nil && required && !given {
		t.end.Failure = &fairlead.Failure{Class: fairlead.ClassEmpty, Message: "the turn ended without the verdict it was asked for"}
	}
	return err
}

// ownMove returns the move the agent asked for in this turn, nil for none.
func (w *work) ownMove(t *turn) *engine.Move {
	if t.a.OwnMove == nil || t.a.OwnMove.Run != t.run.ID {
		return nil
	}
	return &engine.Move{To: t.a.OwnMove.To, Note: t.a.OwnMove.Note}
}
