package api

import (
	"context"

	"github.com/fairlead/fairlead"
)

func (s *Server) addComment(ctx context.Context, in *onID[fairlead.CommentBody]) (*object[fairlead.CommentView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.TaskParts.Comment(ctx, m, in.ID.ID, in.Body)
	return bare(201, v, err)
}

func (s *Server) decideTask(ctx context.Context, in *onID[fairlead.DecisionBody]) (*object[fairlead.Outcome], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	return outcome(s.TaskParts.Decide(ctx, m, in.ID.ID, in.Body))
}

func (s *Server) addParticipant(ctx context.Context, in *onID[fairlead.ParticipantBody]) (*object[fairlead.TaskView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.TaskParts.AddParticipant(ctx, m, in.ID.ID, in.Body)
	return task(201, v, err)
}

type participantInput struct {
	Write
	ID
	Participant string `path:"participant" pattern:"^[A-Za-z0-9_-]+$" patternDescription:"letters, digits, - and _" maxLength:"80" doc:"Id of a participant or of a seat."`
	Body        *fairlead.OpBody
}

func (s *Server) removeParticipant(ctx context.Context, in *participantInput) (*object[fairlead.TaskView], error) {
	body := opOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.TaskParts.RemoveParticipant(ctx, m, in.ID.ID, in.Participant, body)
	return task(200, v, err)
}

func (s *Server) addBlocker(ctx context.Context, in *onID[fairlead.BlockerBody]) (*object[fairlead.TaskView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.TaskParts.AddBlocker(ctx, m, in.ID.ID, in.Body)
	return task(201, v, err)
}

type blockerInput struct {
	Write
	ID
	Task string `path:"task" pattern:"^[A-Za-z0-9_-]+$" patternDescription:"letters, digits, - and _" maxLength:"80" doc:"Id or identifier of the task that is waited for."`
	Body *fairlead.OpBody
}

func (s *Server) removeBlocker(ctx context.Context, in *blockerInput) (*object[fairlead.TaskView], error) {
	body := opOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.TaskParts.RemoveBlocker(ctx, m, in.ID.ID, in.Task, body)
	return task(200, v, err)
}
