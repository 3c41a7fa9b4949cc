package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead/internal/workspace"
)

func TestScratchIsACopyOfEverything(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "new"), "uncommitted")
	dir, err := b.m.Scratch(t.Context(), "FL-1", "review")
	must(t, err)
	if data, err := os.ReadFile(filepath.Join(dir, "new")); err != nil || string(data) != "uncommitted" {
		t.Errorf("got %q, %v", data, err)
	}
	if got := git(t, dir, "diff", "--name-only", "main"); got != "new" {
		t.Errorf("got %q", got)
	}
	write(t, filepath.Join(dir, "new"), "scribbled over")
	if data, err := os.ReadFile(filepath.Join(tree.Dir, "new")); err != nil || string(data) != "uncommitted" {
		t.Errorf("the tree changed: %q, %v", data, err)
	}
	if _, err := b.m.Scratch(t.Context(), "FL-1", "review"); err != nil { // again, over the old one
		t.Fatal(err)
	}
	_, err = b.m.Scratch(t.Context(), "FL-1", "other")
	must(t, err)
	for range 2 {
		must(t, b.m.RemoveScratch(t.Context(), "FL-1", "review"))
	}
	if n, err := b.manager(nil).SweepScratch(); n != 1 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if got := git(t, b.repo, "worktree", "list", "--porcelain"); strings.Contains(got, "scratch") || !strings.Contains(got, "FL-1") {
		t.Errorf("got %s", got)
	}
	plain, err := b.m.Prepare(t.Context(), workspace.Order{Identifier: "FL-2"})
	must(t, err)
	write(t, filepath.Join(plain.Dir, "deep/f"), "x")
	dir, err = b.m.Scratch(t.Context(), "FL-2", "review")
	must(t, err)
	if _, err := os.Stat(filepath.Join(dir, "deep/f")); err != nil {
		t.Error(err)
	}
}

func TestUndoPutsTheTreeBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.prepare("FL-1")
	write(t, filepath.Join(tree.Dir, "a.txt"), "uncommitted before\n")
	mark, err := b.m.Mark(t.Context(), "FL-1")
	must(t, err)
	if got, saved, err := b.m.Undo(t.Context(), "FL-1", mark); err != nil || len(got) > 0 || saved.Ref != "" {
		t.Errorf("nothing changed: got %v, %v, %v", got, saved, err)
	}
	write(t, filepath.Join(tree.Dir, "a.txt"), "after\n")
	write(t, filepath.Join(tree.Dir, "d/new"), "x")
	must(t, os.Remove(filepath.Join(tree.Dir, "b.txt")))
	_, err = b.m.Commit(t.Context(), "FL-1", "not allowed")
	must(t, err)
	write(t, filepath.Join(tree.Dir, "e"), "y")
	got, saved, err := b.m.Undo(t.Context(), "FL-1", mark)
	must(t, err)
	want := []workspace.FileChange{{Path: "a.txt", Status: "modified"}, {Path: "b.txt", Status: "deleted"}, {Path: "d/new", Status: "added"}, {Path: "e", Status: "added"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := git(t, b.repo, "show", saved.Ref+":e"); s != "y" {
		t.Errorf("what was undone is lost: %q", s)
	}
	if now, err := b.m.Mark(t.Context(), "FL-1"); err != nil || now != mark {
		t.Errorf("got %s, want %s, %v", now, mark, err)
	}
	if s := git(t, tree.Dir, "status", "--porcelain"); s != "M a.txt" {
		t.Errorf("got %q", s)
	}
	if _, _, err := b.m.Undo(t.Context(), "FL-1", "--x:y"); err == nil {
		t.Error("a malformed mark passed")
	}
}
