package control

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
)

// stands loads the standing holds of the run's agent and account, once.
func (g *gate) stands() ([]fairlead.StandingHold, error) {
	if g.standing == nil {
		held, err := g.tx.HoldsOf(g.run.Workspace, g.agent.AccountRef(), g.run.Agent)
		if err != nil {
			return nil, err
		}
		g.standing = &held
	}
	return *g.standing, nil
}

// limited holds the runs of an account that the provider limits, and those of an agent whose breaker is open. One whose
// time is over lets this run go first.
func (g *gate) limited() ([]fairlead.Hold, error) {
	standing, err := g.stands()
	if err != nil {
		return nil, err
	}
	var holds []fairlead.Hold
	g.ready = nil
	for _, s := range standing {
		switch {
		case s.Kind == fairlead.HoldCooldown:
		case s.State == fairlead.HoldReady:
			g.ready = append(g.ready, s)
		case s.Probe != g.run.ID:
			holds = append(holds, shown(s))
		}
	}
	return holds, nil
}

// cooling holds the runs of an agent for a while after its last one. A person's launch passes.
func (g *gate) cooling() ([]fairlead.Hold, error) {
	if g.direct {
		return nil, nil
	}
	standing, err := g.stands()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(standing, func(s fairlead.StandingHold) bool { return s.Kind == fairlead.HoldCooldown })
	if i < 0 {
		return nil, nil
	}
	return one(shown(standing[i]))
}

// shown is a standing hold as people are told of it. What it knows of another run is the run's id alone.
func shown(s fairlead.StandingHold) fairlead.Hold {
	h := policy.Hold(s.Kind, s.Ref)
	if s.Kind == fairlead.HoldCooldown {
		h.Until = fairlead.StampPtr(s.Until)
		return h
	}
	h.Data = map[string]any{"since": fairlead.StampOf(s.Since), "reason": s.Reason}
	if s.State == fairlead.HoldProbing {
		h.Data["probe"] = s.Probe
	} else {
		h.Until = fairlead.StampPtr(s.Until)
	}
	return h
}

// goFirst makes a claimed run the one that goes first behind each hold whose time is over. Another one that was faster
// makes this claim a miss.
func (w *work) goFirst(r *fairlead.Run, ready []fairlead.StandingHold) error {
	for i := range ready { // in the order of kind and reference, as all lock them
		if ok, err := w.tx.TakeProbe(&ready[i], r.ID); err != nil || !ok {
			return missed(err, "hold")
		}
	}
	return nil
}
