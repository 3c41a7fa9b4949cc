package api

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

type requestsInput struct {
	Scope
	Paging
	State  string `query:"state" enum:"open,answered,declined,expired,withdrawn,superseded,undelivered" default:"open"`
	Task   string `query:"task"`
	Kind   string `query:"kind"`
	Person string `query:"person" doc:"Asked of this person, or of everybody."`
}

func (s *Server) listRequests(ctx context.Context, in *requestsInput) (*list[fairlead.RequestView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return page(s.Requests.ListRequests(ctx, workspace, control.RequestQuery{
		State: in.State, Task: in.Task, Kind: in.Kind, Person: in.Person, Limit: in.Limit, Cursor: in.Cursor,
	}))
}

func (s *Server) getRequest(ctx context.Context, in *byID) (*object[fairlead.RequestView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.Requests.GetRequest(ctx, workspace, in.ID.ID)
	return one(200, v.Version, v, err)
}

func (s *Server) answerRequest(ctx context.Context, in *onID[fairlead.AnswerBody]) (*object[fairlead.RequestView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.Requests.Answer(ctx, m, in.ID.ID, in.Body)
	return one(200, v.Version, v, err)
}

type inboxInput struct {
	Scope
	Person string `query:"person" doc:"Whose inbox; default the token's own person, and everybody's for other tokens."`
}

func (s *Server) inbox(ctx context.Context, in *inboxInput) (*object[fairlead.Inbox], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	person := in.Person
	if caller := callOf(ctx).caller.Actor; person == "" && caller.Kind == fairlead.ActorPerson {
		person = caller.Key
	}
	v, err := s.Requests.Inbox(ctx, workspace, person)
	if v.Requests == nil {
		v.Requests = []fairlead.RequestView{}
	}
	if v.Notices == nil {
		v.Notices = []fairlead.NoticeView{}
	}
	return bare(200, v, err)
}

func (s *Server) dismissNotice(ctx context.Context, in *onID[*fairlead.OpBody]) (*struct{}, error) {
	body := opOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	return nil, s.Requests.DismissNotice(ctx, m, in.ID.ID, body)
}
