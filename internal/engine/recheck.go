package engine

import (
	"github.com/fairlead/fairlead"
)

// recheck tells the task what it has not heard yet of its blockers and children, and fires what follows.
func (d *decider) recheck(t Trigger) {
	blockers, children := d.s.Blockers, d.s.Children
	toldBlocker := d.tell(TellBlocker, blockers)
	toldChild := d.tell(TellChild, children)
	d.settleFacts()

	removed := texts(t.Payload["removed"])
	if (toldBlocker || len(removed) > 0) && countOpen(blockers) == 0 {
		ids := append([]string(nil), removed...)
		for _, b := range blockers {
			ids = append(ids, b.Task)
		}
		d.fireNext(t, fairlead.TriggerBlockerResolved, map[string]any{"blocker_ids": listOfAny(ids)})
	}
	if toldChild && countOpen(children) == 0 {
		ids, outcomes := []string{}, map[string]any{}
		for _, c := range children {
			ids = append(ids, c.Task)
			outcomes[c.Task] = string(c.Outcome)
		}
		d.fireNext(t, fairlead.TriggerChildrenCompleted, map[string]any{"children": listOfAny(ids), "outcomes": outcomes})
	}
	if d.hops == 0 {
		d.weighQuorums(t)
	}
}

// tell records the ends that the task was not told of, and says whether there were any. A blocker that ended but goes
// on blocking is no end.
func (d *decider) tell(kind string, list []Linked) bool {
	some := false
	for _, l := range list {
		if !l.Open && !l.Told {
			some = true
			d.emit(Tell{Kind: kind, Task: l.Task, Visit: l.Visit, Outcome: l.Outcome})
		}
	}
	return some
}

// fireNext fires a trigger that another one caused, on the step where the task stands by now.
func (d *decider) fireNext(t Trigger, kind fairlead.TriggerKind, payload map[string]any) {
	if d.looped {
		return
	}
	d.fire(Trigger{Op: t.Op, Kind: kind, Actor: t.Actor, Payload: payload})
}

// texts reads a list of texts as JSON or Go gives it.
func texts(v any) []string {
	switch v := v.(type) {
	case []string:
		return v
	case []any:
		var out []string
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// listOfAny makes a list as it looks after a journey through JSON, so that a guard sees the same before and after.
func listOfAny(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
