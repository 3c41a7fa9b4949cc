package control

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/store"
)

// Move puts a task at another step. A person's move passes open requests, which it withdraws; an agent's move of the
// task it works on is kept until its turn ends; every other move waits while the task is blocked.
func (c *Control) Move(ctx context.Context, m Meta, ref string, body fairlead.MoveBody) (fairlead.Outcome, error) {
	return onTask(ctx, c, m, "move task", ref, body, func(w *work) (fairlead.Outcome, error) {
		if body.Step == "" {
			return fairlead.Outcome{}, invalidField("step", "no step named", "name the step to move to")
		}
		if err := w.mayTouch(); err != nil {
			return fairlead.Outcome{}, err
		}
		if err := w.expect(body.ExpectedVisit); err != nil {
			return fairlead.Outcome{}, err
		}
		own, a, err := w.own()
		if err != nil {
			return fairlead.Outcome{}, err
		}
		if own {
			return w.keepOwnMove(a, body)
		}
		move := &engine.Move{To: body.Step, Workflow: body.Workflow, Note: body.Note}
		plan, err := w.decide(engine.Trigger{Kind: engine.KindMove, Move: move})
		if err != nil {
			return fairlead.Outcome{}, err
		}
		if body.Position != nil && (plan.Moved || w.meta.Actor.Kind == fairlead.ActorPerson) {
			w.place(*body.Position)
		}
		return w.finish(plan)
	})
}

// place sets the task's place within its column.
func (w *work) place(position float64) {
	w.task.row.Position = position
	w.updated(map[string]any{"position": position}, w.meta.Actor)
}

// finish writes what was only changed in memory, so that the answer shows the version that will be committed.
func (w *work) finish(plan engine.Plan) (fairlead.Outcome, error) {
	if err := w.flush(); err != nil {
		return fairlead.Outcome{}, err
	}
	return w.outcome(plan), nil
}

// expect refuses a caller who speaks of an earlier visit.
func (w *work) expect(visit int) error {
	if visit != 0 && visit != w.task.row.Visit {
		e := fairlead.Conflict(fairlead.ReasonVisitEnded, "the task has moved since: visit %d is over", visit)
		e.Data = map[string]any{"visit": w.task.row.Visit, "step": w.task.row.Step}
		return e.WithHint("read the task again and decide anew")
	}
	return nil
}

// keepOwnMove keeps the move an agent asks for in mid-turn as a row of its assignment. The first one counts.
func (w *work) keepOwnMove(a fairlead.Assignment, body fairlead.MoveBody) (fairlead.Outcome, error) {
	s, err := w.load()
	if err != nil {
		return fairlead.Outcome{}, err
	}
	switch {
	case body.Workflow != "" && body.Workflow != w.task.row.Workflow:
		return fairlead.Outcome{}, fairlead.Errorf(fairlead.CodeRefused, "only a person may move a task to another workflow")
	case s.Pinned.Step(body.Step) == nil:
		return fairlead.Outcome{}, noSuchStep(s)
	case a.Program != "plain":
		return fairlead.Outcome{}, fairlead.Errorf(fairlead.CodeRefused, "this step is completed by its program, not by a move").
			WithHint("finish the work; the program ends the step")
	case a.OwnMove != nil && a.OwnMove.Run == w.meta.Actor.Run:
		return fairlead.Outcome{}, fairlead.Conflict(fairlead.ReasonExists, "this turn has asked for a move already").
			WithHint("the first move counts; end the turn")
	}
	if open, err := w.hasOpenQuestion(a.ID); err != nil || open {
		return fairlead.Outcome{}, openQuestion(err)
	}
	a.OwnMove = &fairlead.OwnMove{To: body.Step, Note: body.Note, Run: w.meta.Actor.Run}
	if err := w.tx.SaveAssignment(&a); err != nil {
		return fairlead.Outcome{}, err
	}
	w.record(fairlead.Record{Kind: fairlead.RecordOwnMove, Assignment: a.ID, Run: w.meta.Actor.Run}, a.OwnMove)
	w.changed()
	return w.finish(engine.Plan{Deferred: true, Visit: w.task.row.Visit, Step: w.task.row.Step, Why: []engine.Explanation{{
		Trigger: string(engine.KindMove), Step: w.task.row.Step, Index: -1, Action: "move " + body.Step, Outcome: engine.OutcomeDeferred, Reason: "turn_end",
		Detail: "decided when the turn ends",
	}}})
}

func openQuestion(err error) error {
	if err != nil {
		return err
	}
	return fairlead.Conflict(fairlead.ReasonHeld, "a question to a person is open").WithHint("end the turn; the answer starts the next one")
}

func noSuchStep(s *engine.Snapshot) error {
	var keys []string
	for _, step := range s.Pinned.Steps {
		keys = append(keys, step.Key)
	}
	e := fairlead.Errorf(fairlead.CodeInvalid, "no such step in workflow %s", s.Pinned.Key)
	e.Data = map[string]any{"steps": keys}
	return e.WithHint("name one of the workflow's steps")
}

// loadOther loads the newest version of another workflow that a move names.
func (c *Control) loadOther(tx *store.ReadTx, s *engine.Snapshot, move *engine.Move) (err error) {
	s.Other = nil
	if move == nil || move.Workflow == "" || move.Workflow == s.Task.Workflow {
		return nil
	}
	if s.Other, err = c.catalog.Definition(tx, s.Task.Workspace, move.Workflow, 0); err != nil || !seats(s.Other) {
		return err
	}
	return loadWorked(tx, s)
}

// Archive ends all work on a task: runs stop, requests are withdrawn. Elsewhere than at a terminal step the task then
// counts as cancelled.
func (c *Control) Archive(ctx context.Context, m Meta, ref string, body fairlead.OpBody) (fairlead.TaskView, error) {
	return onTask(ctx, c, m, "archive task", ref, body, func(w *work) (fairlead.TaskView, error) {
		if err := w.personOnly("the archive"); err != nil {
			return fairlead.TaskView{}, err
		}
		if _, err := w.decide(engine.Trigger{Kind: engine.KindArchive}); err != nil {
			return fairlead.TaskView{}, err
		}
		return w.view(w.task)
	})
}

// Repin moves a standing task to the newest version of its workflow at once. It keeps visit and round, fixes the seats
// anew and runs no exit or enter. A dry run says what would change.
func (c *Control) Repin(ctx context.Context, m Meta, ref string, body fairlead.RepinBody) (fairlead.Outcome, error) {
	trigger := engine.Trigger{Kind: engine.KindRepin}
	if body.DryRun {
		return c.evaluate(ctx, m, ref, trigger)
	}
	return onTask(ctx, c, m, "repin task", ref, body, func(w *work) (fairlead.Outcome, error) {
		if err := w.personOnly("a task's version"); err != nil {
			return fairlead.Outcome{}, err
		}
		plan, err := w.decide(trigger)
		if err != nil {
			return fairlead.Outcome{}, err
		}
		return w.finish(plan)
	})
}
