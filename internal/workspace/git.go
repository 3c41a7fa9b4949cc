package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// gitAt says where a git command runs. With a git directory, the worktree's own ".git" file is not read: an agent can
// write it, and a git directory of its choice could make our commands run its programs.
type gitAt struct {
	dir    string // working directory
	gitDir string // "" lets git find it
	index  string // "" is the usual index
}

// hardened are settings that keep a repository's configuration from running programs in our name or asking questions.
func hardened() []string {
	return []string{
		"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "commit.gpgSign=false",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "protocol.ext.allow=never", "-c", "core.editor=true",
		"-c", "advice.detachedHead=false", "-c", "submodule.recurse=false", "-c", "core.autocrlf=false",
	}
}

// git runs one git command and returns its output. The error has the last line of what git said.
func (a gitAt) git(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	err := a.stream(ctx, &out, args...)
	return strings.TrimSuffix(out.String(), "\n"), err
}

func (a gitAt) stream(ctx context.Context, out io.Writer, args ...string) error {
	full := hardened()
	if a.gitDir != "" {
		full = append(full, "--git-dir="+a.gitDir, "--work-tree="+a.dir)
	}
	cmd := exec.CommandContext(ctx, "git", append(full, args...)...)
	cmd.Dir, cmd.WaitDelay = a.dir, 2*time.Second
	cmd.Env = append(gitEnv(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "GIT_ASKPASS=true", "SSH_ASKPASS=true", "GIT_PAGER=cat",
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes", "GIT_COMMITTER_NAME=Fairlead", "GIT_COMMITTER_EMAIL=fairlead@localhost")
	if a.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+a.index)
	}
	errs := NewCapture(4096)
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("run git %s: %w", args[0], ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return fairlead.Errorf(fairlead.CodeUnavailable, "git is not installed").WithHint("install git, or use tasks without a repository")
	}
	return &gitError{verb: args[0], said: lastLine(errs.String()), err: err}
}

func gitEnv() []string {
	var out []string
	for _, name := range []string{"PATH", "HOME", "USER", "TMPDIR", "SSH_AUTH_SOCK", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "XDG_CONFIG_HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// gitError is a git command that said no.
type gitError struct {
	verb, said string
	err        error
}

func (e *gitError) Error() string { return "git " + e.verb + ": " + e.said }
func (e *gitError) Unwrap() error { return e.err }

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if l := strings.TrimSpace(lines[i]); l != "" && !strings.HasPrefix(l, "hint:") {
			return l
		}
	}
	return "no message"
}

// head passes the first bytes on and swallows the rest.
type head struct {
	w    bytes.Buffer
	left int
	more bool
}

func (h *head) Write(p []byte) (int, error) {
	k := min(h.left, len(p))
	h.more = h.more || k < len(p)
	h.left -= k
	h.w.Write(p[:k])
	return len(p), nil
}
