package control

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// line returns the task's place in line at its step: 1 = next. In line stand the tasks of the step that have a queued
// run and no place, by priority, then by entry.
func (g *gate) line(places []store.Place) (int, error) {
	tasks, err := g.tx.TasksAt(g.run.Workspace, g.task.Workflow, g.run.Step)
	if err != nil {
		return 0, err
	}
	tasks = slices.DeleteFunc(tasks, func(t store.TaskRow) bool { return holdsPlace(places, t.ID) })
	slices.SortFunc(tasks, func(a, b store.TaskRow) int {
		return cmp.Or(b.Priority.Rank()-a.Priority.Rank(), a.MovedAt.Compare(b.MovedAt), cmp.Compare(a.ID, b.ID))
	})
	n := 1
	for i := range tasks {
		if tasks[i].ID == g.task.ID {
			break
		}
		waits, err := g.waits(tasks[i].ID)
		if err != nil {
			return 0, err
		}
		if waits {
			n++
		}
	}
	return n, nil
}

// waits reports whether a task has a queued run at the step.
func (g *gate) waits(task string) (bool, error) {
	runs, err := g.tx.ActiveRuns(task)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(runs, func(r fairlead.Run) bool { return r.Status == fairlead.RunQueued && r.Step == g.run.Step }), nil
}
