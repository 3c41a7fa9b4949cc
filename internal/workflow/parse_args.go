package workflow

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

var waitKeys = []string{"role", "threshold"}

// condition reads `if` and `wait_for_quorum` of a move; both together must hold.
func (c *compiler) condition(o object) *Guard {
	n, wait := o.at("if"), o.at("wait_for_quorum")
	if wait == nil {
		return c.guard(n, o.sub("if"))
	}
	w, ok := c.object(wait, o.sub("wait_for_quorum"), "wait_for_quorum", waitKeys)
	if !ok {
		return nil
	}
	role, threshold := w.str("role"), w.str("threshold")
	if !w.required("role", "wait_for_quorum", "name the role that votes") || !w.required("threshold", "wait_for_quorum", "name the threshold, as all_approve") {
		return nil
	}
	if message, remedy := checkQuorum(role, threshold); message != "" {
		c.report.fail(wait.pos, w.path, message, remedy)
		return nil
	}
	source := fmt.Sprintf("quorum(%q, %q)", role, threshold)
	if n != nil && n.kind == kindString {
		// The guard is checked alone first, so that its errors have their own place.
		if c.guard(n, o.sub("if")) == nil {
			return nil
		}
		source = "(" + strings.TrimSpace(n.text()) + ") && " + source
	}
	return c.guard(&node{kind: kindString, pos: wait.pos, value: source}, w.path)
}

func (c *compiler) createChild(o object, a *Action) {
	a.Workflow = o.name("workflow")
	if n := o.at("workflow"); n == nil {
		a.Workflow = c.def.Key
	} else if a.Workflow != c.def.Key {
		c.known(c.names.Workflows, n, o.sub("workflow"), "workflow", a.Workflow)
	}
	if o.required("title", "the action create_child", "write the child's title") {
		a.Title = c.filled(o, "title")
	}
	a.Description = c.text(o.at("description"), o.sub("description"), "description")
	n, path := o.either("agent", "agent_profile_id")
	a.Agent = c.name(n, path, "agent")
	c.known(c.names.Agents, n, path, "agent", a.Agent)
}

func (c *compiler) requestApproval(o object, a *Action) {
	a.Prompt = c.text(o.at("prompt"), o.sub("prompt"), "prompt")
	n, path := o.at("of"), o.sub("of")
	if n == nil {
		return
	}
	a.Of = c.str(n, path, "of")
	name, ok := strings.CutPrefix(a.Of, "person:")
	if !ok || !fairlead.ValidKey(name) {
		if n.kind == kindString {
			c.report.fail(n.pos, path, "an approval is asked of a person", "write `of: \"person:owner\"`, or leave it out to ask everybody")
		}
		return
	}
	c.known(c.names.People, n, path, "person", name)
}

// AgentFailed names the agent whose error fired the trigger.
const AgentFailed = "failed"

func (c *compiler) pauseAgent(to slot, o object, a *Action) {
	if !o.required("agent", "the action pause_agent", "write `agent: failed`, or an agent's key") {
		return
	}
	a.Agent = o.name("agent")
	if a.Agent != AgentFailed {
		c.known(c.names.Agents, o.at("agent"), o.sub("agent"), "agent", a.Agent)
		return
	}
	if to.trigger != fairlead.TriggerAgentError {
		c.report.fail(o.at("agent").pos, o.sub("agent"), "there is a failed agent only under agent_error", "name the agent by its key")
	}
}

func (c *compiler) set(o object, a *Action) {
	f := &SetFields{AddLabels: o.strings("add_labels"), RemoveLabels: o.strings("remove_labels")}
	f.Priority = fairlead.Priority(o.choice("priority", "urgent", "high", "medium", "low"))
	if n := o.at("agent"); n != nil {
		agent := ""
		if n.kind != kindString || n.text() != "" {
			agent = o.name("agent")
		}
		f.Agent = &agent
		c.known(c.names.Agents, n, o.sub("agent"), "agent", agent)
	}
	f.Metadata = c.values(o.at("metadata"), o.sub("metadata"), "metadata")
	for _, key := range []string{"add_labels", "remove_labels"} {
		for i, n := range c.nodes(o, key) {
			c.plainText(n, index(o.sub(key), i), "a label")
		}
	}
	if len(o.pairs) == 0 {
		c.report.fail(o.pos, o.path, "the action set changes nothing", "name add_labels, remove_labels, priority, agent or metadata")
	}
	a.Set = f
}

func (c *compiler) nodes(o object, key string) []*node {
	if n := o.at(key); n != nil {
		return n.list
	}
	return nil
}

func (c *compiler) notify(o object, a *Action) {
	if o.required("url", "the action notify", "write where to send it") {
		a.URL = c.filled(o, "url")
	}
	if s, ok := a.URL.Literal(); ok && a.URL != nil {
		u, err := url.Parse(s)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
			c.report.fail(o.at("url").pos, o.sub("url"), "url is not a web address", "write it with https://")
		}
	}
	a.Text = c.text(o.at("text"), o.sub("text"), "text")
}

// filled reads a text that must not be empty.
func (c *compiler) filled(o object, key string) *Text {
	n := o.at(key)
	t := c.text(n, o.sub(key), key)
	if t != nil && strings.TrimSpace(t.Source) == "" {
		c.report.fail(n.pos, o.sub(key), key+" is empty", "write a text")
	}
	return t
}

// literal reads a text that stands in a place where no expression is replaced.
func (c *compiler) literal(o object, key string) string {
	c.plainText(o.at(key), o.sub(key), key)
	return o.str(key)
}

func (c *compiler) plainText(n *node, path, what string) {
	if n != nil && n.kind == kindString && strings.Contains(n.text(), "${") {
		c.report.fail(n.pos, path, what+" is literal: no expression is replaced in it", "put what changes into payload or text")
	}
}

// values reads a map whose texts may hold expressions: a text with one becomes a *Text, every other value stays as it is.
func (c *compiler) values(n *node, path, what string) map[string]any {
	if n == nil || !c.want(n, path, what, kindMap) {
		return nil
	}
	return c.value(n, path, what).(map[string]any)
}

func (c *compiler) value(n *node, path, what string) any {
	switch n.kind {
	case kindString:
		t := c.text(n, path, what)
		if s, ok := t.Literal(); ok {
			return s
		}
		return t
	case kindList:
		out := make([]any, len(n.list))
		for i, x := range n.list {
			out[i] = c.value(x, index(path, i), what)
		}
		return out
	case kindMap:
		out := make(map[string]any, len(n.pairs))
		for _, p := range n.pairs {
			out[p.key] = c.value(p.value, join(path, p.key), what)
		}
		return out
	}
	return n.value
}

// bareField is an input that is a field of the task and nothing else.
var bareField = regexp.MustCompile(`^task(\.[a-z_][a-z0-9_]*)+$`)

// inputs reads a program's `with`: literals, texts with `${…}`, or a field of the task by its bare name.
func (c *compiler) inputs(o object) map[string]any {
	n := o.at("with")
	if n == nil {
		return nil
	}
	mended := &node{kind: n.kind, pos: n.pos, pairs: slices.Clone(n.pairs)}
	for i, p := range mended.pairs {
		if p.value.kind == kindString && bareField.MatchString(p.value.text()) {
			mended.pairs[i].value = &node{kind: kindString, pos: p.value.pos, value: "${" + p.value.text() + "}"}
		}
	}
	return c.values(mended, o.sub("with"), "with")
}
