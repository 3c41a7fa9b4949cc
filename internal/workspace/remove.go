package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Removal says what a clean-up did.
type Removal struct {
	Rescued Saved  // work put on a rescue ref
	Kept    string // place of a directory that was moved aside, because its work could be saved no other way
}

// Remove cleans the tree of a task up. Work that exists nowhere else is saved first: on a rescue ref, or, when there is
// no repository to take it (a plain directory, a repository that is gone, repositories inside the tree), by moving the
// directory to .kept. It may be repeated, and needs neither tree nor repository to be there. The task's branch stays
// when it has commits of its own. Files that the repository ignores are not work.
func (m *Manager) Remove(ctx context.Context, identifier string) (Removal, error) {
	return m.remove(ctx, identifier, func(t *Tree) {
		m.dropCheckpoints(ctx, t)
		m.dropBranch(ctx, t)
	})
}

// Evict is Remove for a tree whose task goes on in one of another node: branch and checkpoints are that one's now.
func (m *Manager) Evict(ctx context.Context, identifier string) (Removal, error) {
	return m.remove(ctx, identifier, func(*Tree) {})
}

func (m *Manager) remove(ctx context.Context, identifier string, drop func(t *Tree)) (Removal, error) {
	if err := checkIdentifier(identifier); err != nil {
		return Removal{}, err
	}
	defer m.lock("task " + identifier)()
	t, err := m.load(identifier)
	if errors.Is(err, fs.ErrNotExist) {
		t, err = Tree{Identifier: identifier, Dir: m.treeDir(identifier), Ready: true}, nil
	} else if err != nil {
		return Removal{}, err
	}
	var out Removal
	switch {
	case !m.exists(t.Dir):
	case !t.Ready:
		err = os.RemoveAll(t.Dir)
	case t.Repository == "":
		out.Kept, err = m.keep(&t)
	default:
		out, err = m.dismantle(ctx, &t)
	}
	if err != nil {
		return out, fmt.Errorf("remove workspace: %w", err)
	}
	if err := m.unregister(&t); err != nil {
		return out, fmt.Errorf("remove workspace: %w", err)
	}
	drop(&t)
	return out, m.forget(identifier)
}

// keep moves a directory aside unless it is empty.
func (m *Manager) keep(t *Tree) (string, error) {
	if os.Remove(t.Dir) == nil { // works on an empty directory only
		return "", nil
	}
	return m.putAside(t)
}

// dismantle saves what a worktree holds and takes it away.
func (m *Manager) dismantle(ctx context.Context, t *Tree) (Removal, error) {
	var out Removal
	var err error
	out.Rescued, err = m.rescue(ctx, t)
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil || len(nested(t.Dir)) > 0 {
		out.Kept, err = m.keep(t)
		return out, err
	}
	return out, os.RemoveAll(t.Dir)
}

// dropBranch deletes the task's branch when it holds nothing. Every doubt, and a repository that is gone, keeps it.
func (m *Manager) dropBranch(ctx context.Context, t *Tree) {
	if t.Branch == "" || t.Commit == "" || !m.exists(t.Common) {
		return
	}
	at := gitAt{dir: t.Common}
	tip, err := at.git(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+t.Branch)
	if err != nil || tip != t.Commit {
		return
	}
	// A node of the same machine may have it in a tree of its own.
	used, err := at.git(ctx, "worktree", "list", "--porcelain")
	if err != nil || strings.Contains(used+"\n", "\nbranch refs/heads/"+t.Branch+"\n") {
		return
	}
	_, _ = at.git(ctx, "update-ref", "-d", "refs/heads/"+t.Branch, tip)
}
