package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/tool"
	"github.com/fairlead/fairlead/internal/workspace"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "_warden" {
		os.Exit(workspace.WardenMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

type bench struct {
	t   *testing.T
	dir string
	box *tool.Box
	id  agent.ExecutionID
}

func setup(t *testing.T, opts *tool.Options) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), id: agent.ExecutionID(fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "_"), time.Now().UnixNano()))}
	var err error
	if b.box, err = tool.New(workspace.NewLauncher("tool-test", nil), b.dir, opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.box.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) call(ctx context.Context, name string, args any) agent.Result {
	b.t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.box.Call(ctx, agent.Call{ID: "c", Execution: b.id, Name: name, Args: data})
}

type m map[string]any

func (b *bench) want(name string, args any, outcome agent.Outcome, text string) agent.Result {
	b.t.Helper()
	r := b.call(b.t.Context(), name, args)
	if r.Outcome != outcome || !strings.Contains(r.Text, text) {
		b.t.Errorf("%s %v: got %s %q, want %s with %q", name, args, r.Outcome, r.Text, outcome, text)
	}
	return r
}

func TestReadListGrep(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.write("a.go", "one\ntwo\nthree\n")
	b.write("sub/b.go", "Two\n")
	b.write("sub/deep/c.txt", "two")
	b.write("bin", "two\x00")
	b.write(".git/config", "two")
	b.write("node_modules/x.go", "two")
	b.want("read_file", m{"path": "a.go"}, agent.OutcomeOK, "one\ntwo\nthree\n")
	if r := b.want("read_file", m{"path": "a.go", "offset": 2, "limit": 1}, agent.OutcomeOK, "two"); r.Text != "two\n" {
		t.Errorf("got %q", r.Text)
	}
	b.want("read_file", m{"path": "a.go", "offset": 99}, agent.OutcomeOK, "")
	b.want("read_file", m{"path": "bin"}, agent.OutcomeError, "not text")
	b.want("read_file", m{"path": "none"}, agent.OutcomeError, "no such file")
	for want, args := range map[string]m{
		"a.go\nbin\nsub/b.go\nsub/deep/c.txt": {}, "a.go\nsub/b.go": {"pattern": "*.go"}, "a.go\nbin": {"depth": 1},
		"sub/b.go": {"path": "sub", "depth": 1}, "sub/deep/c.txt": {"pattern": "sub/*/*.txt"}, "no files": {"pattern": "x"},
	} {
		if r := b.want("list_files", args, agent.OutcomeOK, ""); r.Text != want {
			t.Errorf("list %v: got %q, want %q", args, r.Text, want)
		}
	}
	for want, args := range map[string]m{
		"a.go:2: two\nsub/deep/c.txt:1: two": {"pattern": "t[w]o"},
		"a.go:2: two\nsub/b.go:1: Two":       {"pattern": "two", "ignore_case": true, "files": "*.go"},
		"sub/b.go:1: Two":                    {"pattern": "T", "path": "sub"},
		"a.go:2: two":                        {"pattern": "two", "path": "a.go"},
		"no match":                           {"pattern": "four"},
		"a.go:1: one\n… more than 1 matches": {"pattern": "o", "max": 1},
	} {
		if r := b.want("grep", args, agent.OutcomeOK, ""); r.Text != want {
			t.Errorf("grep %v: got %q, want %q", args, r.Text, want)
		}
	}
	b.want("grep", m{"pattern": "("}, agent.OutcomeError, "malformed")
}

func TestS2_ToolsStayInTheWorkspace(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(b.dir, "dir")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../x", "/etc/passwd", "link", "dir/secret", outside, ".git/config"} {
		for name, args := range map[string]m{
			"read_file": {"path": path}, "write_file": {"path": path, "content": "x"}, "edit_file": {"path": path, "old": "secret", "new": "x"},
			"grep": {"path": path, "pattern": "secret"}, "list_files": {"path": path},
		} {
			if r := b.call(t.Context(), name, args); r.Outcome != agent.OutcomeDenied || strings.Contains(r.Text, "secret") {
				t.Errorf("%s %s: got %+v", name, path, r)
			}
		}
	}
	if r := b.want("grep", m{"pattern": "secret"}, agent.OutcomeOK, "no match"); r.Text != "no match" {
		t.Errorf("got %q", r.Text)
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "secret" {
		t.Errorf("got %q, %v", data, err)
	}
}

func TestEditsAreForeseenAndFound(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.write("a", "x y x")
	b.want("edit_file", m{"path": "a", "old": "x", "new": "z"}, agent.OutcomeError, "2 times")
	b.want("edit_file", m{"path": "a", "old": "q", "new": "z"}, agent.OutcomeError, "does not stand")
	b.want("edit_file", m{"path": "new", "old": "q", "new": "z"}, agent.OutcomeError, "no such file")
	for _, c := range []struct {
		name string
		args m
		want string
	}{
		{"edit_file", m{"path": "a", "old": "x", "new": "z", "all": true}, "z y z"},
		{"edit_file", m{"path": "a", "old": "y", "new": "yy"}, "z yy z"},
		{"write_file", m{"path": "a", "content": "w"}, "w"}, {"write_file", m{"path": "deep/new", "content": "n"}, "n"},
	} {
		data, err := json.Marshal(c.args)
		if err != nil {
			t.Fatal(err)
		}
		call := agent.Call{Name: c.name, Args: data}
		facts := b.box.Foresee(t.Context(), call)
		if _, ok := b.box.Happened(t.Context(), call, facts); ok || facts["after"] == "" {
			t.Errorf("%v: foreseen as done: %v", c.args, facts)
		}
		r := b.want(c.name, c.args, agent.OutcomeOK, "")
		if diff := cmp.Diff(facts, r.Facts); diff != "" {
			t.Errorf("%v: %s", c.args, diff)
		}
		if _, ok := b.box.Happened(t.Context(), call, facts); !ok {
			t.Errorf("%v: not found as done", c.args)
		}
		got, err := os.ReadFile(filepath.Join(b.dir, c.args["path"].(string)))
		if err != nil || string(got) != c.want {
			t.Errorf("%v: got %q, %v", c.args, got, err)
		}
	}
	if f := b.box.Foresee(t.Context(), agent.Call{Name: "shell", Args: json.RawMessage(`{"command":"true"}`)}); f != nil {
		t.Errorf("a shell was foreseen: %v", f)
	}
}

func TestArgumentsAreCheckedFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for name, args := range map[string]any{
		"read_file": m{}, "write_file": m{"path": "a"}, "shell": m{"command": "touch x", "cwd": "/"}, "grep": []int{1}, "edit_file": m{"path": 1},
		"list_files": m{"depth": 0}, "nothing": m{},
	} {
		r := b.call(t.Context(), name, args)
		if r.Outcome != agent.OutcomeInvalid || !strings.Contains(r.Text, "expected") && !strings.Contains(r.Text, "the tools are") {
			t.Errorf("%s: got %+v", name, r)
		}
	}
	if r := b.box.Call(t.Context(), agent.Call{Name: "shell", Args: json.RawMessage(`{"command`)}); r.Outcome != agent.OutcomeInvalid {
		t.Errorf("got %+v", r)
	}
	if left, err := os.ReadDir(b.dir); err != nil || len(left) > 0 {
		t.Errorf("something ran: %v", left)
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	b := setup(t, &tool.Options{Output: 1000, Env: []string{"MINE=1"}})
	if r := b.want("shell", m{"command": "echo out; echo err >&2; echo $MINE; cat; pwd; exit 3"}, agent.OutcomeError, ""); !strings.HasPrefix(r.Text, "out\nerr\n1\n") ||
		!strings.HasSuffix(r.Text, "[exit code 3]") || r.Facts["exit_code"] != "3" {
		t.Errorf("got %+v", r)
	}
	b.want("shell", m{"command": "true"}, agent.OutcomeOK, "[exit code 0]")
	b.want("shell", m{"command": "echo $FAIRLEAD_EXECUTION"}, agent.OutcomeOK, string(b.id))
	b.want("shell", m{"command": "kill -9 $$"}, agent.OutcomeError, "SIGKILL")
	if r := b.want("shell", m{"command": "seq 1 100000"}, agent.OutcomeOK, "bytes left out"); len(r.Text) > 1100 || !strings.Contains(r.Text, "100000\n[exit code 0]") {
		t.Errorf("got %d bytes: %q", len(r.Text), r.Text)
	}
}

func TestA23_ShellLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	const wild = "setsid nohup sleep 3100 >/dev/null 2>&1 & (sleep 3101 &) ; "
	for name, c := range map[string]struct {
		command string
		outcome agent.Outcome
		opts    tool.Options
	}{
		"end":      {wild + "true", agent.OutcomeOK, tool.Options{}},
		"timeout":  {wild + "trap '' TERM; echo before; sleep 3102", agent.OutcomeTimeout, tool.Options{Shell: 200 * time.Millisecond}},
		"memory":   {wild + "sleep 3103", agent.OutcomeError, tool.Options{Memory: 1000}},
		"deadline": {wild + "sleep 3104", agent.OutcomeError, tool.Options{Deadline: func() time.Duration { return workspace.BootTime() + 100*time.Millisecond }}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, &c.opts)
			r := b.want("shell", m{"command": c.command}, c.outcome, "")
			if name == "timeout" && !strings.Contains(r.Text, "before\n\n[killed after 200ms]") {
				t.Errorf("got %q", r.Text)
			}
			if left := workspace.Marked(string(b.id)); len(left) > 0 {
				t.Errorf("alive: %v", left)
			}
		})
	}
}

func TestA9_CancelledTurnKillsTheShell(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan agent.Result)
	go func() { done <- b.call(ctx, "shell", m{"command": "touch started; sleep 3105"}) }()
	for {
		if _, err := os.Stat(filepath.Join(b.dir, "started")); err == nil {
			break
		}
		pause := time.NewTimer(2 * time.Millisecond)
		<-pause.C
	}
	cancel()
	if r := <-done; r.Outcome != agent.OutcomeCancelled {
		t.Errorf("got %+v", r)
	}
	if left := workspace.Marked(string(b.id)); len(left) > 0 {
		t.Errorf("alive: %v", left)
	}
	if r := b.call(ctx, "shell", m{"command": "touch again"}); r.Outcome != agent.OutcomeCancelled {
		t.Errorf("after the cancel: got %+v", r)
	}
}
