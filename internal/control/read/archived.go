package read

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// Archived returns those of the identifiers whose tasks are archived and have nothing queued or live: nobody works in
// their trees any more. Identifiers are unique over all workspaces; an unknown one is left out.
func (r *Reader) Archived(ctx context.Context, identifiers []string) (out []string, err error) {
	err = r.db.Read(ctx, func(tx *store.ReadTx) error {
		out = nil
		workspaces, err := tx.ListWorkspaces()
		if err != nil {
			return err
		}
		for _, identifier := range identifiers {
			done, err := archived(tx, workspaces, identifier)
			if err != nil {
				return err
			}
			if done {
				out = append(out, identifier)
			}
		}
		return nil
	})
	return out, err
}

func archived(tx *store.ReadTx, workspaces []fairlead.Workspace, identifier string) (bool, error) {
	for _, ws := range workspaces {
		row, err := tx.LoadTaskByRef(ws.Key, identifier)
		if fairlead.IsCode(err, fairlead.CodeNotFound) {
			continue
		}
		if err != nil || row.ArchivedAt.IsZero() {
			return false, err
		}
		active, err := tx.ActiveRuns(row.ID)
		return len(active) == 0, err
	}
	return false, nil
}
