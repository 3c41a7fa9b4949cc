package worker

import (
	"context"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/workspace"
)

// restoration says what a task's tree has to begin from, after it was let go from another node; nil = from here.
func restoration(t *fairlead.Task) *workspace.Restore {
	if c := t.Worktree.Checkpoint; t.Worktree.Restore && c != nil {
		return &workspace.Restore{Key: strconv.FormatInt(t.Worktree.Since, 10), Ref: c.Ref, Commit: c.Commit, Head: c.Head}
	}
	return nil
}

// current are the session's own records that still say what is the case: not those of effects that were lost with a node.
func current(c *control.Claimed) []fairlead.Record {
	since := c.Task.Worktree.Since
	if since == 0 {
		return c.Own
	}
	return slices.DeleteFunc(slices.Clone(c.Own), func(r fairlead.Record) bool { return r.Seq <= since })
}

// stands tells that the task's worktree is here, before anybody can write in it.
func (d *drive) stands(t *workspace.Tree) []control.Fact {
	if !d.w.Shared || t.Repository == "" {
		return nil
	}
	return []control.Fact{{Tree: &control.TreeReady{}}}
}

// left tells what the run leaves in its tree, whose processes are dead. It costs the run's end a push; a tree that cannot
// be read costs nobody anything but the checkpoint.
func (d *drive) left() []control.Fact {
	if !d.w.Shared || !d.prepared {
		return nil
	}
	left, err := d.w.Trees.Leave(context.WithoutCancel(d.traced), d.c.Task.Identifier, d.c.Assignment.ID, d.still)
	if err != nil {
		d.w.Log.Error("leave workspace", "run", d.c.Run.ID, "error", err)
		return nil
	}
	fact := &control.TreeLeft{Files: left.Files, Clean: left.Clean}
	if c := left.Checkpoint; c != nil {
		fact.Checkpoint = &control.CheckpointMade{Ref: c.Ref, Commit: c.Commit, Head: c.Head, Pushed: c.Pushed, Why: c.Failed}
	}
	return []control.Fact{{Left: fact}}
}

// still asks whether the run is this claim's.
func (d *drive) still() bool { return d.report(control.Report{}) != control.StopTree }
