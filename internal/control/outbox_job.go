package control

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead/internal/store"
)

// JobDeliver is the kind of the background job that delivers what waits for a task. It is added in the transaction that
// leaves the row, so it outlives a node that dies between its commit and its own delivery.
const JobDeliver = "deliver"

type deliverArgs struct {
	Workspace string `json:"workspace"`
	Task      string `json:"task"`
}

// handOver asks for a job for each task that this command has left something for. It is a job for each command: one that
// was shared with an earlier command could be looking already, and would miss the row.
func (w *work) handOver() error {
	if !w.c.deliverByJobs {
		return nil
	}
	asked := map[string]bool{}
	for _, task := range w.deliver {
		if asked[task] {
			continue
		}
		asked[task] = true
		if err := w.c.dispatch.JobTx(w.tx, JobDeliver, marshal(deliverArgs{w.meta.Workspace, task})); err != nil {
			return fmt.Errorf("hand delivery over: %w", err)
		}
	}
	return nil
}

// Deliver is the job [JobDeliver]. Mostly the command's own node was faster, and nothing waits any more. An error means
// that something still does.
func (c *Control) Deliver(ctx context.Context, args []byte) error {
	var to deliverArgs
	if err := json.Unmarshal(args, &to); err != nil {
		return fmt.Errorf("deliver: %w", err)
	}
	var rows int
	err := c.db.Read(ctx, func(tx *store.ReadTx) error {
		waiting, err := tx.UndeliveredOutbox(to.Task)
		rows = len(waiting)
		return err
	})
	if err != nil || rows == 0 {
		return err
	}
	next, err := c.deliverOnce(ctx, to.Workspace, to.Task)
	for _, task := range next {
		c.deliverTo(background(ctx), to.Workspace, task)
	}
	return err
}
