package workflow

import (
	"fmt"

	"github.com/fairlead/fairlead"
)

// lint warns of what may be meant but probably is not.
func (c *compiler) lint() {
	c.warnUnreached()
	for _, s := range c.def.Steps {
		c.warnMoves(s)
		c.warnQuorums(s)
		c.warnApprovals(s)
	}
}

// eachAction visits the actions of a step in the order of the triggers.
func eachAction(s *Step, visit func(*Action)) {
	for _, t := range fairlead.Triggers() {
		for i := range s.On[t] {
			visit(&s.On[t][i])
		}
	}
	for _, key := range sortedKeys(s.Manual) {
		for i := range s.Manual[key] {
			visit(&s.Manual[key][i])
		}
	}
}

func (c *compiler) warnUnreached() {
	named := map[string]bool{c.def.Start: true}
	for _, s := range c.def.Steps {
		eachAction(s, func(a *Action) {
			if a.Kind == ActionMove && a.To != s.Key {
				named[a.To] = true
			}
		})
	}
	for _, s := range c.def.Steps {
		if !named[s.Key] {
			c.report.warn(s.Pos, "", fmt.Sprintf("no move names the step %q: tasks reach it only by hand", s.Key), "add a move to it if that is not meant")
		}
	}
}

// warnMoves tells of moves that never happen.
func (c *compiler) warnMoves(s *Step) {
	eachAction(s, func(a *Action) {
		if a.Kind == ActionMove && a.To == s.Key {
			c.report.warn(a.Pos, "", "a move to its own step is no move", "name another step, or use clear_decisions for a new round")
		}
	})
	for _, t := range fairlead.Triggers() {
		always := false
		for _, a := range s.On[t] {
			if a.Kind != ActionMove {
				continue
			}
			if always {
				c.report.warn(a.Pos, "", "this move is never taken: one before it has no condition", "put the move without a condition last")
			}
			always = always || (a.If == nil || a.If.Literal) && a.To != s.Key
		}
	}
}

// warnQuorums tells of quorums that the step's own slate cannot satisfy.
func (c *compiler) warnQuorums(s *Step) {
	seen := map[QuorumRef]bool{}
	eachAction(s, func(a *Action) {
		if a.If == nil {
			return
		}
		for _, q := range a.If.Quorums {
			if seen[q] {
				continue
			}
			seen[q] = true
			c.warnQuorum(s, a, q)
		}
	})
}

func (c *compiler) warnQuorum(s *Step, a *Action, q QuorumRef) {
	seats, left := 0, 0
	for _, p := range s.Participants {
		switch {
		case p.Role != q.Role || !p.DecisionRequired:
		case p.Agent != "" && !c.def.SelfReview && c.works(p.Agent):
			left++
		default:
			seats++
		}
	}
	_, n := q.Split()
	remedy := fmt.Sprintf("add %ss with a vote to the step, or to each task", q.Role)
	switch {
	case seats == 0 && s.OnEmpty == OnEmptyPass:
	case seats == 0 && left > 0:
		c.report.warn(a.Pos, "", fmt.Sprintf("every %s of this step works on its tasks as their agent and is left out of the vote", q.Role),
			"seat others, or write `self_review: true`")
	case seats == 0:
		c.report.warn(a.Pos, "", fmt.Sprintf("nobody votes as %s at this step, so the quorum waits for ever", q.Role), remedy+", or write `quorum: {on_empty: pass}`")
	case n > seats:
		c.report.warn(a.Pos, "", fmt.Sprintf("%s needs %d votes, but only %d %s(s) of this step can vote", q.Threshold, n, seats, q.Role), remedy)
	}
}

// warnApprovals tells of a guard that waits for an approval nobody is asked for. A program may ask for one itself.
func (c *compiler) warnApprovals(s *Step) {
	var reads *Action
	asks := s.Program != ProgramPlain
	eachAction(s, func(a *Action) {
		asks = asks || a.Kind == ActionRequestApproval
		if reads == nil && a.If != nil && a.If.UsesApproval {
			reads = a
		}
	})
	if reads != nil && !asks {
		c.report.warn(reads.Pos, "", "the guard reads approval, but nothing at this step asks for one", "add `request_approval` under `enter`")
	}
}

// works reports whether an agent is the agent of a step of this workflow.
func (c *compiler) works(agent string) bool {
	for _, s := range c.def.Steps {
		if s.Agent == agent {
			return true
		}
	}
	return false
}
