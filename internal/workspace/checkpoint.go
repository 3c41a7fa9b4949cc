package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Checkpoint is a worktree as it was at the end of a run: what another node can go on from when it can fetch it.
type Checkpoint struct {
	Ref    string // refs/fairlead/checkpoint/<name>
	Commit string // every file that is not ignored, committed or not
	Head   string // the commit the branch stood on: the parent of Commit, or Commit itself when nothing was uncommitted
	Pushed bool   // the remote has it
	Remote bool   // the repository has a remote
	Failed string // why the remote does not have it; "" without a remote
}

// Left is what a run leaves behind in its tree.
type Left struct {
	Repository bool
	Files      bool        // a plain directory is not empty
	Clean      bool        // a worktree is as it was made: nobody ever wrote in it
	Checkpoint *Checkpoint // of a worktree that differs from its last checkpoint, or from where it began; nil otherwise
}

// pushTime bounds what talks to a remote at the end of a run: a run does not end before its checkpoint is where others
// find it, and may not wait for ever.
const pushTime = 20 * time.Second

// Leave says what the run that ended leaves in the task's tree. A worktree that changed is put, as it is, on
// refs/fairlead/checkpoint/<name> (name is the assignment's id) and pushed there if the repository has a remote; a push
// that failed is tried again at the next call. Branch, index and files stay as they are. Somebody who was declared dead
// may push late: when the remote has a checkpoint that this tree does not know, confirm is asked whether the caller still
// has the task, and only then it is replaced.
func (m *Manager) Leave(ctx context.Context, identifier, name string, confirm func() bool) (Left, error) {
	if err := errors.Join(checkIdentifier(identifier), checkIdentifier(name)); err != nil {
		return Left{}, err
	}
	defer m.lock("task " + identifier)()
	t, err := m.load(identifier)
	if errors.Is(err, fs.ErrNotExist) {
		return Left{}, nil // the run came to no tree
	}
	if err != nil {
		return Left{}, err
	}
	if t.Repository == "" {
		entries, err := os.ReadDir(t.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return Left{Files: len(entries) > 0}, err
	}
	left := Left{Repository: true}
	s, err := m.snapshot(ctx, &t)
	switch {
	case err != nil:
	case t.Last == "" && s.same && s.head == t.Commit:
		left.Clean = true
	case s.mark() != t.Last || t.Behind:
		left.Checkpoint, err = m.checkpoint(ctx, &t, s, name, confirm)
	}
	if err != nil {
		return Left{}, fmt.Errorf("checkpoint work: %w", err)
	}
	return left, nil
}

// mark tells two snapshots apart.
func (s snap) mark() string { return s.head + ":" + s.tree }

func (m *Manager) checkpoint(ctx context.Context, t *Tree, s snap, name string, confirm func() bool) (c *Checkpoint, err error) {
	c = &Checkpoint{Ref: checkpointRef(name), Commit: s.head, Head: s.head}
	if !s.same {
		if c.Commit, err = s.commit(ctx, t, "Checkpoint of "+t.Identifier); err != nil {
			return nil, err
		}
	}
	if _, err := t.at().git(ctx, "update-ref", c.Ref, c.Commit); err != nil {
		return nil, err
	}
	remote, err := remoteOf(ctx, t.at())
	if err != nil {
		return nil, err
	}
	if c.Remote = remote != ""; c.Remote {
		if err := m.push(ctx, t, c, remote, confirm); err != nil {
			c.Failed = err.Error()
		}
	}
	t.Last, t.Behind = s.mark(), c.Remote && !c.Pushed
	return c, m.save(t)
}

func checkpointRef(name string) string { return "refs/fairlead/checkpoint/" + name }

// remoteOf names where a repository's checkpoints go: origin, else its first remote, "" without one.
func remoteOf(ctx context.Context, at gitAt) (string, error) {
	out, err := at.git(ctx, "remote")
	remotes := strings.Fields(out)
	if err != nil || len(remotes) == 0 {
		return "", err
	}
	for _, r := range remotes {
		if r == "origin" {
			return r, nil
		}
	}
	return remotes[0], nil
}

// push puts a checkpoint at the remote, if it has there what this tree last put there.
func (m *Manager) push(ctx context.Context, t *Tree, c *Checkpoint, remote string, confirm func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	at, expect := t.at(), t.Pushed[c.Ref]
	for sure := false; ; sure = true {
		err := at.put(ctx, remote, c.Ref, expect, c.Commit)
		if err != nil {
			found, lookErr := at.remoteCommit(ctx, remote, c.Ref)
			switch {
			case lookErr != nil || sure:
				return err
			case found == c.Commit: // the answer was lost
			case found == expect || !confirm():
				return err
			default:
				expect = found
				continue
			}
		}
		if t.Pushed == nil {
			t.Pushed = map[string]string{}
		}
		t.Pushed[c.Ref], c.Pushed = c.Commit, true
		return nil
	}
}

// put moves a ref of the remote from one commit to another; "" is a ref that is not there.
func (a gitAt) put(ctx context.Context, remote, ref, from, to string) error {
	_, err := a.git(ctx, "push", "--quiet", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+from, "--", remote, to+":"+ref)
	return err
}

// remoteCommit is what a ref of the remote stands on, "" when it is not there.
func (a gitAt) remoteCommit(ctx context.Context, remote, ref string) (string, error) {
	out, err := a.git(ctx, "ls-remote", "--quiet", "--", remote, ref)
	commit, _, _ := strings.Cut(out, "\t")
	return commit, err
}

// dropCheckpoints takes the checkpoints of a tree that is gone out of the repository and off the remote, as far as that
// can be done now: a ref that stays costs nothing but its place.
func (m *Manager) dropCheckpoints(ctx context.Context, t *Tree) {
	if t.Last == "" || !m.exists(t.Common) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	at := gitAt{dir: t.Common}
	remote, err := remoteOf(ctx, at)
	for ref, commit := range t.Pushed {
		if err == nil && remote != "" {
			_ = at.put(ctx, remote, ref, commit, "")
		}
		_, _ = at.git(ctx, "update-ref", "-d", ref, commit)
	}
}

// Restore names the checkpoint of a tree on another node that work goes on from.
type Restore struct {
	Key    string // of this restoration: the same key finds the tree that was made from it
	Ref    string
	Commit string
	Head   string
}

func (r *Restore) check() error {
	name, ok := strings.CutPrefix(r.Ref, "refs/fairlead/checkpoint/")
	if ok && r.Key != "" && checkIdentifier(name) == nil && hexadecimal(r.Commit) && hexadecimal(r.Head) {
		return nil
	}
	return fairlead.Errorf(fairlead.CodeInvalid, "the checkpoint is malformed").WithOp("restore workspace")
}
