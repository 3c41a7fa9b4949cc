package control

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
)

// profile returns the agent of a run.
func (w *work) profile(r *fairlead.Run) (fairlead.AgentProfile, error) {
	f, err := w.c.catalog.Facts(&w.tx.ReadTx, r.Workspace)
	if err != nil {
		return fairlead.AgentProfile{}, err
	}
	p, ok := f.Profiles[r.Agent]
	if !ok {
		return p, fmt.Errorf("load profile: agent %s is gone", r.Agent)
	}
	return p, nil
}

// standing locks the holds that the end of a run may change, and returns them with the run's agent.
func (w *work) standing(r *fairlead.Run) ([]fairlead.StandingHold, fairlead.AgentProfile, error) {
	p, err := w.profile(r)
	if err != nil {
		return nil, p, err
	}
	held, err := w.tx.LockHolds(r.Workspace, p.AccountRef(), r.Agent, r.ID)
	return held, p, err
}

// holdOf picks the hold of a kind; the account's one by the account that the agent has now.
func holdOf(held []fairlead.StandingHold, kind fairlead.HoldKind, ref string) *fairlead.StandingHold {
	i := slices.IndexFunc(held, func(h fairlead.StandingHold) bool { return h.Kind == kind && h.Ref == ref })
	if i < 0 {
		return nil
	}
	return &held[i]
}

// hold makes a standing hold for a time. When another command made it at the same moment, that one stands.
func (w *work) hold(h fairlead.StandingHold) error {
	h.ID, h.State, h.Since, h.Until = w.id(fairlead.PrefixHold), fairlead.HoldShut, w.now, w.now.Add(h.Wait)
	fresh, err := w.tx.InsertHold(&h)
	if err != nil || !fresh {
		return err
	}
	return w.holdTimer(&h)
}

// shut lets a hold stand for another while.
func (w *work) shut(h *fairlead.StandingHold, wait time.Duration) error {
	h.State, h.Probe, h.Wait, h.Until = fairlead.HoldShut, "", wait, w.now.Add(wait)
	if err := w.tx.SaveHold(h); err != nil {
		return err
	}
	return w.holdTimer(h)
}

// again shuts a hold whose release did not lead to a success, for longer than before. The inbox hears of one that has
// stood for a day.
func (w *work) again(h *fairlead.StandingHold, stated time.Duration, why string) error {
	h.Reason = why
	if !h.Noted && !w.now.Before(h.Since.Add(policy.HoldNotice)) {
		h.Noted = true
		if err := w.holdNotice(h.Kind, "hold", holdText(h), map[string]any{"ref": h.Ref}); err != nil {
			return err
		}
	}
	return w.shut(h, policy.AgainAfter(h.Wait, stated))
}

func holdText(h *fairlead.StandingHold) string {
	if h.Kind == fairlead.HoldBreaker {
		return "The agent " + h.Ref + " has been held for a day: " + h.Reason
	}
	return "The account " + h.Ref + " has been refused for a day: " + h.Reason
}

func (w *work) holdTimer(h *fairlead.StandingHold) error {
	return w.tx.PutTimer(&fairlead.Timer{
		ID: w.id(fairlead.PrefixTimer), Workspace: h.Workspace, Kind: fairlead.TimerHold, Ref: h.ID, DueAt: h.Until,
	})
}

// holdOver writes the fact that a hold's time is over: a cool-down ends, behind another hold one run may go first.
func (w *work) holdOver(id string) error {
	h, err := w.tx.LockHold(id)
	if err != nil || h == nil || h.State != fairlead.HoldShut {
		return err
	}
	w.look()
	if h.Kind == fairlead.HoldCooldown {
		return w.tx.DropHold(h.ID)
	}
	h.State = fairlead.HoldReady
	return w.tx.SaveHold(h)
}

// release ends a hold for good. Whoever it held is told to look.
func (w *work) release(h *fairlead.StandingHold) error {
	if _, err := w.tx.DeleteTimer(fairlead.TimerHold, h.ID); err != nil {
		return err
	}
	w.look()
	return w.tx.DropHold(h.ID)
}

// probed tells the holds behind which a run went first how it ended.
func (w *work) probed(r *fairlead.Run, becomes fairlead.RunStatus) error {
	held, _, err := w.standing(r)
	if err != nil {
		return err
	}
	for i := range held {
		h := &held[i]
		if h.Probe != r.ID {
			continue
		}
		switch policy.Probe(h.Kind, becomes, r.ErrorClass) {
		case policy.ProbePasses:
			err = w.release(h)
		case policy.ProbeHolds:
			err = w.again(h, 0, r.ErrorMessage)
		case policy.ProbeUnclear:
			h.State, h.Probe = fairlead.HoldReady, ""
			w.look()
			err = w.tx.SaveHold(h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// closeBreaker releases an agent that failed again and again: a person says that it may work.
func (w *work) closeBreaker(p *fairlead.AgentProfile) error {
	held, err := w.tx.LockHolds(p.Workspace, p.AccountRef(), p.Key, "")
	if err != nil {
		return err
	}
	if h := holdOf(held, fairlead.HoldBreaker, p.Key); h != nil {
		return w.release(h)
	}
	return nil
}

// coolDown begins the pause of an agent whose run has ended: until it is over, the queue gives it nothing.
func (w *work) coolDown(r *fairlead.Run) error {
	p, err := w.profile(r)
	if err != nil || p.Cooldown == "" {
		return err
	}
	pause, err := time.ParseDuration(p.Cooldown)
	if err != nil || pause <= 0 {
		return nil //nolint:nilerr // profiles are checked when they are applied
	}
	held, _, err := w.standing(r)
	if err != nil {
		return err
	}
	if h := holdOf(held, fairlead.HoldCooldown, r.Agent); h != nil {
		return w.shut(h, pause)
	}
	return w.hold(fairlead.StandingHold{Workspace: r.Workspace, Kind: fairlead.HoldCooldown, Ref: r.Agent, Wait: pause})
}
