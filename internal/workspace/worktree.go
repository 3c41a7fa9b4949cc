package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead/fairlead"
)

// worktree makes a git worktree on the task's branch.
func (m *Manager) worktree(ctx context.Context, t Tree, o Order) (Tree, error) {
	repo, err := filepath.Abs(o.Repository)
	if err != nil {
		return Tree{}, fmt.Errorf("find repository: %w", err)
	}
	at := gitAt{dir: repo}
	if info, err := os.Stat(repo); err != nil || !info.IsDir() {
		return Tree{}, unusable("the repository's directory does not exist")
	}
	if t.Common, err = at.git(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir"); err != nil {
		return Tree{}, problem(err, "the directory is no git repository")
	}
	defer m.lock("repository " + t.Common)()
	start, err := t.begin(ctx, at, o.Base)
	if err != nil {
		return Tree{}, err
	}
	args := []string{"worktree", "add"}
	if registered(ctx, at, t.Dir) {
		args = append(args, "--force") // ours, and its directory is gone
	}
	old, err := branchOf(ctx, at, &t)
	if err != nil {
		return Tree{}, err
	}
	if old != "" {
		t.Branch = old
		args = append(args, "--", t.Dir, old)
	} else {
		t.Branch = strings.TrimSuffix("fairlead/"+o.Identifier+"-"+slug(o.Title), "-")
		t.Commit = start
		args = append(args, "-b", t.Branch, "--no-track", "--", t.Dir, start)
	}
	if err := m.save(&t); err != nil { // Ready is false: a crash from here to the end leaves something to clear
		return Tree{}, err
	}
	if _, err := at.git(ctx, args...); err != nil {
		return Tree{}, errors.Join(problem(err, "the worktree could not be made"), m.clear(&t))
	}
	return m.finish(ctx, t, start)
}

// finish records what the new worktree is.
func (m *Manager) finish(ctx context.Context, t Tree, start string) (Tree, error) {
	var err error
	if t.GitDir, err = (gitAt{dir: t.Dir}).git(ctx, "rev-parse", "--absolute-git-dir"); err != nil {
		return Tree{}, problem(err, "the new worktree is not usable")
	}
	if t.Commit == "" {
		if t.Commit, err = t.at().git(ctx, "merge-base", "HEAD", start); err != nil {
			t.Commit = start // histories without a common commit: everything is the task's
		}
	}
	t.Ready = true
	return t, m.save(&t)
}

// begin finds the commit to start from and, for a base that was not named, the name of the branch it stands on.
func (t *Tree) begin(ctx context.Context, at gitAt, base string) (string, error) {
	t.Base = base
	if base == "" {
		t.Base = "HEAD"
		if name, err := at.git(ctx, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
			t.Base = name
		}
	}
	start, err := at.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", t.Base+"^{commit}")
	if err == nil {
		return start, nil
	}
	if base == "" {
		return "", unusable("the repository has no commit yet")
	}
	return "", unusable("the base is neither branch, tag nor commit of the repository")
}

// branchOf finds the task's branch when it exists already.
func branchOf(ctx context.Context, at gitAt, t *Tree) (string, error) {
	out, err := at.git(ctx, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/fairlead/"+t.Identifier, "refs/heads/fairlead/"+t.Identifier+"-*")
	if err != nil {
		return "", problem(err, "the branches could not be read")
	}
	names := strings.Fields(out)
	for _, n := range names {
		if n == t.Branch {
			return n, nil
		}
	}
	if len(names) > 0 {
		return names[0], nil
	}
	return "", nil
}

func registered(ctx context.Context, at gitAt, dir string) bool {
	out, err := at.git(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		real = filepath.Dir(dir)
	}
	for line := range strings.SplitSeq(out, "\n") {
		if p, ok := strings.CutPrefix(line, "worktree "); ok && (p == dir || p == filepath.Join(real, filepath.Base(dir))) {
			return true
		}
	}
	return false
}

// Writable lists where an agent must be able to write to work in a tree: the directory, the place for temporary files,
// and those parts of the repository that its commits go to. The repository's hooks and settings are not among them.
func (t *Tree) Writable() []string {
	out := []string{t.Dir, os.TempDir()}
	if t.Repository != "" {
		out = append(out, t.GitDir)
		for _, part := range []string{"objects", "refs", "logs"} {
			out = append(out, filepath.Join(t.Common, part))
		}
	}
	return out
}

// unusable is a repository that no retry mends.
func unusable(message string) error {
	return &fairlead.Failure{Class: fairlead.ClassConfiguration, Message: message}
}

// problem gives a git error a message, and keeps errors that have a meaning of their own.
func problem(err error, message string) error {
	var ge *gitError
	if errors.As(err, &ge) {
		return &fairlead.Failure{Class: fairlead.ClassConfiguration, Message: message + " (" + ge.Error() + ")"}
	}
	return err
}
