package engine

import (
	"github.com/fairlead/fairlead"
)

// heed does what the answer to a supervise request of max_visits says beyond the step's own rules.
func (d *decider) heed(t Trigger) {
	r := t.Request
	if r == nil || r.Kind != fairlead.RequestSupervise || r.Payload["purpose"] != PurposeMaxVisits {
		return
	}
	if r.State == fairlead.RequestAnswered && r.Answer != nil && !r.Answer.Decline && r.Answer.Option == OptionGoOn {
		return
	}
	d.dropDeferred()
	d.emit(StopRuns{By: t.Actor, Reason: PurposeMaxVisits})
	d.settleFacts()
}

// replayDeferred decides the put-aside triggers once nothing blocks the task any more: in their order, for their moves
// only, with guards evaluated anew. The first move ends it; what is left is superseded with the visit.
func (d *decider) replayDeferred() {
	if d.hops > 0 || d.looped || d.blocked() || len(d.s.Deferred) == 0 {
		return
	}
	d.replay = true
	for _, x := range d.s.Deferred {
		if d.again(x) {
			return
		}
	}
}

// again decides the moves of one put-aside trigger, and reports whether the replay is over.
func (d *decider) again(x Deferred) bool {
	t := x.Trigger
	kept := len(d.plan.Effects)
	d.emit(DropDeferred{Seq: x.Seq, Outcome: DroppedNoMove})
	if t.Kind == KindMove {
		d.againMove(t)
	} else {
		d.againFire(t)
	}
	if d.hops == 0 && !d.looped {
		return false
	}
	d.plan.Effects[kept] = DropDeferred{Seq: x.Seq, Outcome: DroppedMoved}
	return true
}

// againMove carries out an explicit move that had to wait. One whose step is gone meanwhile comes to nothing, visibly.
func (d *decider) againMove(t Trigger) {
	if err := d.explicit(t); err != nil {
		d.explain(t, 0, actionMove, OutcomeFailed, "refused", err.Message)
		d.fail(t, actionMove, "A move that had to wait cannot be made any more: "+err.Message)
	}
}

// againFire judges the moves of a trigger once more.
func (d *decider) againFire(t Trigger) {
	facts := FactsOf(d.s, t.Payload)
	moves := d.candidates(t, facts)
	if weighsSlate(t.Kind) {
		for _, r := range quorumMoves(d.step()) {
			if r.label != labelOf(t) {
				moves = append(moves, d.judge(r.label, r.index, r.action, facts, t))
			}
		}
	}
	d.settle(t, moves)
}

// weighsSlate reports whether quorum guards are evaluated once after a trigger, whatever list they stand in.
func weighsSlate(k fairlead.TriggerKind) bool {
	switch k {
	case fairlead.TriggerEnter, KindSeats, KindRepin, KindRecheck:
		return true
	}
	return false
}
