package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fairlead/fairlead"
)

// restored makes a task's tree from the checkpoint of another node. What stands in its place is from an earlier time: it
// is saved like that of any tree that goes.
func (m *Manager) restored(ctx context.Context, t Tree, o Order) (Tree, error) {
	if err := o.Restore.check(); err != nil {
		return Tree{}, err
	}
	if o.Repository == "" {
		return Tree{}, unusable("a directory without a repository has no checkpoint")
	}
	if err := m.vacate(ctx, &t); err != nil {
		return Tree{}, fmt.Errorf("make room for the checkpoint: %w", err)
	}
	repo, err := filepath.Abs(o.Repository)
	if err != nil {
		return Tree{}, fmt.Errorf("find repository: %w", err)
	}
	at := gitAt{dir: repo}
	old := t
	t = Tree{Identifier: o.Identifier, Dir: m.treeDir(o.Identifier), Repository: o.Repository, Branch: old.Branch}
	if t.Common, err = at.git(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir"); err != nil {
		return Tree{}, problem(err, "the directory is no git repository")
	}
	defer m.lock("repository " + t.Common)()
	if err := fetch(ctx, at, o.Restore); err != nil {
		return Tree{}, err
	}
	start, err := t.begin(ctx, at, o.Base)
	if err != nil {
		return Tree{}, err
	}
	if err := m.takeBranch(ctx, at, &t, o); err != nil {
		return Tree{}, err
	}
	if err := m.save(&t); err != nil {
		return Tree{}, err
	}
	// Another tree may have the branch: that of the node whose work goes on here, on the same machine.
	if _, err := at.git(ctx, "worktree", "add", "--force", "--", t.Dir, t.Branch); err != nil {
		return Tree{}, errors.Join(problem(err, "the worktree could not be made"), m.clear(&t))
	}
	// What was committed is committed, and what was not is not.
	for _, args := range [][]string{{"read-tree", "--reset", "-u", o.Restore.Commit}, {"reset", "--quiet"}} {
		if _, err := (gitAt{dir: t.Dir}).git(ctx, args...); err != nil {
			return Tree{}, errors.Join(problem(err, "the checkpoint could not be checked out"), m.clear(&t))
		}
	}
	tree, err := at.git(ctx, "rev-parse", o.Restore.Commit+"^{tree}")
	if err != nil {
		return Tree{}, problem(err, "the checkpoint is not usable")
	}
	t.Last, t.Pushed, t.Restored = o.Restore.Head+":"+tree, map[string]string{o.Restore.Ref: o.Restore.Commit}, o.Restore.Key
	return m.finish(ctx, t, start)
}

// vacate saves what an earlier tree holds and takes it away.
func (m *Manager) vacate(ctx context.Context, t *Tree) error {
	if t.Ready && t.Repository != "" && m.healthy(ctx, t) {
		if _, err := m.dismantle(ctx, t); err != nil {
			return err
		}
	}
	return m.clear(t)
}

// fetch brings the commit of a checkpoint into the repository, unless it is there.
func fetch(ctx context.Context, at gitAt, r *Restore) error {
	if at.has(ctx, r.Commit) && at.has(ctx, r.Head) {
		return nil
	}
	remote, err := remoteOf(ctx, at)
	if err != nil {
		return problem(err, "the remotes could not be read")
	}
	if remote == "" {
		return unusable("the repository has no remote that the checkpoint could come from")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	// A late push of a node that was declared dead may have taken the ref's place: then the commit is asked for itself.
	var fetched error
	for _, what := range []string{"+" + r.Ref + ":" + r.Ref, r.Commit} {
		if _, fetched = at.git(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--", remote, what); fetched == nil && at.has(ctx, r.Commit) {
			return nil
		}
	}
	message := "the remote does not have the checkpoint any more"
	if fetched != nil {
		message = "the checkpoint could not be fetched (" + fetched.Error() + ")"
	}
	// The network may be back in a minute; the ladder's end tells people.
	return &fairlead.Failure{Class: fairlead.ClassTransient, Message: message}
}

// fetchTime bounds the fetch of a checkpoint, which may bring a whole history.
const fetchTime = pushTime * 15

func (a gitAt) has(ctx context.Context, commit string) bool {
	_, err := a.git(ctx, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// takeBranch puts the task's branch where the other node had it. Commits that only the branch of here has are saved.
func (m *Manager) takeBranch(ctx context.Context, at gitAt, t *Tree, o Order) error {
	name, err := branchOf(ctx, at, t)
	if err != nil {
		return err
	}
	tip := ""
	if t.Branch = name; name == "" {
		t.Branch = strings.TrimSuffix("fairlead/"+o.Identifier+"-"+slug(o.Title), "-")
	} else if tip, err = at.git(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+name); err != nil {
		return problem(err, "the task's branch could not be read")
	}
	if tip != "" && tip != o.Restore.Head {
		if _, err := at.git(ctx, "merge-base", "--is-ancestor", tip, o.Restore.Head); err != nil {
			if _, err := at.git(ctx, "update-ref", "refs/fairlead/rescue/"+o.Identifier+"-"+m.stamp()+"-branch", tip); err != nil {
				return problem(err, "the commits of the branch could not be saved")
			}
		}
	}
	if _, err := at.git(ctx, "update-ref", "refs/heads/"+t.Branch, o.Restore.Head, tip); err != nil {
		return problem(err, "the task's branch could not be set")
	}
	return nil
}
