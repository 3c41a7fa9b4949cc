package e2e

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

// stream is a command that streams.
type stream struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	log   log
}

func (s *server) stream(t *testing.T, args ...string) *stream {
	t.Helper()
	c := &stream{t: t, cmd: exec.CommandContext(t.Context(), binary, append(args, "--home", s.home, "--url", s.url)...)}
	c.cmd.Env, c.cmd.Stderr = environ(), &c.log
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// kinds reads JSON lines until one has the kind, "" = to the end.
func (c *stream) kinds(until string) (kinds []string) {
	c.t.Helper()
	for c.lines.Scan() {
		if !json.Valid(c.lines.Bytes()) {
			c.t.Fatalf("no JSON line: %q", c.lines.Text())
		}
		kinds = append(kinds, field(c.t, c.lines.Bytes(), "kind"))
		if kinds[len(kinds)-1] == until {
			return kinds
		}
	}
	if until != "" {
		c.t.Fatalf("the stream ended before %s: %v %s", until, kinds, c.log.String())
	}
	return kinds
}

// task watch streams JSON lines and ends with the task; watching a task that has ended ends at once; journal --follow
// goes on with what happens, and ends with the interrupt.
func TestWatchAndFollow(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.save(kanban)
	task := s.task("plain")
	watch := s.stream(t, "task", "watch", task.Identifier, "--until-end", "--json")
	follow := s.stream(t, "journal", task.ID, "--follow", "--jsonl")
	follow.kinds(fairlead.RecordMoved) // the past is there
	stop := make(chan struct{})
	seen := make(chan struct{})
	go func() { // until the stream is there, events go by unseen
		defer close(seen)
		watch.kinds(string(fairlead.EventCommentAdded))
		close(stop)
	}()
	poll(t, "the first event of the stream", deadline, func() bool {
		s.comment(task.ID, "anybody there?")
		select {
		case <-stop:
			return true
		default:
			return false
		}
	})
	<-seen
	s.move(task.ID, "z")
	if rest := watch.kinds(""); rest[len(rest)-1] == "" {
		t.Errorf("events: %v", rest)
	}
	if err := watch.cmd.Wait(); err != nil {
		t.Errorf("watch: %v %s", err, watch.log.String())
	}
	follow.kinds(fairlead.RecordMoved)
	if err := follow.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = follow.cmd.Wait() // it was killed
	if out, errs, code := s.command("task", "watch", task.ID, "--until-end", "--json"); code != 0 || out != "" {
		t.Errorf("watch what has ended: %d %q %s", code, out, errs)
	}
}

// The main job: the demo ends well by itself, asks in the terminal when it is told to, and says when nobody answers.
func TestDemo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, stdin string
		args        []string
		code        int
		wants       []string
	}{
		{"auto", "", []string{"demo", "--answer", "auto"}, 0, []string{"rejected", "→ done", "git add -A && git commit", "is done. On branch fairlead/FL-1-", "2 files changed"}},
		{"ask", "what?\n1\napprove\n", []string{"demo", "--answer", "ask"}, 0, []string{"1 approve   2 reject", "is done. On branch"}},
		{"nobody", "", []string{"demo", "--answer", "ask"}, 5, nil},
		{"wrong", "", []string{"demo", "--answer", "perhaps"}, 2, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), binary, tc.args...)
			var errs log
			cmd.Env, cmd.Stdin, cmd.Stderr = append(environ(), "TMPDIR="+t.TempDir()), strings.NewReader(tc.stdin), &errs
			out, err := cmd.Output()
			if code := cmd.ProcessState.ExitCode(); code != tc.code {
				t.Fatalf("exit code %d, %v\n%s\n%s", code, err, out, errs.String())
			}
			for _, want := range tc.wants {
				if !strings.Contains(string(out), want) {
					t.Errorf("%q is not in the story:\n%s", want, out)
				}
			}
			if tc.code != 0 && errs.String() == "" {
				t.Error("nothing on stderr")
			}
		})
	}
}
