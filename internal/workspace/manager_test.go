package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workspace"
)

type bench struct {
	t    *testing.T
	repo string
	home string
	m    *workspace.Manager
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func setup(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, repo: filepath.Join(t.TempDir(), "repo"), home: filepath.Join(t.TempDir(), "worktrees")}
	must(t, os.Mkdir(b.repo, 0o755))
	git(t, b.repo, "init", "-q", "-b", "main")
	write(t, filepath.Join(b.repo, "a.txt"), "one\n")
	write(t, filepath.Join(b.repo, "b.txt"), "two\nthree\nfour\n")
	write(t, filepath.Join(b.repo, ".gitignore"), "ignored\n")
	git(t, b.repo, "add", ".")
	git(t, b.repo, "commit", "-qm", "first")
	b.m = b.manager(nil)
	return b
}

func (b *bench) manager(o *workspace.ManagerOptions) *workspace.Manager {
	b.t.Helper()
	m, err := workspace.NewManager(b.home, o)
	must(b.t, err)
	return m
}

func (b *bench) prepare(id string) workspace.Tree {
	b.t.Helper()
	tree, err := b.m.Prepare(b.t.Context(), workspace.Order{Identifier: id, Title: "Fix: the Log-in!", Repository: b.repo})
	must(b.t, err)
	return tree
}

func TestPrepareIsIdempotent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.prepare("FL-1")
	if first.Branch != "fairlead/FL-1-fix-the-log-in" || first.Base != "main" {
		t.Errorf("got %+v", first)
	}
	write(t, filepath.Join(first.Dir, "new"), "x")
	b.m = b.manager(nil)
	again, err := b.m.Prepare(t.Context(), workspace.Order{Identifier: "FL-1", Title: "Renamed", Repository: b.repo})
	must(t, err)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(first.Dir, "new")); err != nil {
		t.Error("work is gone")
	}
	if got := git(t, first.Dir, "branch", "--show-current"); got != first.Branch {
		t.Errorf("got branch %q", got)
	}
}

func TestPrepareAfterCrashAndLoss(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "c"), "x")
	commit, err := b.m.Commit(t.Context(), "FL-1", "work")
	must(t, err)
	must(t, os.RemoveAll(tree.Dir)) // somebody deleted the directory
	again := b.prepare("FL-1")
	if got := git(t, again.Dir, "rev-parse", "HEAD"); got != commit || again.Commit != tree.Commit {
		t.Errorf("got %s on %+v", got, again)
	}
	meta := filepath.Join(b.home, ".meta", "FL-1.json")
	data, err := os.ReadFile(meta)
	must(t, err)
	write(t, meta, strings.Replace(string(data), `"ready":true`, `"ready":false`, 1)) // killed before it was handed out
	write(t, filepath.Join(tree.Dir, "half"), "")
	again = b.prepare("FL-1")
	if _, err := os.Stat(filepath.Join(again.Dir, "half")); err == nil || !again.Ready {
		t.Errorf("a half-made tree was handed out")
	}
}

func TestS2_PrepareRefusesNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{"", "..", "../x", "a/b", ".meta", "-x", "a b", strings.Repeat("a", 64)} {
		_, err := b.m.Prepare(t.Context(), workspace.Order{Identifier: id, Repository: b.repo})
		if !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%q: got %v", id, err)
		}
		if _, err := b.m.Remove(t.Context(), id); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("remove %q: got %v", id, err)
		}
	}
	for _, o := range []workspace.Order{
		{Identifier: "FL-1", Repository: b.repo, Base: "--output=/tmp/x"}, {Identifier: "FL-1", Repository: b.repo, Base: "nothing"},
		{Identifier: "FL-1", Repository: b.home + "/none"}, {Identifier: "FL-1", Repository: t.TempDir()},
	} {
		if _, err := b.m.Prepare(t.Context(), o); err == nil {
			t.Errorf("%+v passed", o)
		}
	}
}

func TestS5_PrepareRefusesOnAFullDisk(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.m = b.manager(&workspace.ManagerOptions{MinFree: 1 << 60})
	if _, err := b.m.Prepare(t.Context(), workspace.Order{Identifier: "FL-1"}); !fairlead.IsCode(err, fairlead.CodeUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestChangesShowCommittedAndOtherWork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "a.txt"), "one\nmore\n")
	_, err := b.m.Commit(t.Context(), "FL-1", "more of a")
	must(t, err)
	must(t, os.Rename(filepath.Join(tree.Dir, "b.txt"), filepath.Join(tree.Dir, "ü c.txt")))
	write(t, filepath.Join(tree.Dir, "bin"), "\x00\x01")
	write(t, filepath.Join(tree.Dir, "ignored"), "no")
	got, err := b.m.Files(t.Context(), "FL-1")
	must(t, err)
	want := []workspace.FileChange{
		{Path: "a.txt", Status: "modified", Added: 1},
		{Path: "bin", Status: "added", Added: -1, Deleted: -1},
		{Path: "ü c.txt", Old: "b.txt", Status: "renamed"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	text, cut, err := b.m.Diff(t.Context(), "FL-1", 0)
	if err != nil || cut || !strings.Contains(text, "+more") || !strings.Contains(text, "rename to") {
		t.Errorf("got %q, %v, %v", text, cut, err)
	}
	if text, cut, err = b.m.Diff(t.Context(), "FL-1", 10); err != nil || !cut || len(text) != 10 {
		t.Errorf("got %q, %v, %v", text, cut, err)
	}
	commits, err := b.m.Commits(t.Context(), "FL-1", 10)
	if err != nil || len(commits) != 1 || commits[0].Subject != "more of a" {
		t.Errorf("got %+v, %v", commits, err)
	}
	if got := git(t, tree.Dir, "status", "--porcelain"); !strings.Contains(got, "?? bin") {
		t.Errorf("a look changed the index: %q", got)
	}
}

func TestA22_RemoveRescuesADirtyTree(t *testing.T) {
	t.Parallel()
	b := setup(t)
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	b.m = b.manager(&workspace.ManagerOptions{Now: func() time.Time { return at }})
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "a.txt"), "changed\n")
	write(t, filepath.Join(tree.Dir, "deep/new.txt"), "new\n")
	early, err := b.m.Rescue(t.Context(), "FL-1")
	must(t, err)
	got, err := b.m.Remove(t.Context(), "FL-1")
	must(t, err)
	if want := "refs/fairlead/rescue/FL-1-20260501T100000Z"; got.Rescued.Ref != want || got.Rescued != early || got.Kept != "" {
		t.Errorf("got %+v, earlier %+v", got, early)
	}
	if s := git(t, b.repo, "show", got.Rescued.Ref+":deep/new.txt"); s != "new" {
		t.Errorf("got %q", s)
	}
	if s := git(t, b.repo, "worktree", "list"); strings.Contains(s, "FL-1") {
		t.Errorf("still registered: %s", s)
	}
	for range 2 {
		if again, err := b.m.Remove(t.Context(), "FL-1"); err != nil || again != (workspace.Removal{}) {
			t.Errorf("got %+v, %v", again, err)
		}
	}
}

func TestA22_RemoveRescuesUnpushedCommitsAndDetachedHeads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.prepare("FL-1")
	git(t, tree.Dir, "checkout", "-q", "--detach")
	write(t, filepath.Join(tree.Dir, "x"), "x")
	commit, err := b.m.Commit(t.Context(), "FL-1", "nowhere else")
	must(t, err)
	got, err := b.m.Remove(t.Context(), "FL-1")
	if err != nil || got.Rescued.Commit != commit {
		t.Errorf("got %+v, %v", got, err)
	}
	b.prepare("FL-2")
	if got, err := b.m.Remove(t.Context(), "FL-2"); err != nil || got != (workspace.Removal{}) {
		t.Errorf("a clean tree: got %+v, %v", got, err)
	}
	if s := git(t, b.repo, "branch", "--list", "fairlead/FL-2*"); s != "" {
		t.Errorf("an empty branch is left: %q", s)
	}
}

func TestA22_RemoveWithTheTreeMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.prepare("FL-1")
	must(t, os.RemoveAll(tree.Dir))
	if got, err := b.m.Remove(t.Context(), "FL-1"); err != nil || got != (workspace.Removal{}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if s := git(t, b.repo, "worktree", "list"); strings.Contains(s, "FL-1") {
		t.Errorf("still registered: %s", s)
	}
}

func TestA22_RemoveWithTheRepositoryGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "precious"), "x")
	must(t, os.RemoveAll(b.repo))
	got, err := b.m.Remove(t.Context(), "FL-1")
	must(t, err)
	if data, err := os.ReadFile(filepath.Join(got.Kept, "precious")); err != nil || string(data) != "x" {
		t.Errorf("got %+v, %v", got, err)
	}
	if again, err := b.m.Remove(t.Context(), "FL-1"); err != nil || again != (workspace.Removal{}) {
		t.Errorf("got %+v, %v", again, err)
	}
}

func TestA22_RemoveKeepsRepositoriesInsideAndPlainDirectories(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.prepare("FL-1")
	inner := filepath.Join(tree.Dir, "clone")
	must(t, os.Mkdir(inner, 0o755))
	git(t, inner, "init", "-q")
	write(t, filepath.Join(inner, "f"), "x")
	got, err := b.m.Remove(t.Context(), "FL-1")
	if err != nil || got.Kept == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	plain, err := b.m.Prepare(t.Context(), workspace.Order{Identifier: "FL-3", Title: "report"})
	must(t, err)
	write(t, filepath.Join(plain.Dir, "report.md"), "x")
	if got, err = b.m.Remove(t.Context(), "FL-3"); err != nil || got.Kept == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := b.m.Prepare(t.Context(), workspace.Order{Identifier: "FL-4"}); err != nil {
		t.Error(err)
	}
	if got, err = b.m.Remove(t.Context(), "FL-4"); err != nil || got.Kept != "" {
		t.Errorf("an empty directory: got %+v, %v", got, err)
	}
}

func TestS2_ForgedGitFileRunsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.prepare("FL-1")
	evil := filepath.Join(t.TempDir(), "evil")
	must(t, os.Mkdir(evil, 0o755))
	git(t, evil, "init", "-q")
	mark := filepath.Join(evil, "ran")
	git(t, evil, "config", "core.fsmonitor", "touch "+mark)
	git(t, evil, "config", "diff.external", "touch "+mark)
	write(t, filepath.Join(tree.Dir, ".git"), "gitdir: "+filepath.Join(evil, ".git"))
	write(t, filepath.Join(tree.Dir, "a.txt"), "changed\n")
	if files, err := b.m.Files(t.Context(), "FL-1"); err != nil || len(files) != 1 {
		t.Errorf("got %+v, %v", files, err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the agent's configuration ran")
	}
}
