package control

import (
	"github.com/fairlead/fairlead"
)

// fenced checks the authority of an agent's command: its run is live, was not told to stop, and the command carries its
// fence under a live epoch. A run that may still finish its turn after its visit ended keeps its authority so long; the
// visit's number refuses what comes too late.
func (w *work) fenced() error {
	a := w.meta.Actor
	if a.Run == "" || w.meta.Fence == nil {
		return noAuthority("an agent acts by a run, with its fence")
	}
	r, err := w.tx.LoadRun(a.Run)
	if fairlead.IsCode(err, fairlead.CodeNotFound) {
		return noAuthority("there is no such run")
	}
	if err != nil {
		return err
	}
	switch {
	case r.Workspace != w.meta.Workspace || r.Agent != a.Key || r.Assignment != a.Assignment:
		return noAuthority("the run is not this agent's")
	case r.Status != fairlead.RunClaimed && r.Status != fairlead.RunRunning:
		return noAuthority("the run has ended or was told to stop")
	case r.Fence != *w.meta.Fence:
		return noAuthority("this claim of the run is over")
	}
	nodes, err := w.tx.LiveNodes()
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.ID == r.Node && n.Epoch == r.Epoch {
			return nil
		}
	}
	return noAuthority("the node of the run is dead")
}

func noAuthority(why string) error {
	return fairlead.Errorf(fairlead.CodeForbidden, "%s", why).WithHint("end the turn; nothing more of it is accepted")
}
