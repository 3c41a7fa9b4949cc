package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/workspace"
)

// withRemote gives the repository a bare origin and returns its place.
func (b *bench) withRemote() string {
	b.t.Helper()
	remote := filepath.Join(b.t.TempDir(), "remote.git")
	git(b.t, b.repo, "clone", "-q", "--bare", b.repo, remote)
	git(b.t, b.repo, "remote", "add", "origin", remote)
	return remote
}

// elsewhere is another node: its own home, and its own clone of the remote at the same path, as on another machine.
func (b *bench) elsewhere(remote string) *bench {
	b.t.Helper()
	must(b.t, os.Rename(b.repo, b.repo+"-of-the-dead"))
	git(b.t, filepath.Dir(b.repo), "clone", "-q", remote, b.repo)
	other := &bench{t: b.t, repo: b.repo, home: filepath.Join(b.t.TempDir(), "worktrees")}
	other.m = other.manager(nil)
	return other
}

func sure() bool   { return true }
func unsure() bool { return false }

func (b *bench) leave(name string) *workspace.Checkpoint {
	b.t.Helper()
	left, err := b.m.Leave(b.t.Context(), "FL-1", name, unsure)
	must(b.t, err)
	if !left.Repository {
		b.t.Fatal("the tree is not a worktree")
	}
	return left.Checkpoint
}

func (b *bench) restore(key string, c *workspace.Checkpoint) (workspace.Tree, error) {
	return b.m.Prepare(b.t.Context(), workspace.Order{
		Identifier: "FL-1", Title: "Fix: the Log-in!", Repository: b.repo,
		Restore: &workspace.Restore{Key: key, Ref: c.Ref, Commit: c.Commit, Head: c.Head},
	})
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

func TestCheckpointIsPushed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote := b.withRemote()
	tree := b.prepare("FL-1")
	if c := b.leave("asg_1"); c != nil {
		t.Errorf("got %+v of a tree that nobody touched", c)
	}
	if left, err := b.m.Leave(t.Context(), "FL-1", "asg_1", unsure); err != nil || !left.Clean {
		t.Errorf("got %+v, %v, want it clean", left, err)
	}
	write(t, filepath.Join(tree.Dir, "n"), "x")
	c := b.leave("asg_1")
	if c == nil || !c.Pushed || c.Failed != "" {
		t.Fatalf("got %+v", c)
	}
	if s := git(t, remote, "rev-parse", "refs/fairlead/checkpoint/asg_1"); s != c.Commit {
		t.Errorf("got %s", s)
	}
	if s := git(t, tree.Dir, "status", "--porcelain"); s != "?? n" {
		t.Errorf("the tree changed: %q", s)
	}
	if c := b.leave("asg_1"); c != nil {
		t.Errorf("got %+v of a tree that did not change since", c)
	}
	if left, err := b.m.Leave(t.Context(), "FL-1", "asg_1", unsure); err != nil || left.Clean {
		t.Errorf("got %+v, %v, want it not clean", left, err)
	}
	write(t, filepath.Join(tree.Dir, "ignored"), "x")
	if c := b.leave("asg_1"); c != nil {
		t.Errorf("got %+v for a file that is ignored", c)
	}
	_, err := b.m.Commit(t.Context(), "FL-1", "work")
	must(t, err)
	if c = b.leave("asg_1"); c == nil || c.Commit != c.Head || !c.Pushed {
		t.Errorf("got %+v, want the commit itself", c)
	}
}

func TestCheckpointWithoutARemote(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "n"), "x")
	if c := b.leave("asg_1"); c == nil || c.Pushed || c.Remote || c.Failed != "" {
		t.Errorf("got %+v", c)
	}
	if c := b.leave("asg_1"); c != nil {
		t.Errorf("got %+v again", c)
	}
}

func TestAPushThatFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote := b.withRemote()
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "n"), "x")
	must(t, os.Rename(remote, remote+"-away"))
	if c := b.leave("asg_1"); c == nil || c.Pushed || !c.Remote || c.Failed == "" {
		t.Fatalf("got %+v, want it to say that it is not pushed", c)
	}
	must(t, os.Rename(remote+"-away", remote))
	if c := b.leave("asg_1"); c == nil || !c.Pushed {
		t.Errorf("got %+v", c)
	}
}

// A tree goes on elsewhere as it was left: committed, uncommitted, deleted and new files, the branch, and no more.
func TestATreeGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote := b.withRemote()
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "done.txt"), "done\n")
	commit, err := b.m.Commit(t.Context(), "FL-1", "work")
	must(t, err)
	write(t, filepath.Join(tree.Dir, "a.txt"), "changed\n")
	write(t, filepath.Join(tree.Dir, "sub", "new.txt"), "new\n")
	must(t, os.Remove(filepath.Join(tree.Dir, "b.txt")))
	c := b.leave("asg_1")
	write(t, filepath.Join(tree.Dir, "late.txt"), "after the checkpoint\n")

	o := b.elsewhere(remote)
	got, err := o.restore("5", c)
	must(t, err)
	if got.Branch != tree.Branch || git(t, got.Dir, "branch", "--show-current") != tree.Branch {
		t.Errorf("got branch %q, want %q", got.Branch, tree.Branch)
	}
	if head := git(t, got.Dir, "rev-parse", "HEAD"); head != commit {
		t.Errorf("the branch stands on %s, want %s", head, commit)
	}
	if s := strings.ReplaceAll(git(t, got.Dir, "status", "--porcelain", "-uall"), "\n", ","); s != "M a.txt, D b.txt,?? sub/new.txt" {
		t.Errorf("got status %q", s)
	}
	if read(t, filepath.Join(got.Dir, "a.txt")) != "changed\n" || read(t, filepath.Join(got.Dir, "done.txt")) != "done\n" {
		t.Error("the files are not those of the checkpoint")
	}
	if c := o.leave("asg_1"); c != nil {
		t.Errorf("got %+v although nothing changed since", c)
	}
	write(t, filepath.Join(got.Dir, "more.txt"), "more\n")
	if again, err := o.restore("5", c); err != nil || again.Dir != got.Dir || read(t, filepath.Join(got.Dir, "more.txt")) != "more\n" {
		t.Errorf("the same restoration made another tree: %+v, %v", again, err)
	}
	if c := o.leave("asg_1"); c == nil || !c.Pushed {
		t.Errorf("got %+v, want it pushed over the one it began from", c)
	}
	if files, err := o.m.Files(t.Context(), "FL-1"); err != nil || len(files) != 5 {
		t.Errorf("got %+v, %v; want what the task changed since it began", files, err)
	}
}

// On one machine two homes may share a repository; and a home may have had the task before.
func TestATreeGoesOnOverAnEarlierOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.withRemote()
	o := &bench{t: t, repo: b.repo, home: filepath.Join(t.TempDir(), "worktrees")}
	o.m = o.manager(nil)
	mine, err := o.m.Prepare(t.Context(), workspace.Order{Identifier: "FL-1", Title: "Fix: the Log-in!", Repository: b.repo})
	must(t, err)
	write(t, filepath.Join(mine.Dir, "mine"), "x")
	git(t, b.repo, "worktree", "list") // both know the branch
	git(t, mine.Dir, "checkout", "-q", "--detach")
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "theirs"), "x")
	c := b.leave("asg_1")
	got, err := o.restore("7", c)
	must(t, err)
	if _, err := os.Stat(filepath.Join(got.Dir, "theirs")); err != nil {
		t.Error("the checkpoint is not there")
	}
	if _, err := os.Stat(filepath.Join(got.Dir, "mine")); err == nil {
		t.Error("the earlier tree was used")
	}
	if refs := git(t, b.repo, "for-each-ref", "--format=%(refname)", "refs/fairlead/rescue/"); !strings.Contains(refs, "FL-1-") {
		t.Errorf("what the earlier tree held was not saved: %q", refs)
	}
	// The tree of the node that was declared dead goes; the branch and the checkpoint are the other's now.
	gone, err := b.m.Evict(t.Context(), "FL-1")
	must(t, err)
	if gone.Rescued.Ref == "" {
		t.Errorf("got %+v, want what it held on a rescue ref", gone)
	}
	if git(t, got.Dir, "rev-parse", "HEAD") == "" || git(t, b.repo, "rev-parse", "refs/fairlead/checkpoint/asg_1") != c.Commit {
		t.Error("the other's branch or checkpoint is gone")
	}
}

// A node that was declared dead pushes late: whoever has the task now replaces that, and nobody else does.
func TestALatePushDoesNotWin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote := b.withRemote()
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "n"), "1")
	first := b.leave("asg_1")
	o := b.elsewhere(remote)
	got, err := o.restore("5", first)
	must(t, err)

	// The dead one is first: the other asks whether the task is still its own, then takes the ref.
	must(t, os.Rename(b.repo, b.repo+"-alive"))
	must(t, os.Rename(b.repo+"-of-the-dead", b.repo))
	write(t, filepath.Join(tree.Dir, "n"), "2")
	if late := b.leave("asg_1"); late == nil || !late.Pushed {
		t.Fatalf("got %+v, want it pushed: nobody was before it", late)
	}
	must(t, os.Rename(b.repo, b.repo+"-of-the-dead"))
	must(t, os.Rename(b.repo+"-alive", b.repo))
	write(t, filepath.Join(got.Dir, "n"), "3")
	if c := o.leave("asg_1"); c == nil || c.Pushed || c.Failed == "" {
		t.Fatalf("got %+v, want a refusal: nobody said that the task is ours", c)
	}
	left, err := o.m.Leave(t.Context(), "FL-1", "asg_1", sure)
	must(t, err)
	if left.Checkpoint == nil || !left.Checkpoint.Pushed {
		t.Fatalf("got %+v", left.Checkpoint)
	}

	// Now the dead one comes too late.
	must(t, os.Rename(b.repo, b.repo+"-alive"))
	must(t, os.Rename(b.repo+"-of-the-dead", b.repo))
	write(t, filepath.Join(tree.Dir, "n"), "4")
	if late := b.leave("asg_1"); late == nil || late.Pushed {
		t.Errorf("got %+v, want it refused", late)
	}
	if s := git(t, remote, "rev-parse", "refs/fairlead/checkpoint/asg_1"); s != left.Checkpoint.Commit {
		t.Errorf("the remote has %s, want the living node's %s", s, left.Checkpoint.Commit)
	}
}

// The remote's ref was overwritten by a late push: the recorded commit itself is fetched.
func TestACheckpointIsFoundBehindALatePush(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote := b.withRemote()
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "n"), "1")
	first := b.leave("asg_1")
	write(t, filepath.Join(tree.Dir, "n"), "2")
	b.leave("asg_1")
	o := b.elsewhere(remote)
	got, err := o.restore("5", first)
	must(t, err)
	if s := read(t, filepath.Join(got.Dir, "n")); s != "1" {
		t.Errorf("got %q, want the checkpoint that was asked for", s)
	}
}

func TestARestorationThatCannotBe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote := b.withRemote()
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "n"), "1")
	c := b.leave("asg_1")
	git(t, remote, "update-ref", "-d", c.Ref)
	git(t, remote, "prune", "--expire=now")
	o := b.elsewhere(remote)
	if got, err := o.restore("5", c); err == nil {
		t.Errorf("got %+v without the checkpoint", got)
	}
	if _, err := os.Stat(filepath.Join(o.home, "FL-1")); err == nil {
		t.Error("a tree was left")
	}
	for _, bad := range []workspace.Checkpoint{{Ref: "refs/heads/main", Commit: c.Commit, Head: c.Head}, {Ref: c.Ref, Commit: "--upload-pack=x", Head: c.Head}} {
		if _, err := o.restore("5", &bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func TestRemoveTakesCheckpointsAway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote := b.withRemote()
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "n"), "1")
	b.leave("asg_1")
	gone, err := b.m.Remove(t.Context(), "FL-1")
	must(t, err)
	if gone.Rescued.Ref == "" {
		t.Errorf("got %+v", gone)
	}
	for _, dir := range []string{b.repo, remote} {
		if refs := git(t, dir, "for-each-ref", "refs/fairlead/checkpoint/"); refs != "" {
			t.Errorf("%s still has %s", dir, refs)
		}
	}
}

func TestLeaveOfAPlainDirectory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree, err := b.m.Prepare(t.Context(), workspace.Order{Identifier: "FL-2"})
	must(t, err)
	for _, want := range []bool{false, true} {
		left, err := b.m.Leave(t.Context(), "FL-2", "asg_1", unsure)
		if err != nil || left.Files != want || left.Repository || left.Checkpoint != nil {
			t.Errorf("got %+v, %v, want files %v", left, err, want)
		}
		write(t, filepath.Join(tree.Dir, "f"), "x")
	}
}

// A repository that was made anew in the old one's place knows another tree by the old tree's name.
func TestAnOldTreeDoesNotTouchANewOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote := b.withRemote()
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "n"), "1")
	c := b.leave("asg_1")
	write(t, filepath.Join(tree.Dir, "n"), "late")
	o := b.elsewhere(remote)
	got, err := o.restore("5", c)
	must(t, err)
	if got.GitDir != tree.GitDir {
		t.Fatalf("got %s and %s, want one name for both", got.GitDir, tree.GitDir)
	}
	gone, err := b.m.Evict(t.Context(), "FL-1")
	must(t, err)
	if read(t, filepath.Join(gone.Kept, "n")) != "late" {
		t.Errorf("got %+v, want the old tree kept aside", gone)
	}
	if s := git(t, got.Dir, "status", "--porcelain"); s != "?? n" {
		t.Errorf("the new tree says %q", s)
	}
}
