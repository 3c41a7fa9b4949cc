package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

func (s *Server) listWorkflows(ctx context.Context, in *inScope) (*list[fairlead.WorkflowView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	views, err := s.Workflows.ListWorkflows(ctx, workspace)
	for i := range views {
		views[i] = withSteps(views[i])
	}
	return all(views, err)
}

type workflowInput struct {
	Scope
	Key
	IfNoneMatch string `header:"If-None-Match"`
}

// getWorkflow is the one route that answers 304: a version of a workflow never changes, while other objects show facts
// that their version does not count.
func (s *Server) getWorkflow(ctx context.Context, in *workflowInput) (*object[fairlead.WorkflowView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.Workflows.GetWorkflow(ctx, workspace, in.Key.Key)
	if err != nil {
		return nil, err
	}
	if tag := etag(int64(v.Version)); sameTag(in.IfNoneMatch, tag) {
		return &object[fairlead.WorkflowView]{Status: http.StatusNotModified, ETag: tag}, nil
	}
	return one(200, int64(v.Version), withSteps(v), nil)
}

// saveWorkflow answers 201 when the call made a version, and 200 when the same content stood there already.
func (s *Server) saveWorkflow(ctx context.Context, in *create[fairlead.WorkflowBody]) (*object[fairlead.WorkflowView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.Workflows.SaveWorkflow(ctx, m, in.Body)
	status := 200
	if v.Saved {
		status = 201
	}
	return one(status, int64(v.Version), withSteps(v), err)
}

// SourceBody is a document to look at.
type SourceBody struct {
	Source string `json:"source" doc:"The document, YAML."`
}

type lintInput struct {
	Scope
	Body SourceBody
}

func (s *Server) lintWorkflow(ctx context.Context, in *lintInput) (*object[fairlead.LintResult], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.Workflows.LintWorkflow(ctx, workspace, in.Body.Source)
	return bare(200, v, err)
}

type simulateInput struct {
	Scope
	Body fairlead.SimulateBody
}

func (s *Server) simulateWorkflow(ctx context.Context, in *simulateInput) (*object[fairlead.Outcome], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return outcome(s.Workflows.Simulate(ctx, workspace, in.Body))
}

type schemaOutput struct {
	Body func(huma.Context)
}

func (s *Server) workflowSchema(context.Context, *inScope) (*schemaOutput, error) {
	return &schemaOutput{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/schema+json")
		_, _ = ctx.BodyWriter().Write(workflow.Schema()) // a caller who has gone
	}}, nil
}

func withSteps(v fairlead.WorkflowView) fairlead.WorkflowView {
	if v.Steps == nil {
		v.Steps = []fairlead.StepView{}
	}
	return v
}
