package client

import (
	"context"

	"github.com/fairlead/fairlead"
)

// ListRequests returns a page of questions to people.
func (c *Client) ListRequests(ctx context.Context, q RequestQuery) (fairlead.Page[fairlead.RequestView], error) {
	return read[fairlead.Page[fairlead.RequestView]](ctx, c, path("requests"), q.values())
}

// GetRequest returns a question.
func (c *Client) GetRequest(ctx context.Context, id string) (fairlead.RequestView, error) {
	return read[fairlead.RequestView](ctx, c, path("requests", id), nil)
}

// Answer answers a question. Somebody who was faster shows as code conflict, reason resolved.
func (c *Client) Answer(ctx context.Context, id string, in fairlead.AnswerBody) (fairlead.RequestView, error) {
	return post[fairlead.RequestView](ctx, c, path("requests", id, "answer"), in, in.Op)
}

// Inbox returns what waits for a person; "" = the token's own.
func (c *Client) Inbox(ctx context.Context, person string) (fairlead.Inbox, error) {
	return read[fairlead.Inbox](ctx, c, path("inbox"), Page{}.values("person", person))
}

// DismissNotice puts a notice away.
func (c *Client) DismissNotice(ctx context.Context, id string, in fairlead.OpBody) error {
	_, err := post[struct{}](ctx, c, path("notices", id, "dismiss"), in, in.Op)
	return err
}
