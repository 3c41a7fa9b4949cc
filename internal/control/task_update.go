package control

import (
	"context"
	"math"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

// UpdateTask changes fields of a task. Fields that the body leaves out stay as they are.
func (c *Control) UpdateTask(ctx context.Context, m Meta, ref string, body fairlead.TaskPatch) (fairlead.TaskView, error) {
	return onTask(ctx, c, m, "update task", ref, body, func(w *work) (fairlead.TaskView, error) {
		if err := w.mayTouch(); err != nil {
			return fairlead.TaskView{}, err
		}
		if err := w.patch(body); err != nil {
			return fairlead.TaskView{}, err
		}
		return w.view(w.task)
	})
}

func (w *work) patch(b fairlead.TaskPatch) error {
	t := &w.task.row.Task
	if err := w.checkPatch(b); err != nil {
		return err
	}
	changed := map[string]any{}
	set(changed, "title", &t.Title, b.Title)
	set(changed, "description", &t.Description, b.Description)
	set(changed, "requirements", &t.Requirements, b.Requirements)
	set(changed, "priority", &t.Priority, b.Priority)
	set(changed, "position", &t.Position, b.Position)
	set(changed, "agent", &t.Agent, b.Agent)
	set(changed, "ephemeral", &t.Ephemeral, b.Ephemeral)
	rule := t.CancelledBlocker
	set(changed, "cancelled_blocker", &t.CancelledBlocker, b.CancelledBlocker)
	if b.Labels != nil {
		t.Labels = dedupe(*b.Labels)
		changed["labels"] = listed(t.Labels)
	}
	if b.Repository != nil {
		t.Repository = b.Repository
		changed["repository"] = t.Repository
	}
	if len(b.Metadata) > 0 {
		t.Metadata = merge(t.Metadata, b.Metadata)
		changed["metadata"] = t.Metadata
	}
	if len(changed) == 0 {
		return nil
	}
	w.updated(changed, w.meta.Actor)
	if t.CancelledBlocker != rule {
		w.changed()
		_, err := w.decide(engine.Trigger{Kind: engine.KindRecheck})
		return err
	}
	return nil
}

func set[T any](changed map[string]any, name string, field, value *T) {
	if value != nil {
		*field = *value
		changed[name] = *value
	}
}

// checkPatch holds a patch against the rules for new tasks.
func (w *work) checkPatch(b fairlead.TaskPatch) error {
	t := &w.task.row.Task
	like := fairlead.NewTask{Title: t.Title, Priority: t.Priority, CancelledBlocker: t.CancelledBlocker}
	if b.Title != nil {
		like.Title = *b.Title
	}
	if b.Priority != nil {
		like.Priority = *b.Priority
	}
	if b.CancelledBlocker != nil {
		like.CancelledBlocker = *b.CancelledBlocker
	}
	if b.Labels != nil {
		like.Labels = *b.Labels
	}
	if err := checkNewTask(like); err != nil {
		return err
	}
	if b.Position != nil && (math.IsNaN(*b.Position) || math.IsInf(*b.Position, 0)) {
		return invalidField("position", "not a number", "use a finite number")
	}
	if b.Agent == nil || *b.Agent == "" {
		return nil
	}
	f, err := w.facts()
	if err != nil {
		return err
	}
	if f.Agents[*b.Agent].Key == "" {
		return invalidField("agent", "no such agent", "list the agents with: fairlead agent list")
	}
	return nil
}
