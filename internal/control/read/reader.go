package read

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/catalog"
	"github.com/fairlead/fairlead/internal/store"
)

// Reader answers questions about the state. It is safe for concurrent use.
type Reader struct {
	db      *store.DB
	catalog *catalog.Catalog
	tokens  tokenCache

	// Holds says what keeps a queued run from being claimed. Who knows the queue sets it before the first question;
	// nil = nothing but the run's own due time is known.
	Holds func(tx *store.ReadTx, run fairlead.Run) ([]fairlead.Hold, error)
}

// New makes a Reader over a database.
func New(db *store.DB, cat *catalog.Catalog) *Reader { return &Reader{db: db, catalog: cat} }

// ask runs fn on one consistent state and names the question in its errors.
func ask[V any](ctx context.Context, r *Reader, op string, fn func(tx *store.ReadTx) (V, error)) (V, error) {
	var v V
	err := r.db.Read(ctx, func(tx *store.ReadTx) (err error) {
		v, err = fn(tx)
		return err
	})
	if err != nil {
		var zero V
		return zero, named(op, err)
	}
	return v, nil
}

// named puts the name of the question on an error, once.
func named(op string, err error) error {
	if e, ok := err.(*fairlead.Error); ok { //nolint:errorlint // a wrapped one names its place already
		return e.WithOp(op)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// task finds a task by id or identifier.
func (r *Reader) task(tx *store.ReadTx, ws, ref string) (*store.TaskRow, error) {
	if err := CheckWorkspace(tx, ws); err != nil {
		return nil, err
	}
	row, err := tx.LoadTaskByRef(ws, ref)
	if fairlead.IsCode(err, fairlead.CodeNotFound) {
		return nil, fairlead.Errorf(fairlead.CodeNotFound, "no such task").WithHint("list the tasks with: fairlead task list")
	}
	return row, err
}

// CheckWorkspace refuses a workspace that is not there, so that a wrong name never looks like an empty one.
func CheckWorkspace(tx *store.ReadTx, ws string) error {
	_, err := tx.LoadWorkspace(ws)
	if fairlead.IsCode(err, fairlead.CodeNotFound) {
		return fairlead.Errorf(fairlead.CodeNotFound, "no such workspace").WithHint("list the workspaces with: fairlead workspace list")
	}
	return err
}
