package control

import (
	"github.com/fairlead/fairlead"
)

// An agent acts by a run, and its authority is that run's: its own task, its children, and, for the agent of a
// coordination task, the other tasks of the workspace. People and clients may act on every task of their workspace.

// own reports whether the locked task is the one the agent was woken on.
func (w *work) own() (bool, fairlead.Assignment, error) {
	if w.meta.Actor.Kind != fairlead.ActorAgent {
		return false, fairlead.Assignment{}, nil
	}
	a, err := w.tx.LoadAssignment(w.meta.Actor.Assignment)
	if err != nil {
		return false, a, err
	}
	return w.task != nil && a.Task == w.task.row.ID, a, nil
}

// mayTouch checks that the actor may change the locked task.
func (w *work) mayTouch() error {
	if w.meta.Actor.Kind != fairlead.ActorAgent {
		return nil
	}
	if err := w.fenced(); err != nil {
		return err
	}
	own, a, err := w.own()
	if err != nil || own || w.task.row.Parent == a.Task {
		return err
	}
	standing, err := w.tx.LoadTask(a.Task)
	if err != nil {
		return err
	}
	if standing.Coordination != "" {
		return nil
	}
	return fairlead.Errorf(fairlead.CodeForbidden, "this run may not change that task").
		WithHint("a run works on the task it was woken on and on that task's children")
}

// mayCreate checks that the actor may make a task; an agent makes children of the task it works on.
func (w *work) mayCreate() error {
	if w.meta.Actor.Kind != fairlead.ActorAgent {
		return nil
	}
	if w.task == nil {
		return w.fenced()
	}
	return w.mayTouch()
}

// personOnly refuses agents and clients where only people may act.
func (w *work) personOnly(what string) error {
	if w.meta.Actor.Kind == fairlead.ActorAgent {
		return fairlead.Errorf(fairlead.CodeForbidden, "an agent may not change %s", what).WithHint("ask a person to do it")
	}
	return nil
}

// ifVersion honours If-Match.
func (w *work) ifVersion(have int64) error {
	if w.meta.IfVersion != 0 && w.meta.IfVersion != have {
		return fairlead.Errorf(fairlead.CodeStale, "the object has changed since you read it").
			WithHint("read it again and repeat the change on what stands there now")
	}
	return nil
}
