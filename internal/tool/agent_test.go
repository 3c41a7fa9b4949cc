package tool_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/agent/script"
	"github.com/fairlead/fairlead/internal/workspace"
)

func TestA23_StoppedAgentLeavesNoShell(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	dir := t.TempDir()
	spool, err := agent.OpenSpool(filepath.Join(dir, "spool"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a, err := script.New(agent.NewRecorder(spool, time.Now), filepath.Join(dir, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	source := `[{do: [{tool: {name: write_file, args: {path: notes, content: "${0}"}}}, {tool: {name: shell, args: {command: "setsid nohup sleep 3200 & touch here; sleep 3201"}}}]}]`
	spec := agent.LaunchSpec{ID: b.id, Workspace: b.dir, Tools: b.box, Profile: agent.Profile{Script: json.RawMessage(source)}}
	if _, err := a.Launch(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	for { // until the shell is at work
		if r := b.call(t.Context(), "list_files", m{"pattern": "here"}); r.Text == "here" {
			break
		}
	}
	if len(workspace.Marked(string(b.id))) < 3 {
		t.Error("the shell does not bear the execution's marker")
	}
	began := time.Now()
	if err := a.Stop(t.Context(), b.id, agent.StopPerson); err != nil {
		t.Fatal(err)
	}
	if left := workspace.Marked(string(b.id)); len(left) > 0 || time.Since(began) > 5*time.Second {
		t.Errorf("alive: %v after %v", left, time.Since(began))
	}
	x, err := a.GetExecution(t.Context(), b.id)
	if err != nil || x.State != agent.StateExited || x.End.Reason != agent.EndCancelled || x.Exit.Reason != agent.StopPerson {
		t.Errorf("got %+v, %v", x, err)
	}
	a.Close()
	if err := spool.Close(); err != nil {
		t.Error(err)
	}
}
