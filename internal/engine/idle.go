package engine

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// Idle reports whether a turn's trigger comes to nothing at a step of a task that has entered it and has nothing put
// aside: then there is nothing to decide, and nothing has to be loaded for it.
func Idle(step *workflow.Step, t Trigger) bool {
	switch t.Kind {
	case fairlead.TriggerTurnStart, fairlead.TriggerTurnComplete:
		return step != nil && t.OwnMove == nil && len(listOf(step, t)) == 0
	}
	return false
}
