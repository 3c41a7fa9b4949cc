package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/engine"
)

// Quorum explains every quorum that the guards of the task's step name: what is needed, what was received, who is
// missing and why it does not hold.
func (c *Control) Quorum(ctx context.Context, ws, ref string) ([]fairlead.QuorumView, error) {
	out := []fairlead.QuorumView{}
	err := c.db.Read(ctx, func(tx *storeReadTx) error {
		if err := read.CheckWorkspace(tx, ws); err != nil {
			return err
		}
		row, err := tx.LoadTaskByRef(ws, ref)
		if err != nil {
			return err
		}
		s, err := c.snapshot(tx, row)
		if err != nil {
			return err
		}
		for _, q := range engine.Quorums(s) {
			out = append(out, fairlead.QuorumView{
				Step: q.Step, Trigger: q.Trigger, To: q.To, Guard: q.Guard, Role: q.Role, Threshold: q.Threshold, Needed: q.Needed,
				Received: q.Received, Missing: read.Seats(q.Missing, s.Decisions), Holds: q.Holds, Reason: q.Reason, Round: q.Round,
			})
		}
		return nil
	})
	if err != nil {
		return nil, questionError("explain quorum", err)
	}
	return out, nil
}

// questionError names the question that failed.
func questionError(op string, err error) error {
	var e *fairlead.Error
	if errors.As(err, &e) {
		return e.WithOp(op)
	}
	return fmt.Errorf("%s: %w", op, err)
}
