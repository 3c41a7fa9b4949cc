package read

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// Tree is what a home has to know of a task whose directory it keeps.
type Tree struct {
	Identifier, Task, Workspace string
	// Done: the task is archived and has nothing queued or live. Nobody works in its tree any more.
	Done bool
	// Home is the home that the task is tied to, "" for none.
	Home string
}

// Trees looks up the tasks of identifiers, which are unique over all workspaces; an unknown one is left out.
func (r *Reader) Trees(ctx context.Context, identifiers []string) (out []Tree, err error) {
	err = r.db.Read(ctx, func(tx *store.ReadTx) error {
		out = nil
		workspaces, err := tx.ListWorkspaces()
		if err != nil {
			return err
		}
		for _, identifier := range identifiers {
			t, err := treeOf(tx, workspaces, identifier)
			if err != nil {
				return err
			}
			if t != nil {
				out = append(out, *t)
			}
		}
		return nil
	})
	return out, err
}

func treeOf(tx *store.ReadTx, workspaces []fairlead.Workspace, identifier string) (*Tree, error) {
	for _, ws := range workspaces {
		row, err := tx.LoadTaskByRef(ws.Key, identifier)
		if fairlead.IsCode(err, fairlead.CodeNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		t := &Tree{Identifier: identifier, Task: row.ID, Workspace: row.Workspace, Home: row.Worktree.Home}
		if !row.ArchivedAt.IsZero() {
			active, err := tx.ActiveRuns(row.ID)
			if err != nil {
				return nil, err
			}
			t.Done = len(active) == 0
		}
		return t, nil
	}
	return nil, nil
}
