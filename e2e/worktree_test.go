package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// git runs one git command in a directory, without anybody's settings.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// smithScript writes something, then on a comment "slowly" looks at what is there, writes more, and waits for the gate.
const smithScript = `
  - when: {prompt: 'slowly'}
    do:
      - tool: {name: shell, args: {command: "ls *.txt >> seen; echo late > late.txt; while [ ! -e GATE ]; do sleep 0.05; done"}}
      - tool: {name: step_complete_fairlead, args: {}}
  - do:
      - tool: {name: shell, args: {command: "echo one >> work.txt"}}
`

const smithFlow = `
workflow: smithy
start: work
steps:
  - key: work
    agent: smith
    complete: signal
    on:
      enter: [{queue_run: {to: primary}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
      turn_complete: [{move: {to: done, if: 'payload.completed'}}]
  - {key: done, terminal: done}
`

// smithy is two nodes, each as on a machine of its own, and a task that works in a repository with a remote.
type smithy struct {
	t            *testing.T
	db           string
	gate         string
	repo, remote string
	holder       *server // has the worktree
	other        *server
	task         fairlead.TaskView
}

func newSmithy(t *testing.T) *smithy {
	t.Helper()
	s := &smithy{t: t, db: storetest.Postgres(t).URL, gate: filepath.Join(t.TempDir(), "gate"), repo: filepath.Join(t.TempDir(), "repo")}
	s.remote = filepath.Join(t.TempDir(), "remote.git")
	must(0, os.Mkdir(s.repo, 0o750))(t)
	git(t, s.repo, "init", "-q", "-b", "main")
	must(0, os.WriteFile(filepath.Join(s.repo, "README"), []byte("x\n"), 0o600))(t)
	git(t, s.repo, "add", ".")
	git(t, s.repo, "commit", "-qm", "first")
	git(t, s.repo, "clone", "-q", "--bare", s.repo, s.remote)
	git(t, s.repo, "remote", "add", "origin", s.remote)
	a, b := s.start(), s.start()
	a.agent("smith", strings.ReplaceAll(smithScript, "GATE", s.gate), "parallel: 4")
	a.save(smithFlow)
	s.task = a.task("smithy", func(n *fairlead.NewTask) { n.Repository = &fairlead.Repository{Path: s.repo} })
	s.holder, s.other = a, b
	s.quiet(a)
	if s.nodeOf(a) != s.worktree(a).Node {
		s.holder, s.other = b, a
	}
	return s
}

func (s *smithy) start() *server {
	s.t.Helper()
	return start(s.t, options{db: s.db, args: []string{"--workers", "2", "--log-level", "warn"}})
}

func (s *smithy) nodeOf(n *server) string {
	s.t.Helper()
	return (&couple{t: s.t}).nodeOf(n)
}

func (s *smithy) runs(n *server) []fairlead.RunView {
	s.t.Helper()
	return must(n.client.TaskRuns(s.t.Context(), s.task.ID))(s.t)
}

// last is the newest run of the task.
func (s *smithy) last(n *server) (last fairlead.RunView) {
	s.t.Helper()
	for _, r := range s.runs(n) {
		if r.RequestedAt.After(last.RequestedAt.Time) {
			last = r
		}
	}
	return last
}

// quiet waits until the task's newest run has succeeded, and returns it.
func (s *smithy) quiet(n *server) (r fairlead.RunView) {
	s.t.Helper()
	poll(s.t, "the end of the run", deadline, func() bool { r = s.last(n); return r.Status == fairlead.RunSucceeded })
	return r
}

func (s *smithy) comment(n *server, text string) {
	s.t.Helper()
	must(n.client.Comment(s.t.Context(), s.task.ID, fairlead.CommentBody{Text: text}))(s.t)
}

func (s *smithy) worktree(n *server) fairlead.Worktree {
	s.t.Helper()
	if w := n.show(s.task.ID).Worktree; w != nil {
		return *w
	}
	return fairlead.Worktree{}
}

// held waits until the task's run waits for the node that has its worktree, and returns it and its hold.
func (s *smithy) held(n *server) (r fairlead.RunView, h fairlead.Hold) {
	s.t.Helper()
	poll(s.t, "the hold for the worktree's node", takeover+deadline, func() bool {
		r = s.last(n)
		for _, h = range must(n.client.Why(s.t.Context(), r.ID))(s.t) {
			if h.Kind == fairlead.HoldWorkspaceOn {
				return true
			}
		}
		return false
	})
	return r, h
}

// path is a file of the task's worktree on a node.
func (s *smithy) path(n *server, name string) string {
	return filepath.Join(n.home, "worktrees", s.task.Identifier, name)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestPinned_WorkStaysWithItsWorktreeAndGoesOnFromACheckpoint loses a node for a while, and then for good.
func TestPinned_WorkStaysWithItsWorktreeAndGoesOnFromACheckpoint(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a node to be missed")
	}
	t.Parallel()
	s := newSmithy(t)
	for range 4 {
		s.comment(s.other, "more")
		if r := s.quiet(s.other); r.Node != s.nodeOf(s.holder) {
			t.Fatalf("the run went to %s, away from its worktree", r.Node)
		}
	}

	// Stopped in good order, and started again: the work waits, and goes on.
	s.holder.stop()
	s.comment(s.other, "more, when you are back")
	if _, h := s.held(s.other); !strings.Contains(h.Text, "is dead") {
		t.Errorf("got hold %+v", h)
	}
	s.holder = s.holder.again(options{db: s.db, args: []string{"--workers", "2", "--log-level", "warn"}})
	if r := s.quiet(s.other); r.Node != s.nodeOf(s.holder) {
		t.Errorf("the run went to %s, want it on the node that came back", r.Node)
	}
	pushed := s.worktree(s.other).Checkpoint
	if pushed == nil || git(t, s.remote, "rev-parse", pushed.Ref) != pushed.Commit {
		t.Fatalf("got checkpoint %+v, want it at the remote", pushed)
	}

	// Killed for good, in mid-turn.
	s.comment(s.other, "slowly")
	poll(t, "work after the checkpoint", deadline, func() bool { return exists(s.path(s.holder, "late.txt")) })
	s.holder.kill()
	run, h := s.held(s.other)
	if !strings.Contains(h.Release, "fairlead run release "+run.ID) {
		t.Errorf("got hold %+v", h)
	}
	must(0, os.WriteFile(s.gate, nil, 0o600))(t)
	must(0, os.Rename(s.repo, s.repo+"-of-the-dead"))(t) // the other machine has a clone of its own
	git(t, filepath.Dir(s.repo), "clone", "-q", s.remote, s.repo)
	if out, errs, code := s.other.command("run", "release", run.ID); code != 0 || !strings.Contains(out, run.ID) {
		t.Errorf("the command ended with %d and said %s%s", code, out, errs)
	}
	if done := s.quiet(s.other); done.ID != run.ID || done.Node != s.nodeOf(s.other) || done.Attempt != 0 {
		t.Errorf("got run %+v, want that very run on the other node, without an attempt", done)
	}
	if got := strings.Repeat("one\n", 6); got != read(t, s.path(s.other, "work.txt")) {
		t.Error("the worktree does not have what the checkpoint had")
	}
	if got := read(t, s.path(s.other, "seen")); got != "work.txt\n" {
		t.Errorf("the agent saw %q, want the checkpoint and nothing later", got)
	}
	s.hearsOf("what was done in it since is lost")

	// The node comes back: what it still has is kept, and is nobody's work any more.
	s.holder = s.holder.again(options{db: s.db, args: []string{"--workers", "2", "--log-level", "warn"}})
	poll(t, "the clean-up of the old worktree", deadline, func() bool { return !exists(filepath.Dir(s.path(s.holder, "x"))) })
	kept, err := filepath.Glob(filepath.Join(s.holder.home, "worktrees", ".kept", "*", "late.txt"))
	if err != nil || len(kept) != 1 {
		t.Errorf("got %v, %v; want what the dead node had, kept aside", kept, err)
	}
	if w := s.worktree(s.other); fairlead.NodeHome(w.Node) != fairlead.NodeHome(s.nodeOf(s.other)) || w.Checkpoint == nil || w.Checkpoint.Commit == pushed.Commit {
		t.Errorf("got worktree %+v, want it on the other node, with a checkpoint of its own", w)
	}
}

// hearsOf looks for a text in the last prompt of the task.
func (s *smithy) hearsOf(text string) {
	s.t.Helper()
	var last fairlead.RecordView
	page := must(s.other.client.Journal(s.t.Context(), s.task.ID, 0, 200))(s.t)
	for _, r := range page.Items {
		if r.Kind == fairlead.RecordTurnStarted {
			last = r
		}
	}
	if !strings.Contains(string(last.Data), text) {
		s.t.Errorf("the last prompt does not say %q: %s", text, last.Data)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	return string(must(os.ReadFile(path))(t))
}
