package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/agent/agenttest"
	"github.com/fairlead/fairlead/internal/tool"
)

func names(box agent.ToolBox) string {
	var out []string
	for _, t := range box.Tools() {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

func TestMergePalettePin(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	all, err := tool.Merge(b.box, nil, agenttest.NewBox())
	if err != nil {
		t.Fatal(err)
	}
	if got := names(all); got != "read_file list_files grep write_file edit_file shell echo block ask_person_fairlead" {
		t.Errorf("got %s", got)
	}
	if _, err := tool.Merge(b.box, b.box); !fairlead.IsCode(err, fairlead.CodeInvalid) {
		t.Errorf("got %v", err)
	}
	some, err := tool.Palette(all, []string{"echo", "write_file", "echo"})
	if err != nil || names(some) != "echo write_file" {
		t.Fatalf("got %v, %v", some, err)
	}
	if _, err := tool.Palette(all, []string{"ehco"}); !fairlead.IsCode(err, fairlead.CodeInvalid) {
		t.Errorf("got %v", err)
	}
	pinned := tool.Pin(some, map[string]map[string]any{"write_file": {"path": "only-here"}, "echo": {"text": "pinned"}})
	for _, c := range []struct {
		box        agent.ToolBox
		name, args string
		want       agent.Outcome
		text       string
	}{
		{some, "echo", `{"text":"a"}`, agent.OutcomeOK, "a"},
		{some, "shell", `{"command":"touch x"}`, agent.OutcomeDenied, "withheld"},
		{some, "nothing", `{}`, agent.OutcomeInvalid, "[echo write_file]"},
		{all, "nothing", `{}`, agent.OutcomeInvalid, "read_file"},
		{pinned, "echo", `{"text":"a"}`, agent.OutcomeOK, "pinned"},
		{pinned, "echo", ``, agent.OutcomeOK, "pinned"},
		{pinned, "echo", `null`, agent.OutcomeOK, "pinned"},
		{pinned, "echo", `[`, agent.OutcomeInvalid, ""},
		{pinned, "shell", `{"command":"true"}`, agent.OutcomeDenied, ""},
		{pinned, "write_file", `{"path":"elsewhere","content":"x"}`, agent.OutcomeOK, "only-here"},
	} {
		if r := c.box.Call(t.Context(), agent.Call{Name: c.name, Args: json.RawMessage(c.args)}); r.Outcome != c.want || !strings.Contains(r.Text, c.text) {
			t.Errorf("%s %s: got %+v", c.name, c.args, r)
		}
	}
	call := agent.Call{Name: "write_file", Args: json.RawMessage(`{"path":"q","content":"new"}`)}
	f := pinned.(agent.Foreseer)
	facts := f.Foresee(t.Context(), call)
	if facts["path"] != "only-here" {
		t.Errorf("got %v", facts)
	}
	pinned.Call(t.Context(), call)
	if _, ok := f.Happened(t.Context(), call, facts); !ok {
		t.Error("not found as done")
	}
	if f := some.(agent.Foreseer); f.Foresee(t.Context(), agent.Call{Name: "edit_file"}) != nil {
		t.Error("a withheld tool was foreseen")
	}
}
