package script

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/fairlead/fairlead/internal/agent"
)

// prompt is what a rule looks at.
type prompt struct{ text, role string }

// choose returns the steps for the last of a session's prompts, with the groups of the expression filled in; ok is
// false when no rule matches.
func (s *Script) choose(history []prompt) (steps []Step, ok bool) {
	now := history[len(history)-1]
	for _, r := range s.rules {
		if !r.matches(now) || r.nth > 0 && r.count(history) != r.nth {
			continue
		}
		groups := r.groups(now.text)
		out := make([]Step, len(r.do))
		for i, st := range r.do {
			out[i] = st.expand(groups)
		}
		return out, true
	}
	return nil, false
}

func (r *rule) matches(p prompt) bool {
	return (r.role == "" || r.role == p.role) && r.prompt.MatchString(p.text)
}

func (r *rule) count(history []prompt) int {
	n := 0
	for _, p := range history {
		if r.matches(p) {
			n++
		}
	}
	return n
}

// groups maps ${…} to what the expression found.
func (r *rule) groups(text string) map[string]string {
	out := map[string]string{}
	found := r.prompt.FindStringSubmatch(text)
	names := r.prompt.SubexpNames()
	for i, g := range found {
		out[itoa(i)] = g
		if names[i] != "" {
			out[names[i]] = g
		}
	}
	return out
}

func itoa(i int) string { return string(mustJSON(i)) }

var variable = regexp.MustCompile(`\$\{(\w+)\}`)

// fill replaces the variables that are known and leaves the others: a shell command has its own.
func fill(s string, vars map[string]string) string {
	return variable.ReplaceAllStringFunc(s, func(v string) string {
		if x, ok := vars[v[2:len(v)-1]]; ok {
			return x
		}
		return v
	})
}

// expand fills the variables of a step in. The step itself is not changed.
func (s Step) expand(vars map[string]string) Step {
	text := func(p *string) *string {
		if p == nil {
			return nil
		}
		out := fill(*p, vars)
		return &out
	}
	s.Say, s.Think, s.Ask = text(s.Say), text(s.Think), fillJSON(s.Ask, vars)
	if s.Tool != nil {
		s.Tool = &Tool{Name: s.Tool.Name, Args: fillJSON(s.Tool.Args, vars)}
	}
	return s
}

// fillJSON fills variables in every text of a JSON value, so that quotes in what is filled in cannot break it.
func fillJSON(raw json.RawMessage, vars map[string]string) json.RawMessage {
	var v any
	if len(raw) == 0 || !strings.Contains(string(raw), "${") || json.Unmarshal(raw, &v) != nil {
		return raw
	}
	return mustJSON(fillAny(v, vars))
}

func fillAny(v any, vars map[string]string) any {
	switch x := v.(type) {
	case string:
		return fill(x, vars)
	case []any:
		for i := range x {
			x[i] = fillAny(x[i], vars)
		}
	case map[string]any:
		for k := range x {
			x[k] = fillAny(x[k], vars)
		}
	}
	return v
}

// mustJSON encodes values that came out of JSON or are plain numbers: it cannot fail.
func mustJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}

// endOf translates the word of an end step.
func endOf(word string) *agent.TurnEnd {
	switch agent.EndReason(word) {
	case agent.EndTurn, agent.EndParked:
		return &agent.TurnEnd{Reason: agent.EndReason(word)}
	case agent.EndCancelled, agent.EndUnasked: // nobody cancelled: a script cannot
		return &agent.TurnEnd{Reason: agent.EndUnasked, Asked: word}
	case agent.EndLimit:
		return failure(agent.EndLimit, "turn_limit", "the script ends the turn by a limit")
	case agent.EndRefusal:
		return failure(agent.EndRefusal, "refusal", "the script refuses")
	}
	return nil
}
