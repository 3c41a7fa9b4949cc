package api

import (
	"context"
	"slices"

	"github.com/fairlead/fairlead"
)

func (s *Server) listPeople(ctx context.Context, in *inScope) (*list[fairlead.PersonView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return all(s.People.ListPeople(ctx, workspace))
}

func (s *Server) addPerson(ctx context.Context, in *create[fairlead.KeyNameBody]) (*object[fairlead.PersonView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.People.AddPerson(ctx, m, in.Body)
	return bare(201, v, err)
}

// listWorkspaces shows a token that is bound to one workspace nothing but that one.
func (s *Server) listWorkspaces(ctx context.Context, _ *inScope) (*list[fairlead.WorkspaceView], error) {
	own := callOf(ctx).caller.Workspace
	views, err := s.People.ListWorkspaces(ctx)
	if own != "" {
		views = slices.DeleteFunc(slices.Clone(views), func(v fairlead.WorkspaceView) bool { return v.Key != own })
	}
	return all(views, err)
}

func (s *Server) addWorkspace(ctx context.Context, in *create[fairlead.KeyNameBody]) (*object[fairlead.WorkspaceView], error) {
	if err := everywhere(ctx); err != nil {
		return nil, err
	}
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.People.AddWorkspace(ctx, m, in.Body)
	return bare(201, v, err)
}

func (s *Server) listTokens(ctx context.Context, in *inScope) (*list[fairlead.TokenView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return all(s.People.ListTokens(ctx, workspace))
}

func (s *Server) addToken(ctx context.Context, in *create[fairlead.TokenBody]) (*object[fairlead.TokenView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.People.AddToken(ctx, m, in.Body)
	return bare(201, v, err)
}
