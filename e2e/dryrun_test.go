package e2e

import (
	"testing"

	"github.com/fairlead/fairlead"
)

// E5: a dry run, a simulation, a lint and a refused save give the full plan and change not one row, sequence numbers
// included.
func TestE5_DryRunsChangeNoRow(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		s.save(heavy)
		task := s.task("heavy")
		s.save(heavy + "  - {key: more}\n")
		before := s.dump(db)
		o := must(s.client.Trigger(t.Context(), task.ID, fairlead.TriggerBody{Kind: "manual", Key: "all"}, true))(t)
		if !o.DryRun || !o.Moved || o.Step != "b" || len(o.Effects) < 4 || len(o.Explanation) < 4 {
			t.Errorf("dry run: %s", asJSON(t, o))
		}
		for _, kind := range []fairlead.TriggerKind{"enter", "comment", "turn_complete", "agent_error", "heartbeat", "children_completed", "decision"} {
			if _, err := s.client.Trigger(t.Context(), task.ID, fairlead.TriggerBody{Kind: kind}, true); err != nil {
				t.Errorf("dry run of %s: %v", kind, err)
			}
		}
		o = must(s.client.Simulate(t.Context(), fairlead.SimulateBody{Source: heavy, Trigger: "manual:all"}))(t)
		if !o.Moved || o.Task != nil {
			t.Errorf("simulation: %s", asJSON(t, o))
		}
		must(s.client.Simulate(t.Context(), fairlead.SimulateBody{Key: "heavy", Step: "b", Trigger: "enter"}))(t)
		if o = must(s.client.Repin(t.Context(), task.ID, fairlead.RepinBody{DryRun: true}))(t); !o.DryRun {
			t.Errorf("dry repin: %s", asJSON(t, o))
		}
		must(s.client.LintWorkflow(t.Context(), heavy))(t)
		if after := s.dump(db); after != before {
			t.Errorf("dry runs changed rows:\n%s", rowsChanged(before, after))
		}
		o = must(s.client.Trigger(t.Context(), task.ID, fairlead.TriggerBody{Kind: "manual", Key: "all"}, false))(t)
		if !o.Moved || o.Step != "b" {
			t.Errorf("for real: %s", asJSON(t, o))
		}
	})
}

// heavy has a trigger that does everything there is.
const heavy = `workflow: heavy
start: a
steps:
  - key: a
    on:
      manual:
        all:
          - set: {add_labels: [x], priority: high}
          - comment: {text: done}
          - inbox_item: {kind: hint, text: look}
          - create_child: {workflow: kanban, title: a child}
          - queue_run: {to: "agent:coder"}
          - move: {to: b}
  - key: b
    on: {enter: [{request_approval: {of: "person:owner"}}]}
  - {key: z, terminal: done}
`
