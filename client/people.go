package client

import (
	"context"
	"net/http"

	"github.com/fairlead/fairlead"
)

// AddPerson adds a person to the workspace.
func (c *Client) AddPerson(ctx context.Context, in fairlead.KeyNameBody) (fairlead.PersonView, error) {
	return post[fairlead.PersonView](ctx, c, path("people"), in, in.Op)
}

// ListPeople returns the people of the workspace.
func (c *Client) ListPeople(ctx context.Context) ([]fairlead.PersonView, error) {
	return items[fairlead.PersonView](ctx, c, path("people"))
}

// AddWorkspace adds a workspace.
func (c *Client) AddWorkspace(ctx context.Context, in fairlead.KeyNameBody) (fairlead.WorkspaceView, error) {
	return post[fairlead.WorkspaceView](ctx, c, path("workspaces"), in, in.Op)
}

// ListWorkspaces returns the workspaces the token may go to.
func (c *Client) ListWorkspaces(ctx context.Context) ([]fairlead.WorkspaceView, error) {
	return items[fairlead.WorkspaceView](ctx, c, path("workspaces"))
}

// AddToken makes a token; its secret is in this answer and never shown again.
func (c *Client) AddToken(ctx context.Context, in fairlead.TokenBody) (fairlead.TokenView, error) {
	return post[fairlead.TokenView](ctx, c, path("tokens"), in, in.Op)
}

// ListTokens returns the tokens without their secrets.
func (c *Client) ListTokens(ctx context.Context) ([]fairlead.TokenView, error) {
	return items[fairlead.TokenView](ctx, c, path("tokens"))
}

// ListNodes returns the starts of servers.
func (c *Client) ListNodes(ctx context.Context) ([]fairlead.NodeView, error) {
	return items[fairlead.NodeView](ctx, c, path("nodes"))
}

// Ready returns nil when the server can work.
func (c *Client) Ready(ctx context.Context) error {
	return c.do(ctx, http.MethodGet, "/readyz", nil, nil, nil, nil)
}

// OpenAPI returns the document of the API.
func (c *Client) OpenAPI(ctx context.Context) ([]byte, error) {
	var out []byte
	err := c.do(ctx, http.MethodGet, "/openapi.json", nil, nil, nil, &out)
	return out, err
}
