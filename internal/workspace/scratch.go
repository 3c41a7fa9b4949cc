package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Scratch makes a throw-away copy of a task's tree as it is now, uncommitted work included, for an agent that is to
// look and not to change. With a repository it is a detached worktree, so that the agent can ask git. The same name
// again replaces the copy.
func (m *Manager) Scratch(ctx context.Context, identifier, name string) (string, error) {
	if err := checkIdentifier(name); err != nil {
		return "", err
	}
	if err := m.RemoveScratch(ctx, identifier, name); err != nil {
		return "", err
	}
	t, err := m.Get(identifier)
	if err != nil {
		return "", err
	}
	if err := m.CheckSpace(); err != nil {
		return "", err
	}
	c := Tree{Identifier: identifier + "." + name, Dir: filepath.Join(m.dir, ".scratch", identifier+"."+name),
		Repository: t.Repository, Common: t.Common}
	if err := os.MkdirAll(filepath.Dir(c.Dir), 0o700); err != nil {
		return "", fmt.Errorf("make copy: %w", err)
	}
	if err := m.save(&c); err != nil { // first: a crash leaves nothing that nobody knows
		return "", err
	}
	if t.Repository == "" {
		if err := os.CopyFS(c.Dir, os.DirFS(t.Dir)); err != nil {
			return "", fmt.Errorf("make copy: %w", err)
		}
		return c.Dir, nil
	}
	s, err := m.snapshot(ctx, &t)
	if err != nil {
		return "", problem(err, "the workspace cannot be read")
	}
	commit, err := s.commit(ctx, &t, "Copy of "+identifier)
	if err != nil {
		return "", fmt.Errorf("make copy: %w", err)
	}
	defer m.lock("repository " + t.Common)()
	if _, err := (gitAt{dir: t.Common}).git(ctx, "worktree", "add", "--force", "--detach", "--", c.Dir, commit); err != nil {
		return "", problem(err, "the copy could not be made")
	}
	if c.GitDir, err = (gitAt{dir: c.Dir}).git(ctx, "rev-parse", "--absolute-git-dir"); err != nil {
		return "", problem(err, "the copy is not usable")
	}
	return c.Dir, m.save(&c)
}

// RemoveScratch deletes a copy with everything in it. It may be repeated.
func (m *Manager) RemoveScratch(_ context.Context, identifier, name string) error {
	for _, n := range []string{identifier, name} {
		if err := checkIdentifier(n); err != nil {
			return err
		}
	}
	return m.dropScratch(identifier + "." + name)
}

// SweepScratch deletes the copies that an earlier server left, and returns their number. Run it before anything is
// claimed.
func (m *Manager) SweepScratch() (int, error) {
	names, err := os.ReadDir(filepath.Join(m.dir, ".meta"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("list copies: %w", err)
	}
	n := 0
	for _, d := range names {
		id, ok := strings.CutSuffix(d.Name(), ".json")
		if !ok || !strings.Contains(id, ".") {
			continue
		}
		if err := m.dropScratch(id); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (m *Manager) dropScratch(id string) error {
	c, err := m.load(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.RemoveAll(c.Dir); err != nil {
		return fmt.Errorf("remove copy: %w", err)
	}
	if err := m.unregister(&c); err != nil {
		return fmt.Errorf("remove copy: %w", err)
	}
	return m.forget(id)
}
