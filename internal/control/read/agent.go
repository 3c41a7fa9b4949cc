package read

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// GetAgent shows an agent's profile with what it does now.
func (r *Reader) GetAgent(ctx context.Context, ws, key string) (fairlead.AgentView, error) {
	return ask(ctx, r, "show agent", func(tx *store.ReadTx) (fairlead.AgentView, error) {
		if err := CheckWorkspace(tx, ws); err != nil {
			return fairlead.AgentView{}, err
		}
		p, err := Agent(tx, ws, key)
		if err != nil {
			return fairlead.AgentView{}, err
		}
		return AgentView(tx, p)
	})
}

// Agent finds an agent of a workspace.
func Agent(tx *store.ReadTx, ws, key string) (fairlead.AgentProfile, error) {
	p, err := tx.LoadAgent(ws, key)
	if fairlead.IsCode(err, fairlead.CodeNotFound) {
		return p, fairlead.Errorf(fairlead.CodeNotFound, "no such agent").WithHint("list the agents with: fairlead agent list")
	}
	return p, err
}

// ListAgents lists the agents of a workspace by key.
func (r *Reader) ListAgents(ctx context.Context, ws string) ([]fairlead.AgentView, error) {
	return ask(ctx, r, "list agents", func(tx *store.ReadTx) ([]fairlead.AgentView, error) {
		out := []fairlead.AgentView{}
		if err := CheckWorkspace(tx, ws); err != nil {
			return out, err
		}
		profiles, err := tx.ListAgents(ws)
		if err != nil {
			return out, err
		}
		for _, p := range profiles {
			v, err := AgentView(tx, p)
			if err != nil {
				return out, err
			}
			out = append(out, v)
		}
		return out, nil
	})
}

// AgentView shows an agent as it stands in the caller's transaction.
func AgentView(tx *store.ReadTx, p fairlead.AgentProfile) (v fairlead.AgentView, err error) {
	v = fairlead.AgentView{
		AgentProfile: p, Paused: p.Paused, PauseReason: p.PauseReason, Version: p.Version, UpdatedAt: fairlead.StampOf(p.UpdatedAt),
	}
	live, err := tx.LiveRunsOf(p.Workspace, p.Key)
	if err != nil {
		return v, err
	}
	for _, run := range live {
		v.Live = append(v.Live, run.ID)
	}
	v.Queued, err = tx.QueuedOf(p.Workspace, p.Key)
	return v, err
}
