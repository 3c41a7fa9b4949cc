package engine

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// failedAgent is the value of pause_agent that means the agent whose error this is.
const failedAgent = "failed"

func (d *decider) noAgent(x doing, agent string) {
	text := fmt.Sprintf("There is no agent %q in this workspace.", agent)
	if agent == "" {
		text = "Neither the task nor the step names an agent."
	}
	d.failed(x, "no_such_agent", agent, text)
}

func (d *decider) pauseAgent(x doing) {
	agent := x.a.Agent
	if agent == failedAgent {
		agent = failing(x.t)
	}
	if !hasAgent(&d.s, agent) {
		d.noAgent(x, agent)
		return
	}
	reason := labelOf(x.t)
	if m, ok := x.t.Payload["error_message"].(string); ok && m != "" {
		reason += ": " + m
	}
	d.took(x, PauseAgent{Agent: agent, Reason: reason}, agent)
}

// failing is the agent whose error an agent_error speaks of, "" for any other trigger.
func failing(t Trigger) string {
	if t.Kind != fairlead.TriggerAgentError {
		return ""
	}
	key, _ := t.Payload["failed_agent_id"].(string)
	return key
}

func (d *decider) inboxItem(x doing) {
	text, ok := d.text(x, x.a.Text)
	if !ok {
		return
	}
	kind := x.a.NoticeKind
	if kind == "" {
		kind = string(x.t.Kind)
	}
	if text == "" {
		text = noticeText(x.t, kind)
	}
	d.took(x, AddNotice{Kind: kind, Text: text, Data: copyMap(x.t.Payload)}, kind)
}

// noticeText is what an inbox item without a text says.
func noticeText(t Trigger, kind string) string {
	if agent := failing(t); agent != "" {
		message, _ := t.Payload["error_message"].(string)
		return strings.TrimSuffix(fmt.Sprintf("Agent %s failed: %s", agent, message), ": ")
	}
	return kind
}

// set changes fields of the task; a text among the metadata's values is filled in.
func (d *decider) set(x doing) {
	if x.a.Set == nil {
		d.say(x, OutcomeSkipped, "nothing", "")
		return
	}
	f := *x.a.Set
	if f.Agent != nil && *f.Agent != "" && !hasAgent(&d.s, *f.Agent) {
		d.noAgent(x, *f.Agent)
		return
	}
	metadata, ok := d.values(x, f.Metadata)
	if !ok {
		return
	}
	f.Metadata = metadata
	d.took(x, SetTask{Set: f}, "")
}

func (d *decider) notify(x doing) {
	url, ok := d.text(x, x.a.URL)
	if !ok {
		return
	}
	text, ok := d.text(x, x.a.Text)
	if !ok {
		return
	}
	d.took(x, Notify{URL: url, Text: text}, "")
}

// cutPerson reads "person:KEY".
func cutPerson(s string) (string, bool) { return strings.CutPrefix(s, "person:") }

// parseTarget reads a target as a wake of another task carries it. A bare word is no target.
func parseTarget(s string) (workflow.Target, bool) {
	if s == "" || s == string(workflow.TargetPrimary) {
		return workflow.Target{Kind: workflow.TargetPrimary}, true
	}
	kind, name, ok := strings.Cut(s, ":")
	switch k := workflow.TargetKind(kind); k {
	case workflow.TargetRole, workflow.TargetAgent, workflow.TargetDuty:
		return workflow.Target{Kind: k, Name: name}, ok && name != ""
	}
	return workflow.Target{}, false
}
