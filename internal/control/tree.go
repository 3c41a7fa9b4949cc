package control

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/engine"
)

// TreeReady says that the task's worktree stands on the node that reports, for good: from here on no other node may work
// on the task. It comes before anybody can have written in the tree.
type TreeReady struct{}

// TreeLeft says what a run that ended left in its tree. It comes with the end of the run, after its processes are dead.
type TreeLeft struct {
	// Files: a plain directory holds something. The task stays with the node then, and is free again without.
	Files bool
	// Clean: a worktree is as it was made. It ties nobody then.
	Clean bool
	// Checkpoint of a worktree; nil = nothing has changed since the last one.
	Checkpoint *CheckpointMade
}

// CheckpointMade is a checkpoint of a worktree. Without Pushed other nodes cannot get it; Why says why not.
type CheckpointMade struct {
	Ref, Commit, Head string
	Pushed            bool
	Why               string
}

// noRemote is why a checkpoint of a repository without a remote is of no use elsewhere: a fact, not a fault.
const noRemote = "the repository has no remote"

// treeReady ties the task to the node.
func (w *work) treeReady() error {
	tree := fairlead.Worktree{Home: fairlead.NodeHome(w.node.ID), Node: w.node.ID, Host: w.node.Host, Repository: true}
	was := &w.task.row.Worktree
	tree.Checkpoint, tree.Unpushed, tree.Since = was.Checkpoint, was.Unpushed, was.Since
	if was.Home == tree.Home && was.Node == tree.Node {
		return nil
	}
	return w.saveTree(tree)
}

// treeLeft takes up what a run left behind.
func (w *work) treeLeft(r *fairlead.Run, l TreeLeft) error {
	tree := w.task.row.Worktree
	if c := l.Checkpoint; c != nil {
		return w.checkpointed(r, tree, c)
	}
	if tree.Repository && (!l.Clean || tree.Checkpoint != nil) {
		return nil
	}
	home := fairlead.NodeHome(w.node.ID)
	switch {
	case l.Files && tree.Home != home:
		return w.saveTree(fairlead.Worktree{Home: home, Node: w.node.ID, Host: w.node.Host, Since: tree.Since})
	case !l.Files && tree.Home == home:
		return w.saveTree(fairlead.Worktree{Since: tree.Since})
	}
	return nil
}

// checkpointed records a checkpoint. One that nobody else can get changes nothing of what a release would go back to.
func (w *work) checkpointed(r *fairlead.Run, tree fairlead.Worktree, c *CheckpointMade) error {
	data := map[string]any{"ref": c.Ref, "commit": c.Commit, "head": c.Head, "pushed": c.Pushed}
	if c.Why != "" {
		data["why"] = c.Why
	}
	w.runRecord(r, fairlead.RecordCheckpoint, data)
	if c.Pushed {
		tree.Unpushed = ""
		tree.Checkpoint = &fairlead.Checkpoint{
			Ref: c.Ref, Commit: c.Commit, Head: c.Head, Seq: w.task.row.RecordSeq, At: fairlead.StampOf(w.now),
		}
		return w.saveTree(tree)
	}
	if tree.Unpushed = c.Why; c.Why == "" {
		tree.Unpushed = noRemote
	}
	if err := w.saveTree(tree); err != nil || c.Why == "" {
		return err
	}
	return w.addNotice(engine.AddNotice{
		Kind: "checkpoint_not_pushed", Once: true,
		Text: "The worktree's last state is on " + tree.Host + " only, because its checkpoint could not be pushed: " + c.Why,
		Data: map[string]any{"run": r.ID, "node": w.node.ID, "ref": c.Ref, "commit": c.Commit},
	})
}

func (w *work) saveTree(tree fairlead.Worktree) error {
	w.task.row.Worktree = tree
	return w.tx.SaveWorktree(w.task.row.ID, tree)
}

// TreeRemoved tells that a home no longer has the tree of a task.
func (c *Control) TreeRemoved(ctx context.Context, home string, t read.Tree) error {
	if home == "" || t.Home != home {
		return nil
	}
	return c.act(ctx, Meta{Workspace: t.Workspace, Actor: fairlead.Engine()}, func(w *work) error {
		if err := w.lock(t.Task); err != nil {
			return err
		}
		if w.task.row.Worktree.Home != home {
			return nil
		}
		return w.saveTree(fairlead.Worktree{})
	})
}
