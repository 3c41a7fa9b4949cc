package client

import (
	"context"

	"github.com/fairlead/fairlead"
)

// ApplyAgent adds or changes an agent.
func (c *Client) ApplyAgent(ctx context.Context, in fairlead.AgentBody) (fairlead.AgentView, error) {
	return post[fairlead.AgentView](ctx, c, path("agents"), in, in.Op)
}

// ListAgents returns all agents.
func (c *Client) ListAgents(ctx context.Context) ([]fairlead.AgentView, error) {
	return items[fairlead.AgentView](ctx, c, path("agents"))
}

// GetAgent returns an agent.
func (c *Client) GetAgent(ctx context.Context, key string) (fairlead.AgentView, error) {
	return read[fairlead.AgentView](ctx, c, path("agents", key), nil)
}

// PauseAgent keeps an agent from being given more work.
func (c *Client) PauseAgent(ctx context.Context, key string, in fairlead.PauseBody) (fairlead.AgentView, error) {
	return post[fairlead.AgentView](ctx, c, path("agents", key, "pause"), in, in.Op)
}

// ResumeAgent lets an agent go on.
func (c *Client) ResumeAgent(ctx context.Context, key string, in fairlead.PauseBody) (fairlead.AgentView, error) {
	return post[fairlead.AgentView](ctx, c, path("agents", key, "resume"), in, in.Op)
}
