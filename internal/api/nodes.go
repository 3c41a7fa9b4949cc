package api

import (
	"context"

	"github.com/fairlead/fairlead"
)

func (s *Server) listNodes(ctx context.Context, _ *inScope) (*list[fairlead.NodeView], error) {
	return all(s.People.ListNodes(ctx))
}

// Budget is a bound on what agents may spend: the item of a list that is part of the contract and empty.
type Budget struct {
	Key string `json:"key"`
}

func (s *Server) listBudgets(ctx context.Context, in *inScope) (*list[Budget], error) {
	_, err := in.resolve(ctx)
	return all([]Budget(nil), err)
}
