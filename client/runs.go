package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/fairlead/fairlead"
)

// ListRuns returns a page of runs.
func (c *Client) ListRuns(ctx context.Context, q RunQuery) (fairlead.Page[fairlead.RunView], error) {
	return read[fairlead.Page[fairlead.RunView]](ctx, c, path("runs"), q.values())
}

// GetRun returns a run.
func (c *Client) GetRun(ctx context.Context, id string) (fairlead.RunView, error) {
	return read[fairlead.RunView](ctx, c, path("runs", id), nil)
}

// Why returns what keeps a run from being claimed; none = nothing.
func (c *Client) Why(ctx context.Context, id string) ([]fairlead.Hold, error) {
	return items[fairlead.Hold](ctx, c, path("runs", id, "why"))
}

// RunEvents returns what a run did behind seq after.
func (c *Client) RunEvents(ctx context.Context, id string, after int64) (fairlead.Page[fairlead.RunEventView], error) {
	q := url.Values{"after": {strconv.FormatInt(after, 10)}}
	return read[fairlead.Page[fairlead.RunEventView]](ctx, c, path("runs", id, "events"), q)
}

// CancelRun cancels a run.
func (c *Client) CancelRun(ctx context.Context, id string, in fairlead.OpBody) (fairlead.RunView, error) {
	return post[fairlead.RunView](ctx, c, path("runs", id, "cancel"), in, in.Op)
}

// RetryRun tries a dead run again.
func (c *Client) RetryRun(ctx context.Context, id string, in fairlead.OpBody) (fairlead.RunView, error) {
	return post[fairlead.RunView](ctx, c, path("runs", id, "retry"), in, in.Op)
}

// ReleaseRun lets a queued run go from the dead node that has its worktree.
func (c *Client) ReleaseRun(ctx context.Context, id string, in fairlead.OpBody) (fairlead.RunView, error) {
	return post[fairlead.RunView](ctx, c, path("runs", id, "release"), in, in.Op)
}
