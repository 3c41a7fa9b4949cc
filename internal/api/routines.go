package api

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

// Routines are tasks that come again.
type Routines interface {
	ApplyRoutine(ctx context.Context, m control.Meta, in fairlead.RoutineBody) (fairlead.RoutineView, error)
	FireRoutine(ctx context.Context, m control.Meta, key string, in fairlead.FireBody, proof control.FireProof) (fairlead.FireView, error)
	PauseRoutine(ctx context.Context, m control.Meta, key string, in fairlead.PauseBody) (fairlead.RoutineView, error)
	ResumeRoutine(ctx context.Context, m control.Meta, key string, in fairlead.PauseBody) (fairlead.RoutineView, error)
	GetRoutine(ctx context.Context, workspace, key string) (fairlead.RoutineView, error)
	ListRoutines(ctx context.Context, workspace string) ([]fairlead.RoutineView, error)
	RoutineReceipts(ctx context.Context, workspace, key string, limit int, cursor string) (fairlead.Page[fairlead.ReceiptView], error)
}

// routineRoutes are the routes of routines.
func (s *Server) routineRoutes() {
	a, of := s.api, prefix+"/routines/{key}"
	route(a, get, prefix+"/routines", "list-routines", "List routines", 200, s.listRoutines)
	route(a, post, prefix+"/routines", "apply-routine", "Add or change a routine", 200, s.applyRoutine)
	route(a, get, of, "get-routine", "Show a routine", 200, s.getRoutine)
	route(a, get, of+"/receipts", "list-receipts", "List what became of a routine's fires", 200, s.routineReceipts)
	route(a, post, of+"/fire", "fire-routine", "Fire a routine now", 200, s.fireRoutine)
	route(a, post, of+"/pause", "pause-routine", "Pause a routine", 200, s.pauseRoutine)
	route(a, post, of+"/resume", "resume-routine", "Let a routine go on", 200, s.resumeRoutine)
}

func routine(v fairlead.RoutineView, err error) (*object[fairlead.RoutineView], error) {
	return one(200, v.Version, v, err)
}

func (s *Server) listRoutines(ctx context.Context, in *inScope) (*list[fairlead.RoutineView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return all(s.Routines.ListRoutines(ctx, workspace))
}

func (s *Server) getRoutine(ctx context.Context, in *byKey) (*object[fairlead.RoutineView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return routine(s.Routines.GetRoutine(ctx, workspace, in.Key.Key))
}

type receiptsInput struct {
	Scope
	Key
	Paging
}

func (s *Server) routineReceipts(ctx context.Context, in *receiptsInput) (*list[fairlead.ReceiptView], error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return page(s.Routines.RoutineReceipts(ctx, workspace, in.Key.Key, in.Limit, in.Cursor))
}

func (s *Server) applyRoutine(ctx context.Context, in *create[fairlead.RoutineBody]) (*object[fairlead.RoutineView], error) {
	m, err := in.meta(ctx, in.Body.Op)
	if err != nil {
		return nil, err
	}
	return routine(s.Routines.ApplyRoutine(ctx, m, in.Body))
}

type fireInput struct {
	Write
	Key
	Signature string `header:"Fairlead-Signature" maxLength:"100" doc:"sha256= and the hex HMAC-SHA256 of the Idempotency-Key, a line feed and the body under the routine's secret; a client's fire needs it."`
	Body      *fairlead.FireBody
}

func (s *Server) fireRoutine(ctx context.Context, in *fireInput) (*object[fairlead.FireView], error) {
	var body fairlead.FireBody
	if in.Body != nil {
		body = *in.Body
	}
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	v, err := s.Routines.FireRoutine(ctx, m, in.Key.Key, body, control.FireProof{Body: callOf(ctx).body, Signature: in.Signature})
	return bare(200, v, err)
}

func (s *Server) pauseRoutine(ctx context.Context, in *onKey[*fairlead.PauseBody]) (*object[fairlead.RoutineView], error) {
	body := pauseOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	return routine(s.Routines.PauseRoutine(ctx, m, in.Key.Key, body))
}

func (s *Server) resumeRoutine(ctx context.Context, in *onKey[*fairlead.PauseBody]) (*object[fairlead.RoutineView], error) {
	body := pauseOf(in.Body)
	m, err := in.meta(ctx, body.Op)
	if err != nil {
		return nil, err
	}
	return routine(s.Routines.ResumeRoutine(ctx, m, in.Key.Key, body))
}
