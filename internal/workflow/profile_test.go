package workflow

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

func TestProfilesParse(t *testing.T) {
	t.Parallel()
	for _, p := range Profiles() {
		got, report := ParseAgent(p.Source)
		if report.Err() != nil || got.Key != p.Key || got.Adapter != "auto" || got.Instructions == "" || got.Slots() != 1 {
			t.Errorf("%s: got %+v\n%s", p.Key, got, FileErrors(p.Key, report.Errors))
		}
	}
	if got := Programs(); len(got) != 2 || len(got[0].Source) == 0 || got[1].Kind+":"+got[1].Name != "rounds:report" {
		t.Errorf("programs: got %v", got)
	}
}

const fullProfile = `
agent: robot
name: Robot
adapter: script
model: small
instructions: Do it.
skills: [skills/go]
memory: notes.md
tools: [read_file, shell]
pinned: {shell: {timeout: 5}}
permissions: {deny: [{tool: shell, command: "rm *"}]}
limits: {turn: 10m, max_calls: 20}
environment: {LANG: C}
duty: ceo
parallel: 2
cooldown: 30s
labels: [gpu]
retry: [2m, 10m]
account: main
script:
  - when: {prompt: "(?i)review", role: reviewer, nth: 2}
    do:
      - say: hello
      - tool: {name: step_complete_fairlead, args: {note: done}}
      - ask: which one?
      - ask: {question: which, options: [a, b]}
      - fail: transient
      - fail: {class: limited, message: slow down, retry_after: 30s}
      - usage: {input: 10, output: 2, cost: 500, model: small}
      - hang: 1h
      - hang: forever
      - hang: 0
      - think: hm
      - die: 3
      - end: end_turn
  - do: [{say: otherwise}]
`

func TestParseAgentReadsEveryField(t *testing.T) {
	t.Parallel()
	p, report := ParseAgent([]byte(fullProfile))
	if report.Err() != nil {
		t.Fatal(FileErrors("robot.yaml", report.Errors))
	}
	if p.Key != "robot" || p.Adapter != "script" || p.Duty != "ceo" || p.Slots() != 2 || p.Cooldown != "30s" || p.Retry[1] != "10m" || p.Tools[1] != "shell" ||
		p.Environment["LANG"] != "C" || p.Limits["turn"] != "10m" || p.Limits["max_calls"] != int64(20) || p.Pinned["shell"] == nil ||
		p.Permissions["deny"] == nil || p.Labels[0] != "gpu" || p.Account != "main" || p.Memory != "notes.md" || p.Skills[0] != "skills/go" || p.Model != "small" {
		t.Errorf("got %+v", p)
	}
	var script []struct {
		When struct {
			Prompt, Role string
			Nth          int
		}
		Do []map[string]any
	}
	if err := json.Unmarshal(p.Script, &script); err != nil {
		t.Fatal(err)
	}
	if len(script) != 2 || script[0].When.Nth != 2 || len(script[0].Do) != 13 || script[1].Do[0]["say"] != "otherwise" {
		t.Errorf("script: got %+v", script)
	}
}

func TestParseAgentRefusals(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, c := range []string{
		"name: nobody", "- agent: x", "agent: [", "agent: Bad Name", "agent: x\nadaptor: acp", "agent: x\nadapter: cursor",
		"agent: x\nadapter: script", "agent: x\nadapter: acp\nscript: [{do: [{say: hi}]}]", "agent: x\ncommand: [run]", "agent: x\nparallel: 0",
		"agent: x\ncooldown: 5", "agent: x\ncooldown: -5s", "agent: x\nretry: [2m, soon]", "agent: x\nretry: [1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s]",
		"agent: x\ntools: [a b, c, c, \"\"]", "agent: x\ntools: [3]", "agent: x\npinned: {shell: 3}", "agent: x\npinned: 3", "agent: x\nenvironment: {\"A=B\": c, D: 1}",
		"agent: x\nenvironment: []", "agent: x\nlimits: {turns: 1, turn: 5, max_calls: 0}", "agent: x\nlimits: many", "agent: x\nduty: CEO",
		"agent: x\npermissions: all",
		"agent: x\nadapter: script\nscript: hello", "agent: x\nadapter: script\nscript: [hello, {say: x}, {do: x}, {when: {prompt: \"(\", nth: 0, who: me}, do: []}]",
		"agent: x\nadapter: script\nscript: [{do: [say, {sing: x}, {say: 1}, {tool: {args: {}}}, {tool: {name: x, args: 3}}, {ask: 1}, {fail: badly}]}]",
		"agent: x\nadapter: script\nscript: [{do: [{fail: {message: x}}, {fail: {class: odd, retry_after: 3}}, {usage: 3}, {usage: {input: -1, output: [], cost: 0.1}}]}]",
		"agent: x\nadapter: script\nscript: [{do: [{hang: long}, {die: 300}, {die: now}, {end: 1}, {say: a, end: b}]}]",
	} {
		p, report := ParseAgent([]byte(c))
		if report.Err() == nil || p.Key != "" {
			t.Errorf("%q was accepted: %+v", c, p)
		}
		all.WriteString(FileErrors(strings.ReplaceAll(c, "\n", " | "), report.Errors))
	}
	golden(t, "testdata/agents-refused.golden", all.String())
}

func FuzzParseAgent(f *testing.F) {
	f.Add([]byte(fullProfile))
	for _, p := range Profiles() {
		f.Add(p.Source)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		p, report := ParseAgent(source)
		if (report.Err() == nil) != fairlead.ValidKey(p.Key) {
			t.Errorf("key %q with %v", p.Key, report.Err())
		}
	})
}

func TestReadYAMLBounds(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"size":        "workflow: x\nname: \"" + strings.Repeat("x", maxSource) + "\"\n",
		"flow depth":  strings.Repeat("[", 500_000),
		"map depth":   strings.Repeat("{a: ", 5_000),
		"dashes":      strings.Repeat("- ", 300_000) + "x",
		"questions":   strings.Repeat("? ", 5_000) + "x",
		"anchors":     strings.Repeat("&a ", 5_000) + "x",
		"tags":        strings.Repeat("!!a ", 5_000) + "x",
		"tokens":      "x: [" + strings.Repeat("1,", maxTokens) + "1]",
		"block depth": blocks(90),
		"not UTF-8":   "workflow: x\nname: \xff\n",
		"NUL":         "workflow: x\nname: a\x00b\n",
		"numbers":     "workflow: 18446744073709551615\n",
		"expressions": "workflow: x\nsteps:\n  - key: a\n    on: {comment: [{comment: {text: \"" + strings.Repeat("${1}", maxExpressions+10) + "\"}}]}\n",
		"nan":         "workflow: .nan\n",
	} {
		d, report := Compile([]byte(source), Names{})
		if d != nil || report.Err() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	_, report := Compile([]byte("workflow: x\nname: é\xff\n"), Names{})
	if e := report.Errors[0]; e.Line != 2 || e.Column != 8 {
		t.Errorf("place of the bad byte: got %d:%d", e.Line, e.Column)
	}
}

func blocks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func FuzzCompile(f *testing.F) {
	for _, pattern := range []string{"testdata/refused", "testdata/spellings"} {
		entries, err := os.ReadDir(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".yaml") {
				continue
			}
			source, err := os.ReadFile(pattern + "/" + e.Name())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(source)
		}
	}
	for _, w := range Templates() {
		f.Add(w.Source)
	}
	shape := compiledSchema(f)
	f.Fuzz(func(t *testing.T, source []byte) {
		d, report := Compile(source, workspace())
		if (d == nil) != (report.Err() != nil) {
			t.Fatalf("definition %v with %v", d, report.Err())
		}
		if d == nil {
			return
		}
		if err := validate(t, shape, source); err != nil {
			t.Errorf("the schema refuses what Compile accepts: %v", err)
		}
		again, _ := Compile(source, workspace())
		if again.Digest != d.Digest || len(again.Steps) != len(d.Steps) || d.Step(d.Start) == nil {
			t.Error("the same source gave another definition")
		}
		for _, s := range d.Steps {
			s.Weighed()
			eachAction(s, func(a *Action) {
				if a.Kind == ActionMove && d.Step(a.To) == nil {
					t.Errorf("a move goes to %q", a.To)
				}
				if a.If != nil {
					_, _ = a.If.Eval(facts())
				}
				_, _ = a.Text.Expand(facts())
				_, _ = ExpandPayload(a.Payload, facts())
			})
		}
	})
}
