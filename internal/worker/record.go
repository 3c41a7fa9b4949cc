package worker

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/control"
)

// recordedTools puts every call on record before it runs, and its outcome as soon as it is there: what an effect was is
// known even if nothing after it is.
type recordedTools struct {
	agent.ToolBox
	d *drive

	mu      sync.Mutex
	told    map[string]bool         // calls on record, so that the agent's own events do not tell them again
	settled map[string]agent.Result // outcomes on record of a turn that was cut off
}

func record(box agent.ToolBox, d *drive) *recordedTools {
	return &recordedTools{ToolBox: box, d: d, told: make(map[string]bool), settled: settled(current(d.c))}
}

// settled reads the outcomes of calls from a session's records. A call that was cancelled has none: it may run again.
func settled(own []fairlead.Record) map[string]agent.Result {
	found := make(map[string]agent.Result)
	for _, rec := range own {
		var o struct {
			Call    string            `json:"call"`
			Outcome agent.Outcome     `json:"outcome"`
			Output  string            `json:"output"`
			Facts   map[string]string `json:"facts"`
			Paths   []string          `json:"paths"`
		}
		if rec.Kind != fairlead.RecordEffectOutcome || json.Unmarshal(rec.Data, &o) != nil || o.Call == "" {
			continue
		}
		if o.Outcome != "" && o.Outcome != agent.OutcomeCancelled && o.Outcome != agent.OutcomeNotRun {
			found[o.Call] = agent.Result{Outcome: o.Outcome, Text: o.Output, Facts: o.Facts, Paths: o.Paths}
		}
	}
	return found
}

// Call records, runs, records. A run that was told to stop calls nothing more. A call whose outcome is on record did run:
// its agent asks again because it was cut off before it heard, and gets that very outcome.
func (r *recordedTools) Call(ctx context.Context, call agent.Call) agent.Result {
	r.mu.Lock()
	r.told[call.ID] = true
	known, ran := r.settled[call.ID]
	r.mu.Unlock()
	if ran {
		return known
	}
	spec, _ := agent.FindTool(r.ToolBox, call.Name)
	intent := map[string]any{"call": call.ID, "tool": call.Name, "input": call.Args, "effect": agent.EffectOf(spec, call)}
	if r.d.report(control.Report{Facts: []control.Fact{
		entry(fairlead.RecordEffectIntent, intent), {Event: &control.Line{Kind: fairlead.RunEventTool, Data: map[string]any{"call": call.ID, "tool": call.Name}}},
	}}) == control.StopTree {
		return agent.Result{Outcome: agent.OutcomeCancelled, Text: "the run was told to stop"}
	}
	ctx, done := r.d.toolSpan(ctx, call)
	result := r.ToolBox.Call(ctx, call)
	done(result)
	r.d.report(control.Report{Facts: []control.Fact{entry(fairlead.RecordEffectOutcome, map[string]any{
		"call": call.ID, "tool": call.Name, "outcome": result.Outcome, "output": result.Text, "paths": result.Paths, "facts": result.Facts,
	})}})
	return result
}

func (r *recordedTools) knows(call string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told[call]
}

// ours reports whether a tool is one of those that are recorded here.
func (r *recordedTools) ours(tool string) bool {
	_, ok := agent.FindTool(r.ToolBox, tool)
	return ok
}

// entry makes a fact of a journal record.
func entry(kind string, data any) control.Fact {
	b, err := json.Marshal(data)
	if err != nil {
		b = json.RawMessage("{}") // plain values always marshal
	}
	return control.Fact{Record: &control.Entry{Kind: kind, Data: b}}
}

var _ agent.Foreseer = (*recordedTools)(nil)

// Foresee passes to the tools inside, if they can tell.
func (r *recordedTools) Foresee(ctx context.Context, call agent.Call) map[string]string {
	if f, ok := r.ToolBox.(agent.Foreseer); ok {
		return f.Foresee(ctx, call)
	}
	return nil
}

// Happened passes to the tools inside, if they can tell.
func (r *recordedTools) Happened(ctx context.Context, call agent.Call, foreseen map[string]string) (agent.Result, bool) {
	if f, ok := r.ToolBox.(agent.Foreseer); ok {
		return f.Happened(ctx, call, foreseen)
	}
	return agent.Result{}, false
}
