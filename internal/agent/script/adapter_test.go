package script_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/agent/agenttest"
	"github.com/fairlead/fairlead/internal/agent/script"
)

const conformance = `
- when: {prompt: ^says$}
  do: [{say: "hello "}, {say: world}]
- when: {prompt: ^thinks$}
  do: [{think: hm}, {say: done}]
- when: {prompt: ^calls$}
  do: [{tool: {name: echo, args: {text: hi}}}, {say: done}]
- when: {prompt: ^unknown$}
  do: [{tool: {name: nothing}}, {say: done}]
- when: {prompt: ^asks$}
  do: [{ask: {text: "which?"}}, {say: never}]
- when: {prompt: ^uses$}
  do: [{usage: {input: 10, output: 5}}, {usage: {input: 7, output: 3, cost: 12}}, {say: done}]
- when: {prompt: ^fails$}
  do: [{fail: transient}]
- when: {prompt: ^dies$}
  do: [{say: x}, {die: 3}]
- when: {prompt: ^hangs$}
  do: [{say: working}, {hang: 0}]
- when: {prompt: ^hangs_in_call$}
  do: [{say: working}, {tool: {name: block}}]
`

// open makes an adapter on a state directory.
func open(t *testing.T, dir string) *script.Adapter {
	t.Helper()
	spool, err := agent.OpenSpool(filepath.Join(dir, "spool"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a, err := script.New(agent.NewRecorder(spool, time.Now), filepath.Join(dir, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.Close()
		if err := spool.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func spec(t *testing.T, id agent.ExecutionID, source, prompt string) agent.LaunchSpec {
	t.Helper()
	return agent.LaunchSpec{ID: id, Workspace: t.TempDir(), Profile: agent.Profile{Adapter: "script", Script: json.RawMessage(source)},
		Prompt: agent.Prompt{ID: "p-" + string(id), Text: prompt}, Tools: agenttest.NewBox()}
}

func TestA21_Conformance(t *testing.T) {
	t.Parallel()
	agenttest.Run(t, func(t *testing.T) *agenttest.Harness {
		dir := t.TempDir()
		a := open(t, dir)
		return &agenttest.Harness{
			Runtime: a,
			Reopen:  func(t *testing.T) agent.Runtime { a.Close(); return open(t, dir) },
			Spec: func(t *testing.T, b agenttest.Behaviour) agent.LaunchSpec {
				return spec(t, "x", conformance, string(b))
			},
		}
	})
}

func TestA21_RuntimeKnowsNoTasks(t *testing.T) {
	t.Parallel()
	agenttest.CheckIgnorance(t, ".", "github.com/fairlead/fairlead/internal/agent", "github.com/fairlead/fairlead/internal/agent/script")
}
