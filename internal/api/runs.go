package api

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

type runsInput struct {
	Scope
	Paging
	Task   string `query:"task"`
	Agent  string `query:"agent"`
	Status string `query:"status" enum:"queued,claimed,running,stopping,succeeded,parked,cancelled,superseded,dead"`
	Step   string `query:"step"`
}

func (s *Server) listRuns(ctx context.Context, in *runsInput) (*list[fairlead.RunView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return page(s.RunReads.ListRuns(ctx, workspace, control.RunQuery{
		Task: in.Task, Agent: in.Agent, Status: in.Status, Step: in.Step, Limit: in.Limit, Cursor: in.Cursor,
	}))
}

func (s *Server) getRun(ctx context.Context, in *byID) (*object[fairlead.RunView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return run(s.RunReads.GetRun(ctx, workspace, in.ID.ID))
}

func (s *Server) whyRun(ctx context.Context, in *byID) (*list[fairlead.Hold], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return all(s.RunReads.Why(ctx, workspace, in.ID.ID))
}

func (s *Server) cancelRun(ctx context.Context, in *onID[*fairlead.OpBody]) (*object[fairlead.RunView], error) {
	body := opOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	return run(s.Runs.CancelRun(ctx, m, in.ID.ID, body))
}

func (s *Server) retryRun(ctx context.Context, in *onID[*fairlead.OpBody]) (*object[fairlead.RunView], error) {
	body := opOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	return run(s.Runs.RetryRun(ctx, m, in.ID.ID, body))
}

func (s *Server) releaseRun(ctx context.Context, in *onID[*fairlead.OpBody]) (*object[fairlead.RunView], error) {
	body := opOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	return run(s.Runs.ReleaseRun(ctx, m, in.ID.ID, body))
}
