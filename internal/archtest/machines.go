package archtest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fairlead/fairlead"
)

// drawing is one state diagram of docs/state-machines.md.
type drawing struct {
	arrows []fairlead.Transition
	ends   []string // states drawn with an arrow to the end
}

var (
	heading = regexp.MustCompile("^## ([A-Z][a-z]+)$")
	arrow   = regexp.MustCompile(`^\s*(\[\*\]|[a-z_]+) --> (\[\*\]|[a-z_]+)(?:: (.+))?$`)
)

// parseMachines reads the diagrams of a Markdown text: under a heading `## Name` the mermaid block of that machine.
// In a block, each line but the first two is an arrow `from --> to: event, event`; `[*]` on the left is the beginning,
// on the right the end, and an arrow to the end has no event.
func parseMachines(markdown string) (map[string]drawing, error) {
	drawings := map[string]drawing{}
	name, drawn := "", false
	for i, line := range strings.Split(markdown, "\n") {
		if m := heading.FindStringSubmatch(line); m != nil && !drawn {
			name = strings.ToLower(m[1])
			continue
		}
		switch {
		case strings.HasPrefix(line, "```mermaid"):
			drawn = true
		case strings.HasPrefix(line, "```"):
			drawn = false
		case drawn && !ornament(line):
			d, err := addArrow(drawings[name], line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			drawings[name] = d
		}
	}
	return drawings, nil
}

// ornament reports whether a line of a diagram says nothing about arrows.
func ornament(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "%%") || line == "stateDiagram-v2" || strings.HasPrefix(line, "direction ")
}

func addArrow(d drawing, line string) (drawing, error) {
	m := arrow.FindStringSubmatch(line)
	if m == nil {
		return d, fmt.Errorf("not an arrow: %q", line)
	}
	from, to, events := m[1], m[2], m[3]
	if to == "[*]" {
		if events != "" {
			return d, fmt.Errorf("an arrow to the end has no event: %q", line)
		}
		d.ends = append(d.ends, from)
		return d, nil
	}
	if events == "" {
		return d, fmt.Errorf("an arrow without an event: %q", line)
	}
	if from == "[*]" {
		from = ""
	}
	for _, e := range strings.Split(events, ",") {
		d.arrows = append(d.arrows, fairlead.Transition{From: from, To: to, Event: strings.TrimSpace(e)})
	}
	return d, nil
}

// finals returns the states of a table that no arrow leaves for another state.
func finals(arrows []fairlead.Transition) map[string]bool {
	final := map[string]bool{}
	for _, t := range arrows {
		final[t.To] = true
	}
	for _, t := range arrows {
		if t.From != t.To {
			delete(final, t.From)
		}
	}
	return final
}
