package control

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
)

// purposeFailed marks the request about a failure that no retry mends and that is no reason to give the work up.
const purposeFailed = "failed"

// parkFailed parks a run whose failure only people mend, on one request: its answer lets the work go on, or its step hears
// that it failed.
func (w *work) parkFailed(t *turn, v policy.Verdict) error {
	f := t.end.Failure
	if err := w.openRequest(fairlead.Request{
		Kind: fairlead.RequestSupervise, Visit: t.a.Visit, Assignment: t.a.ID, Run: t.run.ID, Blocks: fairlead.BlocksAssignment,
		OpenedBy: fairlead.Engine(),
		Prompt:   fmt.Sprintf("The agent %s stopped: %s. To mend it: %s. Go on?", t.run.Agent, f.Message, v.Remedy),
		Options: []fairlead.Option{
			{ID: fairlead.OptionRetry, Label: "Go on", Kind: "allow_once"}, {ID: fairlead.OptionStop, Label: "Give up", Kind: "reject_once"},
		},
		Payload: map[string]any{"purpose": purposeFailed, "class": string(f.Class), "message": f.Message, "remedy": v.Remedy},
	}); err != nil {
		return err
	}
	var err error
	if t.a, err = w.tx.LoadAssignment(t.a.ID); err != nil {
		return err
	}
	t.open = true
	return w.parked(t)
}

// gaveUp reports whether a resolution ends work that stands at a failure; if so, its step hears of the failure now, and
// nobody is woken by the answer.
func (w *work) gaveUp(q *fairlead.Request, a fairlead.Assignment) (bool, error) {
	if q.Kind != fairlead.RequestSupervise || q.Payload["purpose"] != purposeFailed {
		return false, nil
	}
	if q.State == fairlead.RequestAnswered && q.Answer != nil && q.Answer.Option == fairlead.OptionRetry {
		return false, nil
	}
	if a.State == fairlead.AssignmentParked {
		a.State = fairlead.AssignmentOpen
		if err := w.saveAssignment(a); err != nil {
			return true, err
		}
	}
	r, err := w.tx.LoadRun(q.Run)
	if err != nil {
		return true, err
	}
	class, _ := q.Payload["class"].(string)
	message, _ := q.Payload["message"].(string)
	f := &fairlead.Failure{Class: fairlead.ErrorClass(class), Message: message}
	return true, w.agentError(&turn{run: &r, end: TurnEnd{Failure: f}})
}
