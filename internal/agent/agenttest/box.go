package agenttest

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/fairlead/fairlead/internal/agent"
)

// Box has the tools that the behaviours call: echo, block and ask_person_fairlead. It remembers its calls.
type Box struct {
	mu      sync.Mutex
	calls   []agent.Call
	checker *agent.Checker
}

var _ agent.ToolBox = (*Box)(nil)

// NewBox makes one.
func NewBox() *Box {
	b := &Box{}
	c, err := agent.NewChecker(b.Tools())
	if err != nil {
		panic(err) // the schemas below are constants
	}
	b.checker = c
	return b
}

// Tools lists the three.
func (b *Box) Tools() []agent.ToolSpec {
	return []agent.ToolSpec{
		{Name: "echo", Description: "Returns the text.", Effect: agent.EffectRead,
			Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)},
		{Name: "block", Description: "Blocks until it is cancelled.", Effect: agent.EffectOnce, Schema: json.RawMessage(`{"type":"object"}`)},
		{Name: "ask_person_fairlead", Description: "Asks a person.", Effect: agent.EffectIdempotent, Parks: true,
			Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)},
	}
}

// Call runs one.
func (b *Box) Call(ctx context.Context, call agent.Call) agent.Result {
	b.mu.Lock()
	b.calls = append(b.calls, call)
	b.mu.Unlock()
	if _, bad := b.checker.Check(call); bad != nil {
		return *bad
	}
	switch call.Name {
	case "block":
		<-ctx.Done()
		return agent.Result{Outcome: agent.OutcomeCancelled, Text: "cancelled"}
	case "ask_person_fairlead":
		return agent.Result{Outcome: agent.OutcomeParked, Text: "asked"}
	}
	var args struct{ Text string }
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return agent.Result{Outcome: agent.OutcomeError, Text: err.Error()}
	}
	return agent.Result{Outcome: agent.OutcomeOK, Text: args.Text}
}

// Calls returns the calls so far.
func (b *Box) Calls() []agent.Call {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]agent.Call(nil), b.calls...)
}
