package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// Adapters are what a profile may name as its adapter; auto is the best agent found on the machine.
func Adapters() []string { return []string{adapterAuto, adapterACP, adapterLLM, adapterScript} }

const (
	adapterAuto   = "auto"
	adapterACP    = "acp"
	adapterLLM    = "llm"
	adapterScript = "script"
)

var profileKeys = []string{
	"agent", "name", "adapter", "command", "model", "instructions", "skills", "memory", "tools", "pinned", "permissions", "limits", "environment",
	"duty", "parallel", "cooldown", "labels", "retry", "account", "script",
}

// ParseAgent reads one agent profile as `agent apply` takes it. The profile is the zero value if the report has errors.
func ParseAgent(source []byte) (fairlead.AgentProfile, *Report) {
	report := &Report{}
	defer report.sort()
	root, bad := readYAML(source)
	if bad != nil {
		report.fail(bad.pos, "", bad.message, bad.remedy)
		return fairlead.AgentProfile{}, report
	}
	r := &profileReader{reader{report: report}}
	p := r.profile(root)
	if len(report.Errors) > 0 {
		return fairlead.AgentProfile{}, report
	}
	return p, report
}

type profileReader struct{ reader }

func (r *profileReader) profile(root *node) fairlead.AgentProfile {
	var p fairlead.AgentProfile
	o, ok := r.object(root, "", "the agent", profileKeys)
	if !ok {
		return p
	}
	if o.required("agent", "the agent", "name it, as `agent: coder`") {
		p.Key = o.name("agent")
	}
	if p.Name = o.str("name"); p.Name == "" {
		p.Name = p.Key
	}
	if p.Adapter = o.choice("adapter", Adapters()...); p.Adapter == "" {
		p.Adapter = adapterAuto
	}
	p.Command, p.Model, p.Instructions = o.strings("command"), o.str("model"), o.str("instructions")
	p.Skills, p.Memory, p.Account = o.strings("skills"), o.str("memory"), o.str("account")
	p.Tools, p.Labels = r.words(o, "tools"), r.words(o, "labels")
	p.Duty, p.Parallel = o.name("duty"), o.integer("parallel", 0)
	p.Pinned, p.Permissions, p.Limits = r.pinned(o), r.anyMap(o, "permissions"), r.limits(o)
	p.Environment = r.environment(o)
	if d := o.duration("cooldown", 0); d > 0 {
		p.Cooldown = d.String()
	}
	p.Retry = r.retry(o)
	p.Script = r.script(o)
	r.fits(o, p)
	return p
}

// fits refuses fields that the adapter would ignore.
func (r *profileReader) fits(o object, p fairlead.AgentProfile) {
	if n := o.at("command"); n != nil && p.Adapter != adapterACP {
		r.report.fail(n.pos, "command", "only the adapter acp starts a command", "write `adapter: acp`")
	}
	n := o.at("script")
	switch {
	case n != nil && p.Adapter != adapterScript:
		r.report.fail(n.pos, "script", "only the adapter script plays a script", "write `adapter: script`")
	case n == nil && p.Adapter == adapterScript:
		r.report.fail(o.at("adapter").pos, "adapter", "the adapter script has no script to play", "write its `script`")
	}
}

// words reads a list of names without spaces, each once.
func (r *profileReader) words(o object, key string) []string {
	words := o.strings(key)
	for i, w := range words {
		if strings.ContainsAny(w, " \t\n,") {
			r.report.fail(o.at(key).pos, index(key, i), fmt.Sprintf("an entry of %s is not one word", key), "write one name an entry")
		}
		if slices.Contains(words[:i], w) {
			r.report.fail(o.at(key).pos, index(key, i), fmt.Sprintf("an entry of %s stands twice", key), "keep one of them")
		}
	}
	return words
}

func (r *profileReader) anyMap(o object, key string) map[string]any {
	n := o.at(key)
	if n == nil || !r.want(n, o.sub(key), key, kindMap) {
		return nil
	}
	return n.plainValue().(map[string]any)
}

// pinned reads {tool: {argument: value}}.
func (r *profileReader) pinned(o object) map[string]any {
	n := o.at("pinned")
	if n != nil && n.kind == kindMap {
		for _, p := range n.pairs {
			r.want(p.value, join("pinned", p.key), "the pinned arguments of a tool", kindMap)
		}
	}
	return r.anyMap(o, "pinned")
}

func (r *profileReader) environment(o object) map[string]string {
	n := o.at("environment")
	if n == nil || !r.want(n, "environment", "environment", kindMap) {
		return nil
	}
	out := map[string]string{}
	for _, p := range n.pairs {
		path := join("environment", p.key)
		if p.key == "" || strings.ContainsAny(p.key, "= \t\n") {
			r.report.fail(p.pos, path, "this is not the name of an environment variable", "write letters, digits and _")
		}
		if r.want(p.value, path, "an environment variable", kindString) {
			out[p.key] = p.value.text()
		}
	}
	return out
}

// The limits of a profile: durations, and whole numbers.
var (
	durationLimits = []string{"start", "idle", "stall", "turn", "max_wall"}
	numberLimits   = []string{"max_calls", "max_turns", "max_tokens", "memory", "output"}
)

func (r *profileReader) limits(o object) map[string]any {
	n := o.at("limits")
	if n == nil {
		return nil
	}
	l, ok := r.object(n, "limits", "limits", append(slices.Clone(durationLimits), numberLimits...))
	if !ok {
		return nil
	}
	for _, key := range durationLimits {
		l.duration(key, 1)
	}
	for _, key := range numberLimits {
		if x := l.at(key); x != nil && r.want(x, l.sub(key), key, kindInt) && x.value.(int64) < 1 {
			r.report.fail(x.pos, l.sub(key), key+" must be at least 1", "leave it out for the default")
		}
	}
	return r.anyMap(o, "limits")
}

func (r *profileReader) retry(o object) []string {
	for i, n := range r.list(o.at("retry"), "retry", "retry") {
		one := object{&node{kind: kindMap, pairs: []pair{{"retry", n.pos, n}}}, &r.reader, ""}
		if i >= maxRetries {
			r.report.fail(n.pos, "retry", fmt.Sprintf("retry has more than %d rungs", maxRetries), "write fewer")
			break
		}
		one.duration("retry", 0)
	}
	return o.strings("retry")
}

// maxRetries bounds the ladder: with the first try a run makes at most ten attempts.
const maxRetries = 9

// script reads what the scripted agent plays, and hands it on as JSON.
func (r *profileReader) script(o object) json.RawMessage {
	n := o.at("script")
	if n == nil {
		return nil
	}
	for i, x := range r.list(n, "script", "script") {
		r.scene(x, index("script", i))
	}
	raw, err := json.Marshal(n.plainValue())
	if err != nil {
		r.report.fail(n.pos, "script", "the script cannot be stored", "")
		return nil
	}
	return raw
}
