package control

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
	"github.com/fairlead/fairlead/internal/workflow"
)

func TestE5_SimulationChangesNotOneRow(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		before := h.rawDump()
		for _, x := range []struct {
			step, trigger string
			payload       map[string]any
			to            string // "" = stays
		}{
			{"backlog", "comment", nil, "work"},
			{"work", "enter", nil, ""},
			{"work", "turn_complete", nil, "review"},
			{"work", "turn_complete", map[string]any{"completed": false}, ""},
			{"work", "agent_error", map[string]any{"failed_agent_id": "coder"}, ""},
			{"review", "decision", map[string]any{"verdict": "approve"}, "approval"},
			{"review", "decision", map[string]any{"verdict": "rejected", "role": "reviewer"}, "work"},
			{"review", "decision", nil, ""},
			{"approval", "approval_resolved", map[string]any{"verdict": "approve"}, "done"},
			{"approval", "approval_resolved", map[string]any{"verdict": "revise"}, ""},
		} {
			out, err := h.c.Simulate(t.Context(), mainWorkspace, fairlead.SimulateBody{
				Key: "office-default", Step: x.step, Trigger: x.trigger, Payload: x.payload,
			})
			if err != nil {
				t.Errorf("%s at %s: %v", x.trigger, x.step, err)
				continue
			}
			want := x.to
			if want == "" {
				want = x.step
			}
			if out.Step != want || out.Moved != (x.to != "") || !out.DryRun || out.Task != nil {
				t.Errorf("%s at %s (%v): got step %s, moved %v; want %s\n%+v", x.trigger, x.step, x.payload, out.Step, out.Moved, want, out.Explanation)
			}
		}
		if string(before) != string(h.rawDump()) {
			t.Error("a simulation changed the database")
		}
	})
}

func TestSimulateRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t).Open(t, nil))
	for name, body := range map[string]fairlead.SimulateBody{
		"nothing":  {Trigger: "comment"},
		"both":     {Key: "kanban", Source: lineWorkflow, Trigger: "comment"},
		"trigger":  {Key: "kanban", Trigger: "moonrise"},
		"step":     {Key: "kanban", Step: "nowhere", Trigger: "comment"},
		"manual":   {Key: "kanban", Trigger: "manual:nothing"},
		"bad file": {Source: "workflow: [", Trigger: "comment"},
	} {
		_, err := h.c.Simulate(t.Context(), mainWorkspace, body)
		if !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%s: got %v, want invalid", name, err)
		}
	}
	_, err := h.c.Simulate(t.Context(), mainWorkspace, fairlead.SimulateBody{Key: "none", Trigger: "comment"})
	refused(t, err, fairlead.CodeNotFound)
	out, err := h.c.Simulate(t.Context(), mainWorkspace, fairlead.SimulateBody{Source: lineWorkflow, Trigger: "manual:go"})
	h.must(err)
	if out.Step != "work" {
		t.Errorf("got step %s, want work", out.Step)
	}
}

func TestE5_EveryTriggerOfEveryTemplateCanBeSimulated(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t).Open(t, nil))
	for _, template := range workflow.Templates() {
		h.save(string(template.Source))
	}
	before := h.dump()
	for _, template := range workflow.Templates() {
		v, err := h.c.GetWorkflow(t.Context(), mainWorkspace, template.Key)
		h.must(err)
		for _, step := range v.Steps {
			for _, trigger := range fairlead.Triggers() {
				out, err := h.c.Simulate(t.Context(), mainWorkspace, fairlead.SimulateBody{Key: v.Key, Step: step.Key, Trigger: string(trigger)})
				switch {
				case trigger == fairlead.TriggerManual:
					refused(t, err, fairlead.CodeInvalid) // it needs a key
				case err != nil:
					t.Errorf("%s at %s of %s: %v", trigger, step.Key, v.Key, err)
				case out.Held != "":
					t.Errorf("%s at %s of %s ends held %s", trigger, step.Key, v.Key, out.Held)
				}
			}
		}
	}
	if h.dump() != before {
		t.Error("a simulation changed the database")
	}
}
