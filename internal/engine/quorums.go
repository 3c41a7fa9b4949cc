package engine

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
)

// QuorumState explains one quorum that a guard of the current step names.
type QuorumState struct {
	Step      string
	Trigger   string
	Index     int // of the move in its list
	To        string
	Guard     string // source
	Role      fairlead.Role
	Threshold string
	Needed    int // decisions of the kind that counts
	Received  int
	Missing   []fairlead.Seat // counted seats without a decision in this round
	Holds     bool
	// Reason is met, waiting, not_met (all have decided otherwise), slate_empty or unsatisfiable.
	Reason string
	Round  int
}

// Reasons of a [QuorumState] beside slate_empty and unsatisfiable.
const (
	QuorumMet     = "met"
	QuorumWaiting = "waiting"
	QuorumNotMet  = "not_met"
)

// Quorums explains every quorum the current step's guards name, in file order.
func Quorums(s Snapshot) []QuorumState {
	s = s.own()
	step := stepOf(&s)
	if step == nil {
		return nil
	}
	verdicts := effective(&s)
	var out []QuorumState
	for _, r := range quorumMoves(step) {
		for _, q := range r.action.If.Quorums {
			state := QuorumState{
				Step: step.Key, Trigger: r.label, Index: r.index, To: r.action.To, Guard: r.action.If.Source, Role: q.Role,
				Threshold: q.Threshold, Round: s.Visit.Round,
			}
			if th, err := policy.ParseThreshold(q.Threshold); err == nil {
				c := tally(&s, q.Role, verdicts)
				state.Needed, state.Received = policy.Progress(th, c)
				state.Holds = policy.Quorum(th, c, passEmpty(&s))
			}
			state.Missing = missing(&s, q.Role, verdicts)
			state.Reason = stateReason(state, hopeless(&s, q))
			out = append(out, state)
		}
	}
	return out
}

func missing(s *Snapshot, role fairlead.Role, verdicts map[string]fairlead.Verdict) (out []fairlead.Seat) {
	for _, seat := range s.Seats {
		if _, decided := verdicts[seat.ID]; seat.Role == role && counted(&seat) && !decided {
			out = append(out, seat)
		}
	}
	return out
}

func stateReason(q QuorumState, hopeless string) string {
	switch {
	case q.Holds:
		return QuorumMet
	case hopeless != "":
		return hopeless
	case len(q.Missing) > 0:
		return QuorumWaiting
	}
	return QuorumNotMet
}
