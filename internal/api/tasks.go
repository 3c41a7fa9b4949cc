package api

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

type tasksInput struct {
	Scope
	Paging
	Workflow  string `query:"workflow"`
	Step      string `query:"step"`
	State     string `query:"state" enum:"done,cancelled,needs_you,running,failed,paused,queued,waiting,todo"`
	Label     string `query:"label"`
	Q         string `query:"q" maxLength:"200" doc:"Part of identifier, title or description; case does not matter."`
	Parent    string `query:"parent"`
	Archived  bool   `query:"archived" doc:"Archived tasks too."`
	Ephemeral bool   `query:"ephemeral" doc:"Ephemeral tasks too."`
}

func (s *Server) listTasks(ctx context.Context, in *tasksInput) (*list[fairlead.TaskView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return page(s.TaskReads.ListTasks(ctx, workspace, control.TaskQuery{
		Workflow: in.Workflow, Step: in.Step, State: in.State, Label: in.Label, Q: in.Q, Parent: in.Parent,
		Archived: in.Archived, Ephemeral: in.Ephemeral, Limit: in.Limit, Cursor: in.Cursor,
	}))
}

func (s *Server) getTask(ctx context.Context, in *byID) (*object[fairlead.TaskView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.TaskReads.GetTask(ctx, workspace, in.ID.ID)
	return task(200, v, err)
}

func (s *Server) createTask(ctx context.Context, in *create[fairlead.NewTask]) (*object[fairlead.TaskView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.Tasks.CreateTask(ctx, m, in.Body)
	return task(201, v, err)
}

func (s *Server) updateTask(ctx context.Context, in *onID[fairlead.TaskPatch]) (*object[fairlead.TaskView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.Tasks.UpdateTask(ctx, m, in.ID.ID, in.Body)
	return task(200, v, err)
}

func (s *Server) moveTask(ctx context.Context, in *onID[fairlead.MoveBody]) (*object[fairlead.Outcome], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	return outcome(s.Tasks.Move(ctx, m, in.ID.ID, in.Body))
}

type triggerInput struct {
	Write
	ID
	DryRun bool `query:"dry_run" doc:"Change nothing and show what would happen."`
	Body   fairlead.TriggerBody
}

func (s *Server) triggerTask(ctx context.Context, in *triggerInput) (*object[fairlead.Outcome], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	return outcome(s.Tasks.Trigger(ctx, m, in.ID.ID, in.Body, in.DryRun))
}

func (s *Server) repinTask(ctx context.Context, in *onID[*fairlead.RepinBody]) (*object[fairlead.Outcome], error) {
	var body fairlead.RepinBody
	if in.Body != nil {
		body = *in.Body
	}
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	return outcome(s.Tasks.Repin(ctx, m, in.ID.ID, body))
}

func (s *Server) archiveTask(ctx context.Context, in *onID[*fairlead.OpBody]) (*object[fairlead.TaskView], error) {
	body := opOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.Tasks.Archive(ctx, m, in.ID.ID, body)
	return task(200, v, err)
}

func (s *Server) startTask(ctx context.Context, in *onID[*fairlead.StartBody]) (*object[fairlead.StartResult], error) {
	var body fairlead.StartBody
	if in.Body != nil {
		body = *in.Body
	}
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.Runs.Start(ctx, m, in.ID.ID, body)
	if !v.Launched {
		return bare(202, v, err)
	}
	return bare(200, v, err)
}

func (s *Server) stopTask(ctx context.Context, in *onID[*fairlead.OpBody]) (*object[fairlead.TaskView], error) {
	body := opOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.Runs.Stop(ctx, m, in.ID.ID, body)
	return task(200, v, err)
}
