package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
)

// twin is a runtime that knows one execution and says its own name.
type twin struct {
	agent.Runtime
	name string
	log  *[]string
}

func (w twin) note(what string) { *w.log = append(*w.log, w.name+" "+what) }

func (w twin) GetExecution(_ context.Context, id agent.ExecutionID) (agent.Execution, error) {
	if string(id) != "of-"+w.name {
		return agent.Execution{}, fairlead.Errorf(fairlead.CodeNotFound, "no such execution")
	}
	return agent.Execution{ID: id}, nil
}

func (w twin) Launch(context.Context, agent.LaunchSpec) (agent.ExecutionRef, error) {
	w.note("launch")
	return agent.ExecutionRef{}, nil
}

func (w twin) Stop(context.Context, agent.ExecutionID, agent.StopReason) error {
	w.note("stop")
	return nil
}

func (w twin) Resume(context.Context, agent.ExecutionID, agent.Prompt) error {
	w.note("resume")
	return nil
}

func TestRegistryPassesToTheOwner(t *testing.T) {
	t.Parallel()
	var log []string
	r := agent.NewRegistry(map[string]agent.Runtime{"a": twin{name: "a", log: &log}, "b": twin{name: "b", log: &log}})
	_, err := r.Launch(t.Context(), agent.LaunchSpec{Profile: agent.Profile{Adapter: "b"}})
	must(t, err)
	must(t, r.Stop(t.Context(), "of-a", agent.StopPerson))
	must(t, r.Resume(t.Context(), "of-b", agent.Prompt{}))
	if got := strings.Join(log, ", "); got != "b launch, a stop, b resume" {
		t.Errorf("got %s", got)
	}
	_, err = r.Launch(t.Context(), agent.LaunchSpec{Profile: agent.Profile{Adapter: "c"}})
	var f *fairlead.Failure
	if !errors.As(err, &f) || f.Class != fairlead.ClassConfiguration || !strings.Contains(f.Message, "a, b") {
		t.Errorf("got %v", err)
	}
	if err := r.Stop(t.Context(), "nobody", agent.StopPerson); !fairlead.IsCode(err, fairlead.CodeNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestCheckerExplainsInTheModelsWords(t *testing.T) {
	t.Parallel()
	c, err := agent.NewChecker([]agent.ToolSpec{{Name: "x", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}})
	must(t, err)
	if _, bad := c.Check(agent.Call{Name: "x", Args: json.RawMessage(`{"n":1}`)}); bad != nil {
		t.Errorf("got %+v", bad)
	}
	for args, want := range map[string]string{``: "'n'", `{"n":"a"}`: "integer", `[]`: "not an object", `{`: "the arguments do not fit"} {
		_, bad := c.Check(agent.Call{Name: "x", Args: json.RawMessage(args)})
		if bad == nil || bad.Outcome != agent.OutcomeInvalid || !strings.Contains(bad.Text, want) || !strings.Contains(bad.Text, "expected by x") {
			t.Errorf("%s: got %+v", args, bad)
		}
	}
	for _, schema := range []string{`{`, `{"$ref":"http://example.com/x"}`, `{"$ref":"file:///etc/passwd"}`, `{"type":1}`} {
		if _, err := agent.NewChecker([]agent.ToolSpec{{Name: "x", Schema: json.RawMessage(schema)}}); err == nil {
			t.Errorf("%s passed", schema)
		}
	}
	if _, err := agent.NewChecker([]agent.ToolSpec{{Name: "x", Schema: json.RawMessage(`{}`)}, {Name: "x", Schema: json.RawMessage(`{}`)}}); err == nil {
		t.Error("two of one name passed")
	}
}
