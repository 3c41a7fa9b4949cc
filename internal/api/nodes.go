package api

import (
	"context"

	"github.com/fairlead/fairlead"
)

func (s *Server) listNodes(ctx context.Context, _ *inScope) (*list[fairlead.NodeView], error) {
	return all(s.People.ListNodes(ctx))
}
