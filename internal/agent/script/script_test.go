package script_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/agent/agenttest"
	"github.com/fairlead/fairlead/internal/agent/script"
)

// play launches and returns the whole stream.
func play(t *testing.T, a *script.Adapter, s agent.LaunchSpec) []agent.Event {
	t.Helper()
	if _, err := a.Launch(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return events(t, a, s.ID)
}

func events(t *testing.T, a *script.Adapter, id agent.ExecutionID) []agent.Event {
	t.Helper()
	ch, err := a.SubscribeEvents(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []agent.Event
	for e := range ch {
		out = append(out, e)
	}
	return out
}

func said(events []agent.Event) string {
	var sb strings.Builder
	for _, e := range events {
		if e.Kind == agent.EventText {
			sb.WriteString(e.Text)
		}
	}
	return sb.String()
}

func end(t *testing.T, events []agent.Event) agent.TurnEnd {
	t.Helper()
	for _, e := range events {
		if e.Kind == agent.EventTurnEnded {
			return *e.End
		}
	}
	t.Fatal("no end of turn")
	return agent.TurnEnd{}
}

func TestFirstMatchWinsWithGroupsAndResults(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir())
	source := `
- when: {prompt: 'fix (?P<what>\w+) in (\w+)', role: reviewer}
  do: [{say: "not me"}]
- when: {prompt: 'fix (?P<what>\w+) in (\w+)'}
  do:
    - tool: {name: echo, args: {text: 'say "${what}" ${HOME}'}}
    - say: "${1}/${2}: ${result}"
- do: [{say: late}]
`
	for prompt, want := range map[string]string{
		`please fix "x" in y`: "late", "fix bug in main": `bug/main: say "bug" ${HOME}`,
	} {
		if got := said(play(t, a, spec(t, agent.ExecutionID(strings.NewReplacer(" ", "_", `"`, "").Replace(prompt)), source, prompt))); got != want {
			t.Errorf("%s: got %q, want %q", prompt, got, want)
		}
	}
	s := spec(t, "with-role", source, "fix bug in main")
	s.Prompt.Role = "reviewer"
	if got := said(play(t, a, s)); got != "not me" {
		t.Errorf("got %q", got)
	}
}

func TestNoRuleIsConfiguration(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir())
	if got := end(t, play(t, a, spec(t, "x", `[{when: {prompt: a}, do: []}]`, "b"))); got.Failure == nil || got.Failure.Class != fairlead.ClassConfiguration {
		t.Errorf("got %+v", got)
	}
	_, err := a.Launch(t.Context(), spec(t, "y", `[{when: {prompt: "("}}]`, "b"))
	if f, ok := err.(*fairlead.Failure); !ok || f.Class != fairlead.ClassConfiguration {
		t.Errorf("got %v", err)
	}
}

func TestNthCountsOverRestartsAndFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := `
- when: {prompt: work, nth: 1}
  do: [{fail: {class: limited, message: slow down, retry_after: 30s}}]
- when: {prompt: work, nth: 2}
  do: [{say: x}, {die: 9}]
- when: {prompt: work, nth: 3}
  do: [{say: third}]
- when: {prompt: other}
  do: [{say: other}]
- do: [{say: more}]
`
	session := ""
	for i, step := range []struct{ prompt, want string }{{"work", "failed limited"}, {"other", "other"}, {"work", "exit 9"}, {"work", "third"}, {"work", "more"}} {
		a := open(t, dir) // each turn in a new process
		s := spec(t, agent.ExecutionID("e"+string(rune('0'+i))), source, step.prompt)
		s.Session = session
		got := play(t, a, s)
		session = got[0].Session
		last, fin := got[len(got)-1], end(t, got)
		switch step.want {
		case "failed limited":
			if fin.Failure == nil || fin.Failure.Class != fairlead.ClassLimited || fin.Failure.RetryAfter != 30*time.Second {
				t.Errorf("%d: got %+v", i, fin)
			}
		case "exit 9":
			if last.Exit.Code != 9 || fin.Failure == nil || fin.Failure.Class != fairlead.ClassTransient {
				t.Errorf("%d: got %+v, %+v", i, last.Exit, fin)
			}
		default:
			if said(got) != step.want {
				t.Errorf("%d: got %q, want %q", i, said(got), step.want)
			}
		}
		a.Close()
	}
}

// cutting is a transcript that lets a number of entries through and then fails, as a process that is killed there.
type cutting struct {
	agent.Transcript
	mu   sync.Mutex
	left int
}

func (c *cutting) Append(ctx context.Context, e agent.Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 {
		return context.DeadlineExceeded
	}
	c.left--
	return c.Transcript.Append(ctx, e)
}

func TestP8_TurnGoesOnBehindTheLastRecord(t *testing.T) {
	t.Parallel()
	source := `
- do:
    - tool: {name: echo, args: {text: one}}
    - say: "${result}, "
    - tool: {name: echo, args: {text: two}}
    - tool: {name: echo, args: {text: three}}
    - say: "${result}"
`
	for cut := range 8 { // prompt, reply, five results, end
		dir := t.TempDir()
		box := agenttest.NewBox()
		file := agent.NewFileTranscript(dir + "/transcript")
		first := spec(t, "first", source, "go")
		first.Tools, first.Transcript, first.Prompt.ID = box, &cutting{Transcript: file, left: cut}, "turn-7"
		a := open(t, dir)
		play(t, a, first)
		before := len(box.Calls())
		again := spec(t, "again", source, "go")
		again.Tools, again.Transcript, again.Prompt.ID, again.Session = box, file, "turn-7", "first"
		got := play(t, a, again)
		if end(t, got).Reason != agent.EndTurn || !strings.HasSuffix(said(got), "three") && cut < 7 {
			t.Errorf("cut %d: got %+v, %q", cut, end(t, got), said(got))
		}
		once := spec(t, "once-more", source, "go") // its end did not reach the caller
		once.Tools, once.Transcript, once.Prompt.ID, once.Session = box, file, "turn-7", "first"
		if got := play(t, a, once); end(t, got).Reason != agent.EndTurn || said(got) != "" {
			t.Errorf("cut %d: got %+v, %q", cut, end(t, got), said(got))
		}
		ids := map[string]int{}
		for _, c := range box.Calls() {
			ids[c.ID]++
		}
		if len(ids) != 3 || len(box.Calls()) > 4 {
			t.Errorf("cut %d: %d calls before, then %v", cut, before, ids)
		}
		all, err := file.Load(t.Context())
		if err != nil || len(all) != 8 {
			t.Errorf("cut %d: got %d entries, %v", cut, len(all), err)
		}
	}
}

func TestShutdownLeavesTheTurnOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	box := agenttest.NewBox()
	s := spec(t, "one", `[{do: [{tool: {name: echo, args: {text: a}}}, {tool: {name: block}}, {say: end}]}]`, "go")
	s.Tools = box
	a := open(t, dir)
	if _, err := a.Launch(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	ch, err := a.SubscribeEvents(t.Context(), "one", 0)
	if err != nil {
		t.Fatal(err)
	}
	for e := range ch {
		if e.Kind == agent.EventToolCall && e.Tool.Name == "block" {
			break
		}
	}
	a.Close()
	if got := end(t, events(t, a, "one")); got.Reason != agent.EndInterrupted {
		t.Errorf("got %+v", got)
	}
	a = open(t, dir)
	s.ID, s.Session = "two", "one"
	if _, err := a.Launch(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	ch, err = a.SubscribeEvents(t.Context(), "two", 0)
	if err != nil {
		t.Fatal(err)
	}
	for e := range ch {
		if e.Kind == agent.EventToolCall {
			if e.Tool.Name != "block" {
				t.Errorf("a call with a result was made again: %+v", e.Tool)
			}
			break
		}
	}
}

func TestOneExecutionASession(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir())
	s := spec(t, "one", `[{do: [{hang: forever}]}]`, "go")
	if _, err := a.Launch(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	s.ID, s.Session = "two", "one"
	if _, err := a.Launch(t.Context(), s); !fairlead.IsCode(err, fairlead.CodeConflict) {
		t.Errorf("got %v", err)
	}
}

func TestMCPModeWithholdsTools(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir())
	s := spec(t, "one", `[{do: [{tool: {name: ask_person_fairlead, args: {text: x}}}, {tool: {name: echo, args: {text: x}}}, {say: "${result}"}]}]`, "go")
	s.MCPMode = agent.MCPRead
	got := play(t, a, s)
	if said(got) != "x" || got[3].Tool.State != agent.CallDenied {
		t.Errorf("got %q, %+v", said(got), got[3])
	}
}

func TestA4_SilenceIsMarkedAndThenFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := open(t, dir)
		s := spec(t, "one", `[{do: [{hang: 0}]}]`, "go")
		s.Limits = agent.Limits{Stall: 2 * time.Minute, Idle: 10 * time.Minute}
		began := time.Now()
		got := play(t, a, s)
		var kinds []string
		for _, e := range got {
			kinds = append(kinds, string(e.Kind)+" "+e.At.Sub(began).String())
		}
		want := []string{"started 0s", "prompted 0s", "stalled 2m0s", "turn_ended 10m0s", "exited 10m0s"}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Error(diff)
		}
		if f := end(t, got).Failure; f == nil || f.Class != fairlead.ClassTransient {
			t.Errorf("got %+v", f)
		}
	})
}

func TestParseNamesThePlace(t *testing.T) {
	t.Parallel()
	for source, path := range map[string]string{
		`[{do: [{say: a, tool: {name: b}}]}]`:        "script[0].do[0]",
		`[{do: []}, {do: [{say: a}, {}]}]`:           "script[1].do[1]",
		`[{do: [{fail: nonsense}]}]`:                 "script[0].do[0]",
		`[{do: [{end: well}]}]`:                      "script[0].do[0]",
		`[{do: [{tool: {args: {}}}]}]`:               "script[0].do[0]",
		`[{when: {prompt: "("}}]`:                    "script[0].when.prompt",
		`[{when: {nth: -1}}]`:                        "script[0].when.nth",
		`[{when: {text: a}}]`:                        "script[0]",
		`[{do: [{hang: soon}]}]`:                     "script[0]",
		`[{do: [{fail: {class: limited, foo: 1}}]}]`: "script[0]",
		`{a: 1}`: "", `]`: "",
	} {
		_, err := script.Parse([]byte(source))
		e, ok := err.(*fairlead.Error)
		if !ok || e.Code != fairlead.CodeInvalid {
			t.Errorf("%s: got %v", source, err)
			continue
		}
		got := ""
		if len(e.Fields) > 0 {
			got = e.Fields[0].Path
		}
		if got != path {
			t.Errorf("%s: got path %q, want %q", source, got, path)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`[{when: {prompt: a, nth: 1}, do: [{say: b}, {tool: {name: c, args: {d: [1]}}}, {fail: limited}, {hang: 1s}]}]`)
	f.Add(conformance)
	f.Fuzz(func(t *testing.T, source string) {
		s, err := script.Parse([]byte(source))
		if (s == nil) == (err == nil) {
			t.Errorf("got %v and %v", s, err)
		}
	})
}
