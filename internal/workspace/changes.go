package workspace

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// FileChange is a file that differs from where the task began.
type FileChange struct {
	Path    string `json:"path"`
	Old     string `json:"old,omitempty"` // earlier name of a renamed file
	Status  string `json:"status"`        // added, modified, deleted, renamed
	Added   int    `json:"added"`         // lines; -1 for a binary file
	Deleted int    `json:"deleted"`
}

// CommitInfo is a commit on the task's branch.
type CommitInfo struct {
	ID      string    `json:"id"`
	Subject string    `json:"subject"`
	Author  string    `json:"author"`
	At      time.Time `json:"at"`
}

// Diff returns everything that the task changed, committed or not, new files too, as a unified diff of at most limit
// bytes (0 means 1 MiB), and whether it was cut.
func (m *Manager) Diff(ctx context.Context, identifier string, limit int) (string, bool, error) {
	t, s, err := m.current(ctx, identifier)
	if err != nil {
		return "", false, err
	}
	if limit <= 0 {
		limit = 1 << 20
	}
	h := &head{left: limit}
	err = t.at().stream(ctx, h, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", m.origin(ctx, &t, s), s.tree, "--")
	if err != nil {
		return "", false, fmt.Errorf("diff workspace: %w", err)
	}
	return h.w.String(), h.more, nil
}

// Files lists what the task changed, by path.
func (m *Manager) Files(ctx context.Context, identifier string) ([]FileChange, error) {
	t, s, err := m.current(ctx, identifier)
	if err != nil {
		return nil, err
	}
	args := []string{"diff", "--no-ext-diff", "--no-textconv", "--find-renames", "-z"}
	pair := []string{m.origin(ctx, &t, s), s.tree, "--"}
	names, err := t.at().git(ctx, append(append(args, "--name-status"), pair...)...)
	if err != nil {
		return nil, fmt.Errorf("list changes: %w", err)
	}
	numbers, err := t.at().git(ctx, append(append(args, "--numstat"), pair...)...)
	if err != nil {
		return nil, fmt.Errorf("count changes: %w", err)
	}
	return changes(fields(names), fields(numbers)), nil
}

// changes reads git's two lists; both are in the order of paths. A rename has two names, which stand in both.
func changes(names, numbers []string) []FileChange {
	var out []FileChange
	for i := 0; i+1 < len(names); i += 2 {
		c := FileChange{Status: map[byte]string{'A': "added", 'D': "deleted", 'R': "renamed", 'C': "added"}[names[i][0]], Path: names[i+1]}
		if names[i][0] == 'R' || names[i][0] == 'C' {
			if i+2 >= len(names) {
				break
			}
			c.Old, c.Path = names[i+1], names[i+2]
			i++
		}
		if c.Status == "" {
			c.Status = "modified"
		}
		out = append(out, c)
	}
	n := 0
	for i := 0; i < len(numbers) && n < len(out); i++ {
		f := strings.SplitN(numbers[i], "\t", 3)
		if len(f) < 3 {
			break
		}
		out[n].Added, out[n].Deleted = count(f[0]), count(f[1])
		n++
		if f[2] == "" { // a rename: its two names follow
			i += 2
		}
	}
	return out
}

func count(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// Commits lists the commits of the task, newest first, at most limit.
func (m *Manager) Commits(ctx context.Context, identifier string, limit int) ([]CommitInfo, error) {
	t, err := m.repo(identifier)
	if err != nil {
		return nil, err
	}
	from := m.origin(ctx, &t, snap{head: "HEAD"})
	out, err := t.at().git(ctx, "log", "-z", "-n", strconv.Itoa(max(1, limit)), "--format=%H%x1f%an%x1f%ct%x1f%s", from+"..HEAD", "--")
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	var list []CommitInfo
	for _, line := range fields(out) {
		f := strings.SplitN(line, "\x1f", 4)
		if len(f) < 4 {
			continue
		}
		sec, _ := strconv.ParseInt(f[2], 10, 64)
		list = append(list, CommitInfo{ID: f[0], Author: f[1], At: time.Unix(sec, 0).UTC(), Subject: f[3]})
	}
	return list, nil
}

// Commit commits everything in the tree and returns the commit; "" when there is nothing to commit. The author is who
// the repository says, else Fairlead. No hook runs.
func (m *Manager) Commit(ctx context.Context, identifier, message string) (string, error) {
	t, err := m.repo(identifier)
	if err != nil {
		return "", err
	}
	defer m.lock("task " + identifier)()
	at := t.at()
	if err := addAll(ctx, at); err != nil {
		return "", fmt.Errorf("commit workspace: %w", err)
	}
	if _, err := at.git(ctx, "diff", "--cached", "--quiet", "--no-ext-diff"); err == nil {
		return "", nil
	}
	args := []string{"commit", "--no-verify", "--quiet", "-m", message}
	if _, err := at.git(ctx, "config", "user.email"); err != nil {
		args = append([]string{"-c", "user.name=Fairlead", "-c", "user.email=fairlead@localhost"}, args...)
	}
	if _, err := at.git(ctx, args...); err != nil {
		return "", fmt.Errorf("commit workspace: %w", err)
	}
	return at.git(ctx, "rev-parse", "HEAD")
}

// repo returns a tree that has a repository.
func (m *Manager) repo(identifier string) (Tree, error) {
	t, err := m.Get(identifier)
	if err == nil && t.Repository == "" {
		err = fairlead.Errorf(fairlead.CodeNotFound, "the task has no repository")
	}
	return t, err
}

func (m *Manager) current(ctx context.Context, identifier string) (Tree, snap, error) {
	t, err := m.repo(identifier)
	if err != nil {
		return t, snap{}, err
	}
	s, err := m.snapshot(ctx, &t)
	if err != nil {
		err = problem(err, "the workspace cannot be read")
	}
	return t, s, err
}

// origin is the commit that the task's work is compared with: where its branch leaves the base as that stands now, so
// that what was merged from the base is not the task's; else where the branch began.
func (m *Manager) origin(ctx context.Context, t *Tree, s snap) string {
	if c, err := t.at().git(ctx, "merge-base", s.head, t.Base); err == nil && t.Base != "HEAD" {
		return c
	}
	return t.Commit
}
