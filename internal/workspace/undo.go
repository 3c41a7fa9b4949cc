package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead/fairlead"
)

// Mark remembers a tree as it is, for [Manager.Undo]: files that are not ignored, and the commit it stands on.
func (m *Manager) Mark(ctx context.Context, identifier string) (string, error) {
	_, s, err := m.current(ctx, identifier)
	if err != nil {
		return "", err
	}
	return s.head + ":" + s.tree, nil
}

// Undo puts a tree back to a mark and returns what it undid, empty when nothing had changed. What is undone is kept on
// a rescue ref first: an agent may have been told not to write, but what it wrote may still be wanted.
func (m *Manager) Undo(ctx context.Context, identifier, mark string) ([]FileChange, Saved, error) {
	head, tree, ok := strings.Cut(mark, ":")
	if !ok || !hexadecimal(head) || !hexadecimal(tree) {
		return nil, Saved{}, fairlead.Errorf(fairlead.CodeInvalid, "the mark is malformed").WithOp("undo changes")
	}
	t, s, err := m.current(ctx, identifier)
	if err != nil || s.head == head && s.tree == tree {
		return nil, Saved{}, err
	}
	saved, err := m.Rescue(ctx, identifier)
	if err != nil {
		return nil, Saved{}, err
	}
	defer m.lock("task " + identifier)()
	at := t.at()
	names, err := at.git(ctx, "diff", "--no-ext-diff", "--no-renames", "-z", "--name-status", tree, s.tree, "--")
	if err != nil {
		return nil, saved, fmt.Errorf("undo changes: %w", err)
	}
	undone := changes(fields(names), nil)
	if err := m.restore(ctx, &t, tree, undone); err != nil {
		return nil, saved, fmt.Errorf("undo changes: %w", err)
	}
	if s.head != head {
		if _, err := at.git(ctx, "reset", "--quiet", "--soft", head); err != nil {
			return nil, saved, fmt.Errorf("undo commits: %w", err)
		}
	}
	if _, err := at.git(ctx, "reset", "--quiet"); err != nil { // the index, which no longer fits the files
		return nil, saved, fmt.Errorf("undo changes: %w", err)
	}
	return undone, saved, nil
}

// restore writes the files of a git tree over those that differ and removes those that it does not have.
func (m *Manager) restore(ctx context.Context, t *Tree, tree string, differ []FileChange) error {
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := os.MkdirTemp(filepath.Join(m.dir, ".meta"), "index-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	at := t.at()
	at.index = filepath.Join(dir, "index")
	if _, err := at.git(ctx, "read-tree", tree); err != nil {
		return err
	}
	for _, c := range differ {
		if err := root.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if c.Status == "added" {
			continue
		}
		if _, err := at.git(ctx, "checkout-index", "--force", "--", c.Path); err != nil {
			return err
		}
	}
	return nil
}

func hexadecimal(s string) bool {
	return len(s) >= 40 && strings.Trim(s, "0123456789abcdef") == ""
}
