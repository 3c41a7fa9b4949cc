package agent

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// Registry is the runtime made of all adapters: a launch goes to the adapter that the profile names, everything else
// to the adapter that knows the execution. It never changes after New.
type Registry struct{ adapters map[string]Runtime }

var _ Runtime = (*Registry)(nil)

// NewRegistry takes the adapters by name ("acp", "llm", "script"). No two of them share a spool, so that
// each execution is known to one.
func NewRegistry(adapters map[string]Runtime) *Registry {
	return &Registry{adapters: maps.Clone(adapters)}
}

// Names returns the names of the adapters, sorted.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.adapters)) }

// Get returns the adapter of a name.
func (r *Registry) Get(name string) (Runtime, bool) {
	a, ok := r.adapters[name]
	return a, ok
}

// Launch passes to the profile's adapter; an unknown one is a failure of class configuration. See [Runtime] for who
// may call it.
func (r *Registry) Launch(ctx context.Context, spec LaunchSpec) (ExecutionRef, error) {
	a, ok := r.adapters[spec.Profile.Adapter]
	if !ok {
		return ExecutionRef{}, &fairlead.Failure{Class: fairlead.ClassConfiguration,
			Message: "the agent's adapter is unknown; there are: " + strings.Join(r.Names(), ", ")}
	}
	return a.Launch(ctx, spec)
}

// Resume passes to the execution's adapter.
func (r *Registry) Resume(ctx context.Context, id ExecutionID, prompt Prompt) error {
	a, _, err := r.owner(ctx, id)
	if err != nil {
		return err
	}
	return a.Resume(ctx, id, prompt)
}

// Stop passes to the execution's adapter.
func (r *Registry) Stop(ctx context.Context, id ExecutionID, reason StopReason) error {
	a, _, err := r.owner(ctx, id)
	if err != nil {
		return err
	}
	return a.Stop(ctx, id, reason)
}

// SetMCPMode passes to the execution's adapter.
func (r *Registry) SetMCPMode(ctx context.Context, id ExecutionID, mode MCPMode) error {
	a, _, err := r.owner(ctx, id)
	if err != nil {
		return err
	}
	return a.SetMCPMode(ctx, id, mode)
}

// GetExecution asks the adapters in turn.
func (r *Registry) GetExecution(ctx context.Context, id ExecutionID) (Execution, error) {
	_, x, err := r.owner(ctx, id)
	return x, err
}

// SubscribeEvents passes to the execution's adapter.
func (r *Registry) SubscribeEvents(ctx context.Context, id ExecutionID, after Cursor) (<-chan Event, error) {
	a, _, err := r.owner(ctx, id)
	if err != nil {
		return nil, err
	}
	return a.SubscribeEvents(ctx, id, after)
}

// owner finds the adapter that knows an execution.
func (r *Registry) owner(ctx context.Context, id ExecutionID) (Runtime, Execution, error) {
	for _, name := range r.Names() {
		x, err := r.adapters[name].GetExecution(ctx, id)
		if err == nil {
			return r.adapters[name], x, nil
		}
		if !fairlead.IsCode(err, fairlead.CodeNotFound) {
			return nil, Execution{}, err
		}
	}
	return nil, Execution{}, unknownExecution()
}
