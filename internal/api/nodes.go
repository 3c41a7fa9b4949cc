package api

import (
	"context"

	"github.com/fairlead/fairlead"
)

func (s *Server) listNodes(ctx context.Context, _ *inScope) (*list[fairlead.NodeView], error) {
	return all(s.People.ListNodes(ctx))
}

// Routine and Budget are the items of lists that are part of the contract and empty: nothing makes either yet.
type (
	// Routine is a scheduled task.
	Routine struct {
		Key string `json:"key"`
	}
)

func (s *Server) listRoutines(ctx context.Context, in *inScope) (*list[Routine], error) {
	_, err := in.resolve(ctx)
	return all([]Routine(nil), err)
}
