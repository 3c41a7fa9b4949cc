package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
)

const (
	maxMatches = 500
	maxLine    = 400 // bytes of a line shown
)

func (b *Box) grep() tool {
	return tool{
		spec: agent.ToolSpec{
			Name: "grep", Effect: agent.EffectRead, Touches: []string{agent.TouchFiles},
			Description: "Searches text files of the workspace for a regular expression (RE2) and returns path:line: text.",
			Schema: json.RawMessage(`{"type":"object","properties":{
				"pattern":{"type":"string","minLength":1},
				"path":{"type":"string","description":"file or directory, default the workspace"},
				"files":{"type":"string","description":"glob of the files to look at, such as *.go"},
				"ignore_case":{"type":"boolean"},
				"max":{"type":"integer","minimum":1,"maximum":500,"description":"matches, default 100"}},
				"required":["pattern"],"additionalProperties":false}`),
		},
		run: func(ctx context.Context, call agent.Call) agent.Result {
			in, bad := args[search](call)
			if bad != nil {
				return *bad
			}
			return b.find(ctx, &in)
		},
	}
}

type search struct {
	Pattern, Path, Files string
	IgnoreCase           bool `json:"ignore_case"`
	Max                  int
	re                   *regexp.Regexp
	found                []string
	more                 bool
}

func (b *Box) find(ctx context.Context, in *search) agent.Result {
	pattern := in.Pattern
	if in.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	var err error
	if in.re, err = regexp.Compile(pattern); err != nil {
		return agent.Result{Outcome: agent.OutcomeError, Text: "the pattern is malformed: " + err.Error()}
	}
	if in.Max == 0 {
		in.Max = 100
	}
	in.Max = min(in.Max, maxMatches)
	err = b.walk(ctx, in.Path, 0, func(name string, dir bool) bool {
		if !dir && globbed(in.Files, name) {
			b.scan(in, name)
		}
		return !in.more
	})
	if err != nil {
		return refusal(err)
	}
	if len(in.found) == 0 {
		return done("no match")
	}
	if in.more {
		in.found = append(in.found, fmt.Sprintf("… more than %d matches", in.Max))
	}
	return done("%s", strings.Join(in.found, "\n"))
}

// scan looks through one file; what cannot be read or is no text has no matches.
func (b *Box) scan(in *search, name string) {
	data, err := b.jail.ReadFile(name, maxFile)
	if err != nil && !fairlead.IsCode(err, fairlead.CodeTooLarge) || binary(data) {
		return
	}
	n := 0
	for line := range strings.SplitSeq(string(data), "\n") {
		n++
		if !in.re.MatchString(line) {
			continue
		}
		if len(in.found) == in.Max {
			in.more = true
			return
		}
		in.found = append(in.found, fmt.Sprintf("%s:%d: %s", name, n, agent.Clip(line, maxLine)))
	}
}
