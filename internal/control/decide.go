package control

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

// decide lets the engine decide on what happened to the locked task, and writes the plan.
func (w *work) decide(t engine.Trigger) (engine.Plan, error) {
	s, err := w.load()
	if err != nil {
		return engine.Plan{}, err
	}
	t = w.complete(t)
	s.Seed = w.decideSeed()
	if err := w.c.loadOther(&w.tx.ReadTx, s, t.Move); err != nil {
		return engine.Plan{}, err
	}
	plan, refusal := engine.Decide(*s, t, w.now)
	if refusal != nil {
		return engine.Plan{}, refusal
	}
	if err := w.apply(plan); err != nil {
		return plan, err
	}
	return plan, nil
}

// load returns the snapshot of the locked task, from the cache of this command while nothing was written since.
func (w *work) load() (*engine.Snapshot, error) {
	if w.task.snap == nil {
		s, err := w.c.snapshot(&w.tx.ReadTx, w.task.row)
		if err != nil {
			return nil, err
		}
		w.task.snap = &s
	}
	w.task.snap.Task = w.task.row.Task
	return w.task.snap, nil
}

// changed says that rows of the snapshot were written: the next decision loads them anew.
func (w *work) changed() {
	w.task.snap = nil
	w.task.dirty = true
}

// complete fills in what every trigger carries.
func (w *work) complete(t engine.Trigger) engine.Trigger {
	if t.Op == "" {
		t.Op = w.meta.Op
	}
	if t.Actor.Kind == "" {
		t.Actor = w.meta.Actor
	}
	return t
}

func unmarshal(b []byte, v any) error {
	if len(b) == 0 {
		return nil
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read stored value: %w", err)
	}
	return nil
}

// outcome shows a plan.
func (w *work) outcome(p engine.Plan) fairlead.Outcome {
	o := showPlan(p)
	o.Task = taskRef(&w.task.row.Task)
	return o
}

func taskRef(t *fairlead.Task) *fairlead.TaskRef {
	return &fairlead.TaskRef{
		ID: t.ID, Identifier: t.Identifier, Workflow: t.Workflow, Step: t.Step, Visit: t.Visit, Round: t.Round,
		Terminal: t.Terminal, Version: t.Version,
	}
}

// showPlan turns a plan into the answer of the API; its task is left to the caller.
func showPlan(p engine.Plan) fairlead.Outcome {
	o := fairlead.Outcome{
		Moved: p.Moved, Deferred: p.Deferred, Held: p.Held, Visit: p.Visit, Step: p.Step,
		Effects: make([]fairlead.EffectView, 0, len(p.Effects)), Explanation: make([]fairlead.ExplanationView, 0, len(p.Why)),
	}
	for _, e := range p.Effects {
		o.Effects = append(o.Effects, showEffect(e))
	}
	for _, e := range p.Why {
		o.Explanation = append(o.Explanation, fairlead.ExplanationView(e))
	}
	return o
}
