package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// elsewhere holds a run whose task's worktree another node has. Where no node asks, one that lives and has a free slot
// takes the run: nothing holds it.
func (g *gate) elsewhere() ([]fairlead.Hold, error) {
	tree := &g.task.Worktree
	if tree.Home == "" || g.node != nil && fairlead.NodeHome(g.node.ID) == tree.Home {
		return nil, nil
	}
	node, err := g.homeNode()
	if err != nil {
		return nil, err
	}
	if g.node == nil && node != nil && node.Free() {
		return nil, nil
	}
	return one(g.onNode(node))
}

// stranded is elsewhere for a task whose node is dead: nobody can say how long that will last.
func (g *gate) stranded() ([]fairlead.Hold, error) {
	if g.task.Worktree.Home == "" {
		return nil, nil
	}
	node, err := g.homeNode()
	if err != nil || node != nil {
		return nil, err
	}
	return one(g.onNode(nil))
}

// homeNode is the live node that has the worktree, nil for none.
func (g *gate) homeNode() (*store.NodeLoad, error) {
	nodes, err := g.tx.NodeLoads()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(nodes, func(n store.NodeLoad) bool { return fairlead.NodeHome(n.ID) == g.task.Worktree.Home })
	if i < 0 {
		return nil, nil
	}
	return &nodes[i], nil
}

// onNode says which node has the worktree, and what brings the work on: nil is a dead one.
func (g *gate) onNode(live *store.NodeLoad) fairlead.Hold {
	tree := &g.task.Worktree
	h := policy.Hold(fairlead.HoldWorkspaceOn, tree.Node)
	h.Data = map[string]any{"node": tree.Node, "host": tree.Host, "live": live != nil}
	if live != nil {
		h.Ref = live.ID
		h.Data["node"] = live.ID
		h.Text = fmt.Sprintf("the task's worktree is on the node %s (%s)", live.ID, live.Host)
		return h
	}
	h.Text = fmt.Sprintf("the task's worktree is on the node %s (%s), which is dead", tree.Node, tree.Host)
	if why := unreleasable(tree); why != "" {
		h.Release = "that node's home starts again; it cannot be released, because " + why
		return h
	}
	if tree.Checkpoint == nil {
		h.Release = "that node's home starts again, or somebody releases it to go on with an empty directory (fairlead run release " + g.run.ID + ")"
		return h
	}
	h.Data["checkpoint"] = tree.Checkpoint
	h.Release = fmt.Sprintf("that node's home starts again, or somebody releases it to go on from the checkpoint of %s (fairlead run release %s)",
		tree.Checkpoint.At.UTC().Format("2006-01-02 15:04 UTC"), g.run.ID)
	return h
}

// unreleasable says why the work cannot go on without its node, "" if it can. Of a directory without a repository nobody
// expects more than that it is gone.
func unreleasable(tree *fairlead.Worktree) string {
	switch {
	case tree.Checkpoint != nil, !tree.Repository:
		return ""
	case tree.Unpushed == noRemote:
		return noRemote + ", so that no checkpoint was pushed"
	case tree.Unpushed != "":
		return "no checkpoint could be pushed (" + tree.Unpushed + ")"
	}
	return "no run has left a checkpoint yet"
}

// freeStranded gives back the WIP places of tasks that no live node can go on with.
func (c *Control) freeStranded(ctx context.Context) error {
	var stranded []store.TaskRef
	err := c.db.Read(ctx, func(tx *store.ReadTx) error {
		nodes, err := tx.LiveNodes()
		if err != nil {
			return err
		}
		homes := make([]string, len(nodes))
		for i := range nodes {
			homes[i] = fairlead.NodeHome(nodes[i].ID)
		}
		stranded, err = tx.PlacesElsewhere(homes)
		return err
	})
	if err != nil {
		return fmt.Errorf("find stranded tasks: %w", err)
	}
	for _, t := range stranded {
		err := c.act(ctx, Meta{Workspace: t.Workspace, Actor: fairlead.Engine()}, func(w *work) error {
			if err := w.lock(t.ID); err != nil {
				return err
			}
			runs, err := w.tx.ActiveRuns(t.ID)
			for i := range runs {
				err = errors.Join(err, w.givePlaceBack(&runs[i]))
			}
			w.look()
			return err
		})
		if err != nil {
			return fmt.Errorf("free the place of task %s: %w", t.ID, err)
		}
	}
	return nil
}
