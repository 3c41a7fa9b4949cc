package api

import (
	"context"

	"github.com/fairlead/fairlead"
)

// ofTask answers a question about one task.
func ofTask[T any](ctx context.Context, in *byID, ask func(context.Context, string, string) (fairlead.Page[T], error)) (*list[T], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return page(ask(ctx, workspace, in.ID.ID))
}

func (s *Server) quorum(ctx context.Context, in *byID) (*list[fairlead.QuorumView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return all(s.TaskReads.Quorum(ctx, workspace, in.ID.ID))
}

func (s *Server) transitions(ctx context.Context, in *byID) (*list[fairlead.TransitionView], error) {
	return ofTask(ctx, in, s.TaskReads.Transitions)
}

func (s *Server) sessions(ctx context.Context, in *byID) (*list[fairlead.SessionView], error) {
	return ofTask(ctx, in, s.TaskReads.Sessions)
}

func (s *Server) taskRuns(ctx context.Context, in *byID) (*list[fairlead.RunView], error) {
	return ofTask(ctx, in, s.TaskReads.TaskRuns)
}

func (s *Server) listComments(ctx context.Context, in *byID) (*list[fairlead.CommentView], error) {
	return ofTask(ctx, in, s.TaskReads.Comments)
}

type journalInput struct {
	Scope
	ID
	After int64 `query:"after" minimum:"0" doc:"The last seq that the caller has."`
	Limit int   `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

func (s *Server) journal(ctx context.Context, in *journalInput) (*list[fairlead.RecordView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return page(s.TaskReads.Journal(ctx, workspace, in.ID.ID, in.After, in.Limit))
}
