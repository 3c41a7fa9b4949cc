package control

import (
	"context"

	"github.com/fairlead/fairlead"
)

// DismissNotice takes a notice off the inbox. Doing it again changes nothing.
func (c *Control) DismissNotice(ctx context.Context, m Meta, id string, body fairlead.OpBody) error {
	if m.Op == "" {
		m.Op = body.Op
	}
	cmd := command{name: "dismiss notice", run: m.Actor.Run, body: struct{ Notice string }{id}}
	_, err := do(ctx, c, m, cmd, func(w *work) (struct{}, error) {
		if err := w.personOnly("the inbox"); err != nil {
			return struct{}{}, err
		}
		n, err := w.tx.LoadNotice(id)
		if fairlead.IsCode(err, fairlead.CodeNotFound) || err == nil && n.Workspace != m.Workspace {
			return struct{}{}, fairlead.Errorf(fairlead.CodeNotFound, "no such notice").WithHint("list them with: fairlead inbox")
		}
		if err != nil {
			return struct{}{}, err
		}
		_, err = w.tx.DoneNotice(id)
		return struct{}{}, err
	})
	return err
}
