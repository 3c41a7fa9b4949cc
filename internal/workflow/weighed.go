package workflow

import (
	"slices"

	"github.com/fairlead/fairlead"
)

// WeighedMove is a move whose guard names a quorum or `approval`.
type WeighedMove struct {
	Trigger fairlead.TriggerKind
	Key     string // of a manual trigger
	Index   int    // place in the trigger's list
	Action  *Action
}

// Weighed returns the step's moves that are weighed again at every decision and resolution, in the order of the file,
// whichever trigger they stand under. The caller does not change them.
func (s *Step) Weighed() []WeighedMove {
	if s.weighed != nil {
		return s.weighed
	}
	return s.findWeighed()
}

// findWeighed is what Compile keeps; a step that was not compiled is searched at each call.
func (s *Step) findWeighed() []WeighedMove {
	found := []WeighedMove{}
	collect := func(trigger fairlead.TriggerKind, key string, actions []Action) {
		for i := range actions {
			if actions[i].Kind == ActionMove && actions[i].If.Weighed() {
				found = append(found, WeighedMove{trigger, key, i, &actions[i]})
			}
		}
	}
	for _, t := range fairlead.Triggers() {
		collect(t, "", s.On[t])
	}
	for _, k := range sortedKeys(s.Manual) {
		collect(fairlead.TriggerManual, k, s.Manual[k])
	}
	slices.SortStableFunc(found, func(a, b WeighedMove) int { return a.Action.seq - b.Action.seq })
	return found
}
