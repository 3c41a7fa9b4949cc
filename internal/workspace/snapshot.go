package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead/fairlead"
)

// snap is the content of a tree as git objects: everything that is not ignored, committed or not.
type snap struct {
	head string // commit that the tree stands on
	tree string // git tree of the files as they are
	same bool   // the tree is the head's: nothing is uncommitted
}

// snapshot writes the files of a worktree into the repository, through an index of its own: neither the files nor the
// agent's index are touched, and no lock of the agent's is in the way.
func (m *Manager) snapshot(ctx context.Context, t *Tree) (snap, error) {
	var s snap
	var err error
	at := t.at()
	if !t.enrolled() {
		return s, fairlead.Errorf(fairlead.CodeUnavailable, "the repository does not know the worktree any more").WithOp("read workspace").
			WithHint("it was moved or made anew; archive the task's workspace to keep its files aside")
	}
	if s.head, err = at.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return s, fmt.Errorf("read head: %w", err)
	}
	dir, err := os.MkdirTemp(filepath.Join(m.dir, ".meta"), "index-")
	if err != nil {
		return s, fmt.Errorf("make index: %w", err)
	}
	defer os.RemoveAll(dir)
	at.index = filepath.Join(dir, "index")
	if err := copyFile(at.index, filepath.Join(t.GitDir, "index")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("copy index: %w", err)
	}
	if err := addAll(ctx, at); err != nil {
		return s, err
	}
	if s.tree, err = at.git(ctx, "write-tree"); err != nil {
		return s, fmt.Errorf("write tree: %w", err)
	}
	was, err := at.git(ctx, "rev-parse", s.head+"^{tree}")
	s.same = was == s.tree
	return s, err
}

// addAll takes every file that is not ignored. Repositories inside the tree are left out when git cannot take them.
func addAll(ctx context.Context, at gitAt) error {
	_, err := at.git(ctx, "add", "--all", "--", ".")
	if err == nil {
		return nil
	}
	args := []string{"add", "--all", "--", "."}
	for _, n := range nested(at.dir) {
		args = append(args, ":(exclude,literal)"+n)
	}
	if len(args) == 4 {
		return err
	}
	_, err = at.git(ctx, args...)
	return err
}

// nested finds directories in a tree that are repositories of their own.
func nested(dir string) []string {
	var out []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read cannot be a repository that git would take
		}
		if d.Name() == ".git" && filepath.Dir(path) != dir {
			if rel, err := filepath.Rel(dir, filepath.Dir(path)); err == nil {
				out = append(out, filepath.ToSlash(rel))
			}
			return filepath.SkipDir
		}
		return nil
	})
	return out
}

// commit makes a commit of a snapshot on its head, without moving any branch.
func (s snap) commit(ctx context.Context, t *Tree, message string) (string, error) {
	at := t.at()
	return at.git(ctx, "-c", "user.name=Fairlead", "-c", "user.email=fairlead@localhost", "commit-tree", s.tree, "-p", s.head, "-m", message)
}

func copyFile(to, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		return errors.Join(err, dst.Close())
	}
	return dst.Close()
}

// fields splits output that git ended with NUL characters.
func fields(s string) []string {
	s = strings.TrimSuffix(s, "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}
