package api

import (
	"context"

	"github.com/fairlead/fairlead"
)

func agent(v fairlead.AgentView, err error) (*object[fairlead.AgentView], error) {
	return one(200, v.Version, v, err)
}

func (s *Server) listAgents(ctx context.Context, in *inScope) (*list[fairlead.AgentView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return all(s.Agents.ListAgents(ctx, workspace))
}

func (s *Server) getAgent(ctx context.Context, in *byKey) (*object[fairlead.AgentView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return agent(s.Agents.GetAgent(ctx, workspace, in.Key.Key))
}

func (s *Server) applyAgent(ctx context.Context, in *create[fairlead.AgentBody]) (*object[fairlead.AgentView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	return agent(s.Agents.ApplyAgent(ctx, m, in.Body))
}

func (s *Server) pauseAgent(ctx context.Context, in *onKey[*fairlead.PauseBody]) (*object[fairlead.AgentView], error) {
	body := pauseOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	return agent(s.Agents.PauseAgent(ctx, m, in.Key.Key, body))
}

func (s *Server) resumeAgent(ctx context.Context, in *onKey[*fairlead.PauseBody]) (*object[fairlead.AgentView], error) {
	body := pauseOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	return agent(s.Agents.ResumeAgent(ctx, m, in.Key.Key, body))
}

func pauseOf(b *fairlead.PauseBody) fairlead.PauseBody {
	if b == nil {
		return fairlead.PauseBody{}
	}
	return *b
}
