package engine

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// admit refuses what may not be decided at all: stale callers, and triggers that nobody could mean.
func (d *decider) admit(t Trigger) *fairlead.Error {
	if t.Kind == KindCreate {
		return nil
	}
	if d.step() == nil {
		return fairlead.Errorf(fairlead.CodeInternal, "the task stands at a step that its workflow's version does not have")
	}
	if n := d.s.Visit.N; t.Visit != 0 && t.Visit != n {
		return fairlead.Conflict(fairlead.ReasonVisitEnded, "the task is in visit %d now", n).
			WithHint("read the task again and decide on what it shows")
	}
	if r := d.s.Visit.Round; t.Round != 0 && t.Round != r {
		return fairlead.Conflict(fairlead.ReasonRoundClosed, "the visit is in round %d now", r).
			WithHint("read the task again and decide in its current round")
	}
	if !known(t.Kind) {
		return fairlead.Errorf(fairlead.CodeInvalid, "unknown trigger").WithHint("use one of the triggers of the guide to workflows")
	}
	if !d.s.Task.ArchivedAt.IsZero() && refusedWhenArchived(t.Kind) {
		return fairlead.Errorf(fairlead.CodeRefused, "the task is archived").WithHint("create a new task")
	}
	if t.Kind == fairlead.TriggerManual {
		return admitManual(d.step(), t.Key)
	}
	return nil
}

func known(k fairlead.TriggerKind) bool {
	switch k {
	case KindCreate, KindMove, KindRecheck, KindSeats, KindRepin, KindArchive, KindRelease, KindWake:
		return true
	}
	return k.Valid()
}

// refusedWhenArchived names what somebody asks for and has to hear of; facts of an archived task just change nothing.
func refusedWhenArchived(k fairlead.TriggerKind) bool {
	switch k {
	case KindMove, KindSeats, KindRepin, KindRelease, fairlead.TriggerManual:
		return true
	}
	return false
}

func admitManual(step *workflow.Step, key string) *fairlead.Error {
	if _, ok := step.Manual[key]; ok {
		return nil
	}
	e := fairlead.Errorf(fairlead.CodeInvalid, "the step has no manual trigger of this key")
	keys := manualKeys(step)
	if len(keys) == 0 {
		return e.WithHint("name it under `manual` of step %s", step.Key)
	}
	return e.WithHint("use one of: %s", strings.Join(keys, ", "))
}

func manualKeys(step *workflow.Step) []string {
	keys := make([]string, 0, len(step.Manual))
	for k := range step.Manual {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
