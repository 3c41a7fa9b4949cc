package control

import (
	"bytes"
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/workflow"
)

// ApplyAgent makes or changes an agent of the workspace from a YAML document. The same profile again changes nothing.
// An agent that is given a duty gets its standing task, if the workspace has the workflow for it.
func (c *Control) ApplyAgent(ctx context.Context, m Meta, body fairlead.AgentBody) (fairlead.AgentView, error) {
	if m.Op == "" {
		m.Op = body.Op
	}
	body.Op = ""
	v, err := do(ctx, c, m, command{name: "apply agent", run: m.Actor.Run, body: body}, func(w *work) (fairlead.AgentView, error) {
		if err := w.personOnly("agents"); err != nil {
			return fairlead.AgentView{}, err
		}
		p, report := workflow.ParseAgent([]byte(body.Source))
		if err := report.Err(); err != nil {
			return fairlead.AgentView{}, err
		}
		return w.applyAgent(p)
	})
	if err == nil && v.Duty != "" {
		err = c.ensureCoordination(background(ctx), m.Workspace, v.Key)
	}
	return v, err
}

func (w *work) applyAgent(p fairlead.AgentProfile) (fairlead.AgentView, error) {
	none := fairlead.AgentView{}
	if err := w.tx.LockWorkspace(w.meta.Workspace); err != nil {
		return none, err
	}
	p.Workspace = w.meta.Workspace
	old, err := w.tx.LoadAgent(p.Workspace, p.Key)
	there := err == nil
	switch {
	case err != nil && !fairlead.IsCode(err, fairlead.CodeNotFound):
		return none, err
	case there && bytes.Equal(marshal(old), marshal(p)):
		return read.AgentView(&w.tx.ReadTx, old)
	}
	if err := w.ifVersion(old.Version); err != nil {
		return none, err
	}
	if err := w.putAgent(&p); err != nil {
		return none, err
	}
	// More slots, other labels, another account: what was held may be free now.
	w.c.dispatch.WakeTx(w.tx)
	v, err := read.AgentView(&w.tx.ReadTx, p)
	if err != nil {
		return none, err
	}
	return v, w.workspaceChanged()
}

func (w *work) putAgent(p *fairlead.AgentProfile) error {
	if err := w.tx.UpsertAgent(p); err != nil {
		return err
	}
	w.emit(fairlead.Event{
		Kind: fairlead.EventAgentUpdated, Workspace: p.Workspace, Version: p.Version,
		Data: marshal(map[string]any{"agent": p.Key, "paused": p.Paused}),
	})
	return nil
}

// PauseAgent keeps an agent's runs in the queue, held with the reason. What it works on now goes on.
func (c *Control) PauseAgent(ctx context.Context, m Meta, key string, body fairlead.PauseBody) (fairlead.AgentView, error) {
	return c.setPaused(ctx, m, "pause agent", key, body, true)
}

// ResumeAgent releases what the pause held, and what the breaker of the agent holds.
func (c *Control) ResumeAgent(ctx context.Context, m Meta, key string, body fairlead.PauseBody) (fairlead.AgentView, error) {
	return c.setPaused(ctx, m, "resume agent", key, body, false)
}

func (c *Control) setPaused(ctx context.Context, m Meta, name, key string, body fairlead.PauseBody, paused bool) (fairlead.AgentView, error) {
	if m.Op == "" {
		m.Op = body.Op
	}
	cmd := command{name: name, run: m.Actor.Run, body: struct{ Agent, Reason string }{key, body.Reason}}
	return do(ctx, c, m, cmd, func(w *work) (fairlead.AgentView, error) {
		none := fairlead.AgentView{}
		if err := w.personOnly("agents"); err != nil {
			return none, err
		}
		p, err := read.Agent(&w.tx.ReadTx, m.Workspace, key)
		if err != nil {
			return none, err
		}
		if err := w.ifVersion(p.Version); err != nil {
			return none, err
		}
		if !paused {
			if err := w.closeBreaker(&p); err != nil {
				return none, err
			}
		}
		if p.Paused == paused && (!paused || p.PauseReason == body.Reason) {
			return read.AgentView(&w.tx.ReadTx, p)
		}
		reason := ""
		if paused {
			reason = body.Reason
		}
		if err := w.tx.SetAgentPaused(m.Workspace, key, paused, reason); err != nil {
			return none, err
		}
		w.emit(fairlead.Event{Kind: fairlead.EventAgentUpdated, Data: marshal(map[string]any{"agent": key, "paused": paused, "reason": reason})})
		w.c.dispatch.WakeTx(w.tx)
		if p, err = w.tx.LoadAgent(m.Workspace, key); err != nil {
			return none, err
		}
		v, err := read.AgentView(&w.tx.ReadTx, p)
		if err != nil {
			return none, err
		}
		return v, w.workspaceChanged()
	})
}
