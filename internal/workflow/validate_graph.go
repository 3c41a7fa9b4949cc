package workflow

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
)

// checkGraph refuses what only the whole graph shows.
func (c *compiler) checkGraph() {
	c.refuseCycles()
	c.refuseOffspring()
	for _, s := range c.def.Steps {
		s.weighed = s.findWeighed()
	}
}

// automatic returns the move under enter that is taken whenever nothing before it was: one without a condition.
func automatic(s *Step) *Action {
	for i := range s.On[fairlead.TriggerEnter] {
		a := &s.On[fairlead.TriggerEnter][i]
		if a.Kind == ActionMove && (a.If == nil || a.If.Literal) && a.To != s.Key {
			return a
		}
	}
	return nil
}

// refuseCycles finds steps that hand a task round by their enter actions alone: nothing from outside ever stops it.
// A cycle that a guard may leave open is bounded when it runs.
func (c *compiler) refuseCycles() {
	done := map[string]bool{}
	for _, s := range c.def.Steps {
		var way []string
		on := map[string]int{}
		for at := s; at != nil && !done[at.Key]; {
			if begin, ok := on[at.Key]; ok {
				way = append(way[begin:], at.Key)
				first := c.def.Step(way[0])
				c.report.fail(automatic(first).Pos, "steps", "these steps move a task in a circle with no event from outside: "+strings.Join(way, " → "),
					"put one of the moves under another trigger, or a guard on it")
				break
			}
			on[at.Key] = len(way)
			way = append(way, at.Key)
			a := automatic(at)
			if a == nil {
				break
			}
			at = c.def.Step(a.To)
		}
		for k := range on {
			done[k] = true
		}
	}
}

// refuseOffspring finds a workflow in which every new task at once makes another one.
func (c *compiler) refuseOffspring() {
	seen := map[string]bool{}
	for s := c.def.Step(c.def.Start); s != nil && !seen[s.Key]; {
		seen[s.Key] = true
		for _, a := range s.On[fairlead.TriggerEnter] {
			if a.Kind == ActionCreateChild && a.Workflow == c.def.Key {
				c.report.fail(a.Pos, "steps", fmt.Sprintf("every task of %s makes another one when it begins, without end", c.def.Key),
					"name another workflow for the child, or put the action under another trigger")
			}
		}
		a := automatic(s)
		if a == nil {
			return
		}
		s = c.def.Step(a.To)
	}
}
