package control

import (
	"context"
	"encoding/json"

	"github.com/fairlead/fairlead"
)

// ReleaseRun lets a queued run go from the dead node that has its task's worktree: whichever node claims it makes a
// worktree from the last checkpoint that was pushed; a directory without a repository begins empty. What was done in the worktree after that is marked lost, and every
// session of the task hears of it in its next prompt. Should the node come back, its tree is saved on a rescue ref.
func (c *Control) ReleaseRun(ctx context.Context, m Meta, run string, body fairlead.OpBody) (fairlead.RunView, error) {
	return onRun(ctx, c, m, "release run", run, body, func(w *work, r *fairlead.Run) (*fairlead.Run, error) {
		if r.Status != fairlead.RunQueued {
			return nil, fairlead.Conflict(fairlead.ReasonBusy, "the run is %s: only a queued run is released from a node", r.Status).
				WithHint("a run of a dead node is queued again within a minute of the node's death")
		}
		return r, w.releaseTree(r)
	})
}

// releaseTree takes the task off its dead node.
func (w *work) releaseTree(r *fairlead.Run) error {
	tree := w.task.row.Worktree
	if tree.Home == "" {
		return fairlead.Conflict(fairlead.ReasonResolved, "no node has the task's worktree").
			WithHint("see what holds the run with: fairlead run why %s", r.ID)
	}
	g, err := w.c.gate(&w.tx.ReadTx, w.task.row, *r)
	if err != nil {
		return err
	}
	node, err := g.homeNode()
	if err != nil {
		return err
	}
	if node != nil {
		return fairlead.Conflict(fairlead.ReasonBusy, "the node that has the worktree lives: %s on %s", node.ID, node.Host).
			WithHint("only the work of a dead node is released; stop that server for good first")
	}
	if why := unreleasable(&tree); why != "" {
		return fairlead.Errorf(fairlead.CodeRefused, "the work cannot go on without its node, because %s", why).
			WithHint("start a server on that node's home again: the run goes on there by itself")
	}
	gone := treeReleased{Node: tree.Node, Host: tree.Host}
	if c := tree.Checkpoint; c != nil {
		gone.Ref, gone.Commit, gone.At, gone.LostAfter = c.Ref, c.Commit, fairlead.StampPtr(c.At.Time), c.Seq
	}
	if gone.Lost, err = w.effectsAfter(gone.LostAfter); err != nil {
		return err
	}
	tree.Since = w.record(fairlead.Record{Kind: fairlead.RecordTreeReleased}, gone)
	tree.Home, tree.Restore = "", tree.Checkpoint != nil
	if err := w.saveTree(tree); err != nil {
		return err
	}
	if err := w.tx.ForgetConversations(w.task.row.ID); err != nil {
		return err
	}
	w.look()
	return w.runEvent(r, fairlead.RunEventReleased, map[string]any{"node": tree.Node, "commit": gone.Commit, "lost": gone.Lost})
}

// treeReleased is the record of a release.
type treeReleased struct {
	Node      string          `json:"node"`
	Host      string          `json:"host"`
	Ref       string          `json:"ref,omitempty"` // of the checkpoint; none for a plain directory
	Commit    string          `json:"commit,omitempty"`
	At        *fairlead.Stamp `json:"at,omitempty"`
	LostAfter int64           `json:"lost_after"` // the checkpoint's record; 0 = everything
	Lost      int             `json:"lost"`       // effects that may have been in the tree
}

// effectsAfter counts the effects behind a record that may have changed the worktree.
func (w *work) effectsAfter(seq int64) (n int, err error) {
	for {
		page, err := w.tx.ListRecords(w.task.row.ID, seq, contentPage)
		if err != nil {
			return 0, err
		}
		for i := range page {
			if changesTree(&page[i]) {
				n++
			}
		}
		if len(page) < contentPage {
			return n, nil
		}
		seq = page[len(page)-1].Seq
	}
}

// changesTree reports whether a record may tell of a change in the worktree. What an agent did by tools of its own is
// told without its effect.
func changesTree(r *fairlead.Record) bool {
	var d struct{ Effect string }
	return r.Kind == fairlead.RecordEffectIntent && json.Unmarshal(r.Data, &d) == nil && d.Effect != "read"
}
