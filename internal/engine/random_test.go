package engine

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// What random workflows are made of. Every step has the same keys in all of them, so that any version can follow any.
var (
	randomSteps  = []string{"a", "b", "c", "d"}
	randomGuards = []string{
		"", "", "children.open == 0", "blockers.open > 0", "'hot' in labels", "visit.n < 9", "visit.round > 1", "payload.missing == 1",
		`quorum("reviewer", "all_approve")`, `quorum("reviewer", "any_reject")`, `quorum("approver", "majority_approve")`,
		`quorum("reviewer", "all_decide")`, `quorum("approver", "n_approve:2")`, "approval.granted", "approval.rejected || approval.open",
		"decisions.pending == 0", "decisions.rejected > 0 && !approval.open",
	}
	randomDo = []string{
		"queue_run: {to: primary}", `queue_run: {to: "role:reviewer", key: "k${visit.n}"}`, `queue_run: {to: "agent:chief"}`, `queue_run: {to: "duty:ceo"}`,
		`queue_run: {to: primary, task: parent}`, `queue_run: {to: "duty:ceo", task: coordination}`, "fan_out: {role: reviewer}", "fan_out: {role: approver}",
		"clear_decisions: {}", "request_approval: {}", `request_approval: {of: "person:anna"}`, "pause_agent: {agent: coder}", "inbox_item: {kind: note, text: t}",
		"comment: {text: \"${task.title}\"}", "set: {add_labels: [hot]}", "set: {remove_labels: [hot], agent: second}",
		"create_child: {workflow: errand, title: T}", "notify: {url: \"https://example.org/\", text: t}",
	}
	randomTriggers = []string{
		"enter", "exit", "turn_start", "turn_complete", "comment", "decision", "approval_resolved", "request_resolved", "blocker_resolved",
		"children_completed", "budget_alert", "agent_error",
	}
	randomSeats = []string{
		"{role: reviewer, agent: reviewer}", "{role: reviewer, agent: tester}", "{role: reviewer, person: anna}", "{role: approver, person: owner}",
		"{role: approver, agent: second}", "{role: collaborator, agent: chief}", "{role: watcher, person: anna}",
		"{role: reviewer, agent: chief, decision_required: false}",
	}
)

// randomWorkflow draws the source of a workflow.
func randomWorkflow(t *rapid.T) string {
	var b strings.Builder
	b.WriteString("workflow: random\nname: Random\nstart: a\n")
	if rapid.Bool().Draw(t, "self_review") {
		b.WriteString("self_review: true\n")
	}
	b.WriteString("steps:\n")
	for _, key := range randomSteps {
		fmt.Fprintf(&b, "  - key: %s\n    name: %s\n    max_visits: %d\n", key, key, rapid.SampledFrom([]int{2, 5, 20, 20}).Draw(t, "max_visits"))
		if rapid.IntRange(0, 3).Draw(t, "agent") > 0 {
			b.WriteString("    agent: coder\n")
		}
		if rapid.IntRange(0, 3).Draw(t, "complete") == 0 {
			b.WriteString("    complete: signal\n")
		}
		if seats := rapid.SliceOfNDistinct(rapid.SampledFrom(randomSeats), 0, 4, rapid.ID).Draw(t, "seats"); len(seats) > 0 {
			fmt.Fprintf(&b, "    participants: [%s]\n", strings.Join(seats, ", "))
		}
		if rapid.Bool().Draw(t, "pass") {
			b.WriteString("    quorum: {on_empty: pass}\n")
		}
		b.WriteString("    on:\n")
		for _, trigger := range rapid.SliceOfNDistinct(rapid.SampledFrom(randomTriggers), 1, 6, rapid.ID).Draw(t, "triggers") {
			fmt.Fprintf(&b, "      %s: [%s]\n", trigger, strings.Join(randomActions(t, trigger), ", "))
		}
		fmt.Fprintf(&b, "      manual: {go: [%s]}\n", strings.Join(randomActions(t, "manual"), ", "))
	}
	b.WriteString("  - {key: done, name: Done, terminal: done}\n")
	return b.String()
}

func randomActions(t *rapid.T, trigger string) (out []string) {
	for range rapid.IntRange(1, 3).Draw(t, "actions") {
		if trigger == "exit" || rapid.Bool().Draw(t, "act") {
			out = append(out, "{"+rapid.SampledFrom(randomDo).Draw(t, "do")+"}")
			continue
		}
		guard := rapid.SampledFrom(randomGuards).Draw(t, "guard")
		if trigger == "enter" && (guard == "" || rapid.Bool().Draw(t, "goes on")) {
			guard = "children.open == 0" // true for most tasks: rows of steps, and circles
		}
		to := rapid.SampledFrom(append([]string{"done"}, randomSteps...)).Draw(t, "to")
		if guard == "" {
			out = append(out, fmt.Sprintf("{move: {to: %s}}", to))
			continue
		}
		out = append(out, fmt.Sprintf("{move: {to: %s, if: '%s'}}", to, strings.ReplaceAll(guard, "'", "''")))
	}
	return out
}
