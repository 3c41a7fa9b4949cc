package client

import (
	"context"
	"net/http"

	"github.com/fairlead/fairlead"
)

// SaveWorkflow saves a workflow; the same content again makes no version.
func (c *Client) SaveWorkflow(ctx context.Context, in fairlead.WorkflowBody) (fairlead.WorkflowView, error) {
	return post[fairlead.WorkflowView](ctx, c, path("workflows"), in, in.Op)
}

// ListWorkflows returns all workflows.
func (c *Client) ListWorkflows(ctx context.Context) ([]fairlead.WorkflowView, error) {
	return items[fairlead.WorkflowView](ctx, c, path("workflows"))
}

// GetWorkflow returns a workflow with its source.
func (c *Client) GetWorkflow(ctx context.Context, key string) (fairlead.WorkflowView, error) {
	return read[fairlead.WorkflowView](ctx, c, path("workflows", key), nil)
}

// WorkflowSchema returns the JSON Schema of workflow documents.
func (c *Client) WorkflowSchema(ctx context.Context) ([]byte, error) {
	return read[[]byte](ctx, c, path("workflows", "schema.json"), nil)
}

// LintWorkflow checks a workflow and saves nothing.
func (c *Client) LintWorkflow(ctx context.Context, source string) (fairlead.LintResult, error) {
	var out fairlead.LintResult
	err := c.do(ctx, http.MethodPost, path("workflows", "lint"), nil, map[string]string{"source": source}, nil, &out)
	return out, err
}

// Simulate tells what a trigger would do on a made-up task.
func (c *Client) Simulate(ctx context.Context, in fairlead.SimulateBody) (fairlead.Outcome, error) {
	var out fairlead.Outcome
	err := c.do(ctx, http.MethodPost, path("workflows", "simulate"), nil, in, nil, &out)
	return out, err
}
