package workflow

import (
	"strings"

	"github.com/fairlead/fairlead"
)

// The vocabulary of ADR 0004 ("Task model unification") is accepted word for word beside ours. Each of its words is
// listed here with what it means; after this file no code knows which spelling was used.

// actionSpellings are other names of actions.
var actionSpellings = map[string]ActionKind{
	"queue_run_for_each_participant": ActionFanOut,
	"create_child_task":              ActionCreateChild,
	"create_inbox_item":              ActionInboxItem,
}

// actionAutoStart is queue_run to the primary.
const actionAutoStart = "auto_start"

// triggerOf reads the key of a trigger inside of `on` ("enter") or of a step ("on_enter").
func triggerOf(key string) (fairlead.TriggerKind, bool) {
	k := fairlead.TriggerKind(strings.TrimPrefix(key, "on_"))
	return k, k.Valid()
}

// parseTarget reads the spellings of whom a run is for.
func parseTarget(s string) (Target, bool) {
	switch s {
	case "primary":
		return Target{Kind: TargetPrimary}, true
	case "workspace.ceo_agent":
		return Target{Kind: TargetDuty, Name: "ceo"}, true
	}
	kind, name, ok := strings.Cut(s, ":")
	if !ok {
		return Target{}, false
	}
	switch kind {
	case "role", "participant_role":
		return Target{Kind: TargetRole, Name: name}, true
	case "agent", "agent_profile_id":
		return Target{Kind: TargetAgent, Name: name}, true
	case "duty":
		return Target{Kind: TargetDuty, Name: name}, true
	}
	return Target{}, false
}

// actionNames are all accepted names of actions, ours first.
func actionNames() []string {
	return []string{
		"queue_run", "fan_out", "clear_decisions", "move", "create_child", "request_approval", "pause_agent", "inbox_item", "comment", "set",
		"notify", "end", actionAutoStart, "queue_run_for_each_participant", "create_child_task", "create_inbox_item",
	}
}

// triggerNames are the keys of `on`.
func triggerNames() []string {
	var names []string
	for _, t := range fairlead.Triggers() {
		names = append(names, string(t))
	}
	return names
}

// cutManual reads `manual` and `manual:<key>` of a transition.
func cutManual(when string) (key string, ok bool) {
	when = strings.TrimPrefix(when, "on_")
	if when == string(fairlead.TriggerManual) {
		return "", true
	}
	return strings.CutPrefix(when, string(fairlead.TriggerManual)+":")
}
