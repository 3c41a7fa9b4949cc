package control

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

// apply writes a plan, effect by effect, in its order.
func (w *work) apply(p engine.Plan) error {
	if len(p.Effects) > 0 {
		w.changed()
	}
	for _, e := range p.Effects {
		if err := w.effect(e); err != nil {
			return fmt.Errorf("apply %s: %w", effectKind(e), err)
		}
	}
	return w.failures(p)
}

// failures makes every action that failed visible in the journal; its inbox item is an effect of the plan.
func (w *work) failures(p engine.Plan) error {
	for _, why := range p.Why {
		if why.Outcome == engine.OutcomeFailed {
			w.record(fairlead.Record{Kind: fairlead.RecordActionFailed, Actor: fairlead.Engine()}, why)
		}
	}
	return nil
}

// effect writes one effect. The cases of each group stand together in the file of their noun.
func (w *work) effect(e engine.Effect) error {
	switch e := e.(type) {
	case engine.NewAssignment:
		return w.newAssignment(e)
	case engine.Wake:
		return w.wakeAssignment(e)
	case engine.OpenRound:
		return w.openRound(e)
	case engine.AddSeat:
		return w.addSeat(e)
	case engine.RemoveSeat:
		return w.removeSeat(e)
	case engine.OpenRequest:
		return w.openRequest(e.Request)
	case engine.CloseRequest:
		return w.closeRequest(e.Request, e.State, e.Reason)
	case engine.EndVisit:
		return w.endVisit(e)
	case engine.BeginVisit:
		return w.beginVisit(e)
	case engine.CarryRun:
		return w.carryRun(e.Run, e.Assignment)
	case engine.StopRuns:
		return w.stopAll(e.Reason, e.By)
	case engine.DeferTrigger:
		return w.deferTrigger(e)
	case engine.DropDeferred:
		return w.dropDeferred(e)
	default:
		return w.taskEffect(e)
	}
}

// taskEffect writes the effects that change fields of the task or reach out of it.
func (w *work) taskEffect(e engine.Effect) error {
	switch e := e.(type) {
	case engine.Entered:
		w.task.row.Entered = true
		return nil
	case engine.Repinned:
		return w.repinned(e)
	case engine.HoldTask:
		return w.holdTask(e)
	case engine.ArchiveTask:
		return w.archived()
	case engine.SetTask:
		return w.setTask(e)
	case engine.CreateChild:
		return w.createChild(e)
	case engine.PauseAgent:
		return w.pauseAgent(e)
	case engine.AddNotice:
		return w.addNotice(e)
	case engine.AddComment:
		_, err := w.addComment(fairlead.Engine(), e.Text)
		return err
	case engine.Notify:
		return w.sendNotify(e)
	case engine.Send:
		return w.send(e)
	case engine.Tell:
		return w.tell(e)
	}
	return fmt.Errorf("unknown effect %T", e)
}
