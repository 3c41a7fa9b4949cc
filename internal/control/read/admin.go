package read

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// ListPeople lists the people of a workspace by key.
func (r *Reader) ListPeople(ctx context.Context, ws string) ([]fairlead.PersonView, error) {
	return ask(ctx, r, "list people", func(tx *store.ReadTx) ([]fairlead.PersonView, error) {
		out := []fairlead.PersonView{}
		if err := CheckWorkspace(tx, ws); err != nil {
			return out, err
		}
		people, err := tx.ListPeople(ws)
		for _, p := range people {
			out = append(out, PersonView(p))
		}
		return out, err
	})
}

// PersonView shows a person.
func PersonView(p fairlead.PersonRecord) fairlead.PersonView {
	return fairlead.PersonView{Key: p.Key, Name: p.Name, CreatedAt: fairlead.StampOf(p.CreatedAt)}
}

// ListWorkspaces lists all workspaces by key.
func (r *Reader) ListWorkspaces(ctx context.Context) ([]fairlead.WorkspaceView, error) {
	return ask(ctx, r, "list workspaces", func(tx *store.ReadTx) ([]fairlead.WorkspaceView, error) {
		out := []fairlead.WorkspaceView{}
		all, err := tx.ListWorkspaces()
		for _, w := range all {
			out = append(out, WorkspaceView(w))
		}
		return out, err
	})
}

// WorkspaceView shows a workspace.
func WorkspaceView(w fairlead.Workspace) fairlead.WorkspaceView {
	return fairlead.WorkspaceView{Key: w.Key, Name: w.Name, Prefix: w.Prefix, CreatedAt: fairlead.StampOf(w.CreatedAt)}
}

// ListTokens lists the tokens that let into a workspace, without their secrets, oldest first.
func (r *Reader) ListTokens(ctx context.Context, ws string) ([]fairlead.TokenView, error) {
	return ask(ctx, r, "list tokens", func(tx *store.ReadTx) ([]fairlead.TokenView, error) {
		out := []fairlead.TokenView{}
		if err := CheckWorkspace(tx, ws); err != nil {
			return out, err
		}
		tokens, err := tx.ListTokens(ws)
		for _, t := range tokens {
			out = append(out, TokenView(t))
		}
		return out, err
	})
}

// TokenView shows a token without its secret.
func TokenView(t fairlead.Token) fairlead.TokenView {
	return fairlead.TokenView{ID: t.ID, Kind: t.Kind, Key: t.Key, CreatedAt: fairlead.StampOf(t.CreatedAt)}
}

// ListNodes lists the nodes, newest first.
func (r *Reader) ListNodes(ctx context.Context) ([]fairlead.NodeView, error) {
	return ask(ctx, r, "list nodes", func(tx *store.ReadTx) ([]fairlead.NodeView, error) {
		out := []fairlead.NodeView{}
		nodes, err := tx.ListNodes()
		for _, n := range nodes {
			out = append(out, fairlead.NodeView{
				ID: n.ID, Epoch: n.Epoch, Host: n.Host, PID: n.PID, Labels: n.Labels, Slots: n.Slots,
				StartedAt: fairlead.StampOf(n.StartedAt), DeadAt: fairlead.StampPtr(n.DeadAt),
			})
		}
		return out, err
	})
}
