package control

import (
	"errors"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

// closeTurn writes the end of a turn. delivered says that the session has heard the range in flight: it moves what was
// delivered; otherwise the range is carried again. Without a dead tree the run stays live as stopping, with all it
// occupies.
func (w *work) closeTurn(t *turn, delivered bool) error {
	r := t.run
	if t.started {
		data := map[string]any{"stop_reason": t.end.StopReason, "status": t.status, "outcome": t.outcome}
		if t.end.Failure != nil {
			data["failure"] = failureData(t.end.Failure)
		}
		w.runRecord(r, fairlead.RecordTurnEnded, data)
	}
	if delivered && t.session.InFlight > 0 {
		t.session.Delivered, t.session.InFlight = max(t.session.Delivered, t.session.InFlight), 0
	}
	if err := w.tx.SaveSession(&t.session); err != nil {
		return err
	}
	r.Outcome = t.outcome
	if t.treeDead {
		if err := w.runEvent(r, fairlead.RunEventTreeDead, nil); err != nil {
			return err
		}
		if t.status == fairlead.RunQueued {
			return w.backOff(r)
		}
		return w.finishRun(r, t.status)
	}
	r.Status, r.StopStatus = fairlead.RunStopping, t.status
	if r.StopReason == "" {
		r.StopReason = reasonEnded
	}
	w.forget()
	if err := w.tx.SaveRun(r); err != nil {
		return err
	}
	return w.runEvent(r, fairlead.RunEventStopping, map[string]any{"reason": r.StopReason, "becomes": t.status})
}

// turnComplete fires turn_complete for the visit the turn belonged to. A turn that never started completes nothing.
func (w *work) turnComplete(t *turn, completed bool, own *engine.Move) error {
	if !t.started && own == nil {
		return nil
	}
	payload := w.turnPayload(t.run)
	payload["role"] = string(t.a.Capacity)
	payload["stop_reason"], payload["outcome"], payload["completed"] = t.end.StopReason, t.outcome, completed
	return w.fire(t.run, engine.Trigger{Kind: fairlead.TriggerTurnComplete, Payload: payload, Completed: completed, OwnMove: own})
}

func failureData(f *fairlead.Failure) map[string]any {
	return map[string]any{"class": f.Class, "message": f.Message}
}

// noSignal tells people, once a visit, that a turn ended well without completing its step.
func (w *work) noSignal(t *turn) error {
	if t.outcome != fairlead.OutcomeYielded {
		return nil
	}
	return w.addNotice(engine.AddNotice{
		Kind: "no_signal", Once: true,
		Text: "The agent " + t.run.Agent + " ended its turn without saying that the step is complete. Comment to go on, or move the task.",
		Data: map[string]any{"run": t.run.ID, "assignment": t.a.ID, "agent": t.run.Agent},
	})
}

// fire lets the engine decide on a trigger of a run's report. What the report tells stands, whatever the engine says: a
// refusal is noted in the run's log.
func (w *work) fire(r *fairlead.Run, t engine.Trigger) error {
	t.Op = fairlead.DerivedOp(string(w.meta.Op), r.ID, string(t.Kind))
	t.Assignment, t.Run = r.Assignment, r.ID
	if t.Kind != fairlead.TriggerAgentError {
		if r.Visit != w.task.row.Visit {
			return nil
		}
		t.Visit = r.Visit
	}
	if idle, err := w.idle(t); err != nil || idle {
		return err
	}
	_, err := w.decide(t)
	var e *fairlead.Error
	if !errors.As(err, &e) || e.Code == fairlead.CodeInternal || e.Code == fairlead.CodeUnavailable || e.Code == fairlead.CodeStale {
		return err
	}
	return w.runEvent(r, fairlead.RunEventRefused, map[string]any{"trigger": t.Kind, "code": e.Code, "message": e.Message})
}

// idle reports whether a turn's trigger has nothing to decide.
func (w *work) idle(t engine.Trigger) (bool, error) {
	row := w.task.row
	around, err := w.tx.Around(row.Workspace, row.ID, row.Visit)
	if err != nil || !row.Entered || around.Deferred || t.Visit != row.Visit {
		return false, err
	}
	d, err := w.c.catalog.Definition(&w.tx.ReadTx, row.Workspace, row.Workflow, row.WorkflowVersion)
	if err != nil {
		return false, err
	}
	return engine.Idle(d.Step(row.Step), t), nil
}
