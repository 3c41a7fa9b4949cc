package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
)

// merged is several boxes in one.
type merged struct {
	specs []agent.ToolSpec
	owner map[string]agent.ToolBox
}

var _ agent.Foreseer = (*merged)(nil)

// Merge puts boxes together. Two tools of one name are an error.
func Merge(boxes ...agent.ToolBox) (agent.ToolBox, error) {
	m := &merged{owner: map[string]agent.ToolBox{}}
	for _, b := range boxes {
		if b == nil {
			continue
		}
		for _, t := range b.Tools() {
			if m.owner[t.Name] != nil {
				return nil, fairlead.Errorf(fairlead.CodeInvalid, "two tools are named %s", t.Name).WithOp("merge tools")
			}
			m.owner[t.Name] = b
			m.specs = append(m.specs, t)
		}
	}
	return m, nil
}

// Tools lists what may be called.
func (m *merged) Tools() []agent.ToolSpec { return m.specs }

// Call passes to the box that has the tool.
func (m *merged) Call(ctx context.Context, call agent.Call) agent.Result {
	if b := m.owner[call.Name]; b != nil {
		return b.Call(ctx, call)
	}
	return missing(m.specs)
}

// Foresee passes to the box that has the tool.
func (m *merged) Foresee(ctx context.Context, call agent.Call) map[string]string {
	return foresee(ctx, m.owner[call.Name], call)
}

// Happened passes to the box that has the tool.
func (m *merged) Happened(ctx context.Context, call agent.Call, foreseen map[string]string) (agent.Result, bool) {
	return happened(ctx, m.owner[call.Name], call, foreseen)
}

// palette is a box with some of its tools kept back.
type palette struct {
	box   agent.ToolBox
	specs []agent.ToolSpec
}

var _ agent.Foreseer = (*palette)(nil)

// Palette leaves only the named tools of a box. A withheld tool is refused where the call arrives, also when a model
// guesses its name; the refusal says no more than that. A name that the box does not have is an error: a palette that
// silently lacks a tool fails later and worse.
func Palette(box agent.ToolBox, names []string) (agent.ToolBox, error) {
	p := &palette{box: box}
	for _, n := range names {
		t, ok := agent.FindTool(box, n)
		if !ok {
			return nil, fairlead.Errorf(fairlead.CodeInvalid, "the palette names %s, and there is no such tool", n).WithOp("choose tools")
		}
		if !p.has(n) {
			p.specs = append(p.specs, t)
		}
	}
	return p, nil
}

func (p *palette) has(name string) bool {
	return slices.ContainsFunc(p.specs, func(t agent.ToolSpec) bool { return t.Name == name })
}

// Tools lists what was left.
func (p *palette) Tools() []agent.ToolSpec { return p.specs }

// Call refuses what is withheld.
func (p *palette) Call(ctx context.Context, call agent.Call) agent.Result {
	if p.has(call.Name) {
		return p.box.Call(ctx, call)
	}
	if _, there := agent.FindTool(p.box, call.Name); there {
		return agent.Result{Outcome: agent.OutcomeDenied, Text: "this tool is withheld here"}
	}
	return missing(p.specs)
}

// Foresee passes to the box that has the tool.
func (p *palette) Foresee(ctx context.Context, call agent.Call) map[string]string {
	if !p.has(call.Name) {
		return nil
	}
	return foresee(ctx, p.box, call)
}

// Happened passes to the box that has the tool.
func (p *palette) Happened(ctx context.Context, call agent.Call, foreseen map[string]string) (agent.Result, bool) {
	if !p.has(call.Name) {
		return agent.Result{}, false
	}
	return happened(ctx, p.box, call, foreseen)
}

// pinned is a box whose calls get some arguments from the profile.
type pinned struct {
	agent.ToolBox
	args map[string]map[string]any
}

var _ agent.Foreseer = (*pinned)(nil)

// Pin sets arguments of tools, by tool and argument; they win over the model's.
func Pin(box agent.ToolBox, args map[string]map[string]any) agent.ToolBox {
	return &pinned{ToolBox: box, args: args}
}

func (p *pinned) pin(call agent.Call) agent.Call {
	set := p.args[call.Name]
	if len(set) == 0 {
		return call
	}
	all := map[string]any{}
	if len(call.Args) > 0 && json.Unmarshal(call.Args, &all) != nil {
		return call // the check below says what is wrong
	}
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, set)
	if data, err := json.Marshal(all); err == nil {
		call.Args = data
	}
	return call
}

// Call sets the pinned arguments first.
func (p *pinned) Call(ctx context.Context, call agent.Call) agent.Result {
	return p.ToolBox.Call(ctx, p.pin(call))
}

// Foresee looks at the call with its pinned arguments.
func (p *pinned) Foresee(ctx context.Context, call agent.Call) map[string]string {
	return foresee(ctx, p.ToolBox, p.pin(call))
}

// Happened looks at the call with its pinned arguments.
func (p *pinned) Happened(ctx context.Context, call agent.Call, foreseen map[string]string) (agent.Result, bool) {
	return happened(ctx, p.ToolBox, p.pin(call), foreseen)
}

func foresee(ctx context.Context, box agent.ToolBox, call agent.Call) map[string]string {
	if f, ok := box.(agent.Foreseer); ok {
		return f.Foresee(ctx, call)
	}
	return nil
}

func happened(ctx context.Context, box agent.ToolBox, call agent.Call, foreseen map[string]string) (agent.Result, bool) {
	if f, ok := box.(agent.Foreseer); ok {
		return f.Happened(ctx, call, foreseen)
	}
	return agent.Result{}, false
}

// missing answers a name that nobody has.
func missing(specs []agent.ToolSpec) agent.Result {
	names := make([]string, len(specs))
	for i, t := range specs {
		names[i] = t.Name
	}
	return agent.Result{Outcome: agent.OutcomeInvalid, Text: fmt.Sprintf("there is no tool of this name; the tools are %v", names)}
}
