package control

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

// Trigger fires a manual trigger of the step where the task stands, or shows what any trigger would do: a dry run
// returns the plan that the real one would carry out and writes nothing at all.
func (c *Control) Trigger(ctx context.Context, m Meta, ref string, body fairlead.TriggerBody, dryRun bool) (fairlead.Outcome, error) {
	trigger := engine.Trigger{Op: body.Op, Kind: body.Kind, Key: body.Key, Visit: body.ExpectedVisit, Payload: body.Payload, Actor: m.Actor}
	if err := checkTrigger(body, dryRun); err != nil {
		return fairlead.Outcome{}, c.refused(ctx, m, command{name: "fire trigger"}, err)
	}
	if dryRun {
		return c.evaluate(ctx, m, ref, trigger)
	}
	return onTask(ctx, c, m, "fire trigger", ref, body, func(w *work) (fairlead.Outcome, error) {
		if err := w.mayTouch(); err != nil {
			return fairlead.Outcome{}, err
		}
		if err := w.expect(body.ExpectedVisit); err != nil {
			return fairlead.Outcome{}, err
		}
		s, err := w.load()
		if err != nil {
			return fairlead.Outcome{}, err
		}
		if step := s.Pinned.Step(w.task.row.Step); step == nil || step.Manual[body.Key] == nil {
			return fairlead.Outcome{}, fairlead.Errorf(fairlead.CodeRefused, "the step has no such manual trigger").
				WithHint("the keys stand under on.manual of the step in the workflow")
		}
		plan, err := w.decide(trigger)
		if err != nil {
			return fairlead.Outcome{}, err
		}
		return w.finish(plan)
	})
}

func checkTrigger(b fairlead.TriggerBody, dryRun bool) error {
	switch {
	case !b.Kind.Valid():
		return invalidField("kind", "unknown trigger", "use one of the workflow's triggers, for example manual or comment")
	case b.Kind == fairlead.TriggerManual && b.Key == "":
		return invalidField("key", "a manual trigger needs its key", "write manual:KEY")
	case !dryRun && b.Kind != fairlead.TriggerManual:
		return fairlead.Errorf(fairlead.CodeRefused, "only manual triggers can be fired by hand").
			WithHint("use a dry run to see what this trigger would do")
	}
	return nil
}

// evaluate decides without writing. Its ids come from a fresh seed and are never used.
func (c *Control) evaluate(ctx context.Context, m Meta, ref string, t engine.Trigger) (fairlead.Outcome, error) {
	var out fairlead.Outcome
	id, err := c.resolve(ctx, m.Workspace, ref)
	if err != nil {
		return out, err
	}
	seed, err := c.newSeed()
	if err != nil {
		return out, err
	}
	err = c.db.Read(ctx, func(tx *storeReadTx) error {
		row, err := tx.LoadTask(id)
		if err != nil {
			return err
		}
		if row.Workspace != m.Workspace {
			return noSuchTask()
		}
		s, err := c.snapshot(tx, row)
		if err != nil {
			return err
		}
		if err := c.loadOther(tx, &s, t.Move); err != nil {
			return err
		}
		s.Seed = seed
		t.Actor = m.Actor
		plan, refusal := engine.Decide(s, t, c.db.Now())
		if refusal != nil {
			return refusal
		}
		out = showPlan(plan)
		out.Task, out.DryRun = taskRef(&row.Task), true
		return nil
	})
	return out, err
}
