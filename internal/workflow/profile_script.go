package workflow

import (
	"math"
	"regexp"
	"slices"

	"github.com/fairlead/fairlead"
)

var (
	sceneKeys = []string{"when", "do"}
	whenKeys  = []string{"prompt", "role", "nth"}
	playKeys  = []string{"say", "think", "tool", "ask", "fail", "usage", "hang", "die", "end"}
	toolKeys  = []string{"name", "args"}
	usageKeys = []string{"model", "input", "output", "cache_read", "cache_write", "cost"}
	failKeys  = []string{"class", "message", "retry_after"}
)

// scene checks one entry of a script: when it is played, and what it does.
func (r *profileReader) scene(n *node, path string) {
	o, ok := r.object(n, path, "an entry of the script", sceneKeys)
	if !ok {
		return
	}
	if w := o.at("when"); w != nil {
		if when, ok := r.object(w, o.sub("when"), "when", whenKeys); ok {
			if p := when.at("prompt"); p != nil {
				if _, err := regexp.Compile(when.str("prompt")); err != nil {
					r.report.fail(p.pos, when.sub("prompt"), "prompt is not a regular expression", "write it as Go's package regexp reads it")
				}
			}
			when.str("role")
			when.integer("nth", 1)
		}
	}
	if !o.required("do", "an entry of the script", "list what the agent does, as `do: [{say: hello}]`") {
		return
	}
	for i, x := range r.list(o.at("do"), o.sub("do"), "do") {
		r.play(x, index(o.sub("do"), i))
	}
}

// play checks one thing that the scripted agent does.
func (r *profileReader) play(n *node, path string) {
	if n.kind != kindMap || len(n.pairs) != 1 {
		r.report.fail(n.pos, path, "what an agent does is a map with one key", "write it as `- say: hello`")
		return
	}
	o, ok := r.object(n, path, "what an agent does", playKeys)
	if !ok || !slices.Contains(playKeys, n.pairs[0].key) {
		return
	}
	v, at := n.pairs[0].value, o.sub(n.pairs[0].key)
	switch n.pairs[0].key {
	case "say", "think":
		r.str(v, at, n.pairs[0].key)
	case "end":
		r.choice(v, at, "end", "end_turn", "limit", "refusal", "cancelled", "parked")
	case "tool":
		if t, ok := r.object(v, at, "tool", toolKeys); ok && t.required("name", "tool", "name the tool") {
			t.str("name")
			r.anyMap(t, "args") // any arguments: the tool checks them when it is called
		}
	case "ask":
		// The arguments are the tool's business, which is not known here.
		if v.kind != kindMap && v.kind != kindList {
			r.str(v, at, "ask")
		}
	case "fail":
		r.failure(v, at)
	case "usage":
		r.usage(v, at)
	case "hang":
		if v.kind != kindString || v.text() != "forever" {
			o.duration("hang", 0)
		}
	case "die":
		if r.want(v, at, "die", kindInt) && (v.value.(int64) < 0 || v.value.(int64) > math.MaxUint8) {
			r.report.fail(v.pos, at, "die is not an exit code", "write a number from 0 to 255")
		}
	}
}

// failure reads `fail: transient` or `fail: {class: limited, retry_after: 30s}`.
func (r *profileReader) failure(v *node, at string) {
	if v.kind != kindMap {
		r.choice(v, at, "fail", errorClasses()...)
		return
	}
	if f, ok := r.object(v, at, "fail", failKeys); ok && f.required("class", "fail", "name the class, as transient") {
		f.choice("class", errorClasses()...)
		f.str("message")
		f.duration("retry_after", 0)
	}
}

func (r *profileReader) usage(v *node, at string) {
	u, ok := r.object(v, at, "usage", usageKeys)
	if !ok {
		return
	}
	u.str("model")
	for _, key := range usageKeys[1:] {
		if n := u.at(key); n != nil && r.want(n, u.sub(key), key, kindInt) && n.value.(int64) < 0 {
			r.report.fail(n.pos, u.sub(key), key+" is below zero", "write a count, and cost in millionths of a dollar")
		}
	}
}

func errorClasses() []string {
	classes := []fairlead.ErrorClass{
		fairlead.ClassTransient, fairlead.ClassLimited, fairlead.ClassBudget, fairlead.ClassDenied, fairlead.ClassConfiguration,
		fairlead.ClassAuthentication, fairlead.ClassUnknownModel, fairlead.ClassEmpty, fairlead.ClassTurnLimit, fairlead.ClassRefusal,
		fairlead.ClassFormat, fairlead.ClassStuck, fairlead.ClassProgram, fairlead.ClassStopped, fairlead.ClassInterrupted,
	}
	words := make([]string, len(classes))
	for i, c := range classes {
		words[i] = string(c)
	}
	return words
}
