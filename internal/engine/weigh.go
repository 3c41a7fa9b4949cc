package engine

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/workflow"
)

// ruled is a move with the place where it stands.
type ruled struct {
	label  string
	index  int
	action workflow.Action
}

// weighed returns the step's moves whose guard names a quorum or an approval, in file order.
func weighed(step *workflow.Step) []ruled {
	moves := step.Weighed()
	out := make([]ruled, 0, len(moves))
	for _, m := range moves {
		out = append(out, ruled{labelOf(Trigger{Kind: m.Trigger, Key: m.Key}), m.Index, *m.Action})
	}
	return out
}

// quorumMoves returns those of the weighed moves whose guard names a quorum.
func quorumMoves(step *workflow.Step) []ruled {
	return slices.DeleteFunc(weighed(step), func(r ruled) bool { return len(r.action.If.Quorums) == 0 })
}

// reweighs reports whether a trigger is a decision or a resolution.
func reweighs(k fairlead.TriggerKind) bool {
	switch k {
	case fairlead.TriggerDecision, fairlead.TriggerApprovalResolved, fairlead.TriggerRequestResolved:
		return true
	}
	return false
}

// withTally adds to a decision's payload how the votes stand with it.
func (d *decider) withTally(t Trigger) Trigger {
	if t.Payload == nil {
		t.Payload = map[string]any{}
	}
	if _, ok := t.Payload["tally"]; !ok {
		f := FactsOf(d.s, nil).Decisions
		t.Payload["tally"] = map[string]any{"approved": f.Approved, "rejected": f.Rejected, "pending": f.Pending}
	}
	return t
}

// weighQuorums evaluates the quorum guards once on the state as it is now: after enter, and after a change of seats, a
// quorum may hold for which no vote will come.
func (d *decider) weighQuorums(t Trigger) settled {
	if d.looped {
		return stayed
	}
	facts := FactsOf(d.s, t.Payload)
	var moves []candidate
	for _, r := range quorumMoves(d.step()) {
		moves = append(moves, d.judge(r.label, r.index, r.action, facts, t))
	}
	return d.settle(t, moves)
}

// falseBecause finds the reason for which a guard does not hold; a quorum that cannot hold says so.
func (d *decider) falseBecause(g *workflow.Guard) (reason, detail string) {
	for _, q := range g.Quorums {
		if why := hopeless(&d.s, q); why != "" {
			return why, string(q.Role) + " " + q.Threshold
		}
	}
	return "guard_false", g.Source
}

// hopeless says why no vote of the slate as it is can make a quorum hold: slate_empty or unsatisfiable; else "".
func hopeless(s *Snapshot, q workflow.QuorumRef) string {
	th, err := policy.ParseThreshold(q.Threshold)
	if err != nil {
		return "unsatisfiable"
	}
	n := tally(s, q.Role, nil).Seats
	switch {
	case policy.Reachable(th, n, passEmpty(s)):
		return ""
	case n == 0:
		return "slate_empty"
	}
	return "unsatisfiable"
}

// noticeSlate tells people, once per visit, of a quorum that the slate cannot reach. With on_empty: pass an empty slate
// is intended.
func (d *decider) noticeSlate() {
	for _, r := range quorumMoves(d.step()) {
		for _, q := range r.action.If.Quorums {
			why := hopeless(&d.s, q)
			if why == "" || why == "slate_empty" && passEmpty(&d.s) {
				continue
			}
			d.emit(AddNotice{
				Kind: why, Once: true, Text: slateText(why, q),
				Data: map[string]any{"step": d.s.Visit.Step, "role": string(q.Role), "threshold": q.Threshold},
			})
			return
		}
	}
}

func slateText(why string, q workflow.QuorumRef) string {
	if why == "slate_empty" {
		return "The quorum " + q.Threshold + " waits for a " + string(q.Role) + ", and nobody holds such a seat. Add one, or move the task."
	}
	return "The quorum " + q.Threshold + " needs more seats of the role " + string(q.Role) + " than there are. Add some, or move the task."
}
