package client

import (
	"context"

	"github.com/fairlead/fairlead"
)

// ListRoutines returns the routines, each with where its schedule stands.
func (c *Client) ListRoutines(ctx context.Context) ([]fairlead.RoutineView, error) {
	return items[fairlead.RoutineView](ctx, c, path("routines"))
}

// GetRoutine returns a routine.
func (c *Client) GetRoutine(ctx context.Context, key string) (fairlead.RoutineView, error) {
	return read[fairlead.RoutineView](ctx, c, path("routines", key), nil)
}

// RoutineReceipts returns what became of a routine's fires, newest first.
func (c *Client) RoutineReceipts(ctx context.Context, key string, p Page) (fairlead.Page[fairlead.ReceiptView], error) {
	return read[fairlead.Page[fairlead.ReceiptView]](ctx, c, path("routines", key, "receipts"), p.values())
}

// ApplyRoutine adds or changes a routine.
func (c *Client) ApplyRoutine(ctx context.Context, in fairlead.RoutineBody) (fairlead.RoutineView, error) {
	return post[fairlead.RoutineView](ctx, c, path("routines"), in, in.Op)
}

// FireRoutine fires a routine now, without moving its schedule. The same operation again returns the first task.
func (c *Client) FireRoutine(ctx context.Context, key string, in fairlead.FireBody) (fairlead.FireView, error) {
	return post[fairlead.FireView](ctx, c, path("routines", key, "fire"), in, in.Op)
}

// PauseRoutine keeps a routine from firing by itself.
func (c *Client) PauseRoutine(ctx context.Context, key string, in fairlead.PauseBody) (fairlead.RoutineView, error) {
	return post[fairlead.RoutineView](ctx, c, path("routines", key, "pause"), in, in.Op)
}

// ResumeRoutine lets a routine go on.
func (c *Client) ResumeRoutine(ctx context.Context, key string, in fairlead.PauseBody) (fairlead.RoutineView, error) {
	return post[fairlead.RoutineView](ctx, c, path("routines", key, "resume"), in, in.Op)
}
