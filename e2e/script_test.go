package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fairlead/fairlead"
)

// TestScripts plays testdata/script: every command of the command line against a real server. Beside testscript's own
// commands a script has these:
//
//	server [flags]         start a server on the script's home; commands talk to it
//	stop                   end it with SIGTERM
//	fl [-N] args...        run fairlead; N is the exit code it must end with, default 0
//	json [path [value]]    the last output is exactly one JSON value; what stands at path is value
//	json path > NAME       put what stands at path into a variable
//	jsonl [path value]     the last output is JSON lines; one of them has value at path
//	await TASK path value  wait until the task's path is value
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"server": func(ts *testscript.TestScript, _ bool, args []string) { scriptServer(t, ts, args) }, "stop": scriptStop, "fl": scriptFairlead, "json": scriptJSON, "jsonl": scriptLines, "await": scriptAwait,
		},
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, "FAIRLEAD_HOME="+filepath.Join(env.WorkDir, "home"), "SAMPLES="+samples(t))
			env.Values[serverKey{}] = &scriptState{}
			return nil
		},
	})
}

type serverKey struct{}

type scriptState struct{ server *server }

// scriptT is the part of a test that a server needs, in a script: a failure ends the script alone.
type scriptT struct {
	testing.TB
	ts *testscript.TestScript
}

func (t scriptT) Helper()                           {}
func (t scriptT) Failed() bool                      { return false }
func (t scriptT) Logf(format string, args ...any)   { t.ts.Logf(format, args...) }
func (t scriptT) Errorf(format string, args ...any) { t.ts.Fatalf(format, args...) }
func (t scriptT) Fatalf(format string, args ...any) { t.ts.Fatalf(format, args...) }
func (t scriptT) Fatal(args ...any)                 { t.ts.Fatalf("%v", args) }
func (t scriptT) Cleanup(fn func())                 { t.ts.Defer(fn) }

func samples(t *testing.T) string {
	return must(filepath.Abs("../internal/workflow/testdata/refused"))(t)
}

func state(ts *testscript.TestScript) *scriptState {
	s, ok := ts.Value(serverKey{}).(*scriptState)
	if !ok {
		ts.Fatalf("no state")
	}
	return s
}

func scriptServer(test *testing.T, ts *testscript.TestScript, args []string) {
	s := start(scriptT{TB: test, ts: ts}, options{home: ts.Getenv("FAIRLEAD_HOME"), args: args})
	state(ts).server = s
	ts.Setenv("FAIRLEAD_URL", s.url)
}

func scriptStop(ts *testscript.TestScript, _ bool, _ []string) {
	if code := state(ts).server.stop(); code != 0 {
		ts.Fatalf("the server ended with %d", code)
	}
}

func scriptFairlead(ts *testscript.TestScript, _ bool, args []string) {
	want := 0
	if len(args) > 0 && len(args[0]) == 2 && args[0][0] == '-' {
		if n, err := strconv.Atoi(args[0][1:]); err == nil {
			want, args = n, args[1:]
		}
	}
	err := ts.Exec(binary, args...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if text := ts.ReadFile("stderr"); want != 0 && !strings.Contains(text, "fairlead: ") {
		ts.Fatalf("an error without a message on stderr: %q", text)
	}
}

// values reads the JSON values that the last command printed.
func values(ts *testscript.TestScript) (all []any) {
	out := ts.ReadFile("stdout")
	if !strings.HasSuffix(out, "\n") {
		ts.Fatalf("the output does not end with a line: %q", out)
	}
	d := json.NewDecoder(strings.NewReader(out))
	d.UseNumber()
	for {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			ts.Fatalf("not JSON: %v in %q", err, out)
		}
		all = append(all, v)
	}
}

func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	all := values(ts)
	if len(all) != 1 {
		ts.Fatalf("%d JSON values, want one", len(all))
	}
	if len(args) == 0 {
		return
	}
	got := at(all[0], args[0])
	switch {
	case len(args) == 3 && args[1] == ">":
		ts.Setenv(args[2], got)
	case len(args) == 2 && (got == args[1]) == neg:
		ts.Fatalf("%s is %q, not as wanted: %q", args[0], got, args[1])
	}
}

func scriptLines(ts *testscript.TestScript, neg bool, args []string) {
	for line := range bytes.Lines([]byte(ts.ReadFile("stdout"))) {
		if !json.Valid(line) {
			ts.Fatalf("no JSON line: %q", line)
		}
	}
	found := len(args) < 2
	for _, v := range values(ts) {
		found = found || at(v, args[0]) == args[1]
	}
	if found == neg {
		ts.Fatalf("lines with %v: %t", args, found)
	}
}

// at reads the value at a path of keys and numbers joined by dots; len is the length of a list.
func at(v any, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			if key == "len" {
				v = len(x)
				continue
			}
			if i, err := strconv.Atoi(key); err == nil && i < len(x) {
				v = x[i]
			} else {
				v = nil
			}
		default:
			v = nil
		}
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func scriptAwait(ts *testscript.TestScript, _ bool, args []string) {
	s := state(ts).server
	s.await(args[0], strings.Join(args, " "), func(t fairlead.TaskView) bool {
		var v any
		ts.Check(json.Unmarshal([]byte(asJSON(s.t, t)), &v))
		return at(v, args[1]) == args[2]
	})
}
