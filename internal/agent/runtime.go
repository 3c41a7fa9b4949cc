package agent

import "context"

// Runtime starts, prompts, watches and stops agents. All methods may be called from several goroutines. Errors are
// *fairlead.Error (wrong use: not_found, conflict, invalid) or *fairlead.Failure (the agent could not be started, with
// the class that decides about a retry).
type Runtime interface {
	// Launch starts an execution and gives it its first prompt. It returns when the execution exists and its first
	// event is in the spool; the turn goes on behind it. ctx bounds the start, not the turn.
	//
	// Launch has exactly two callers: the worker that carries out a claimed run, and the direct launch of a person
	// ("task start", a message to an idle agent), which claims in the same call. Nothing else may call it: a turn that
	// no claim stands behind could run twice.
	Launch(ctx context.Context, spec LaunchSpec) (ExecutionRef, error)

	// Resume gives an idle execution its next prompt in the same session. It returns when the prompt is recorded. An
	// execution that has exited is a conflict: launch again with its session.
	Resume(ctx context.Context, id ExecutionID, prompt Prompt) error

	// Stop ends an execution in whatever state it is and returns when its process tree is dead; an open turn ends
	// cancelled. Stopping what has exited is no error. Cancelling ctx shortens the polite part, never the death. Stop
	// waits for no subscriber.
	Stop(ctx context.Context, id ExecutionID, reason StopReason) error

	// SetMCPMode changes how the next prompt offers MCP tools. An agent that has taken its servers at the start keeps
	// the old mode until the next launch.
	SetMCPMode(ctx context.Context, id ExecutionID, mode MCPMode) error

	// GetExecution returns what is known of an execution, living or not, as long as its spool is kept.
	GetExecution(ctx context.Context, id ExecutionID) (Execution, error)

	// SubscribeEvents streams the events after a cursor, in order, each once. Cursor 0 is the beginning. The channel is
	// closed after the exited event, or when ctx ends.
	SubscribeEvents(ctx context.Context, id ExecutionID, after Cursor) (<-chan Event, error)
}

// ExecutionID names one live agent process or model loop, and its spool afterwards. The caller chooses it (letters,
// digits, "_" and "-"), so that it is on record before the launch; it is also the marker of the process tree.
type ExecutionID string

// ExecutionRef is what a launch returns. Session is empty as long as the agent has not named it (see [EventStarted]).
type ExecutionRef struct {
	ID      ExecutionID
	Session string
	Cursor  Cursor // position of the last event written when Launch returned
}

// Cursor is a place in the events of one execution: the number of the last event seen; 0 is before the first.
type Cursor int64

// StopReason says why an execution is stopped. It stands on the exited event and decides nothing by itself.
type StopReason string

// The reasons of Stop.
const (
	StopPerson     StopReason = "person"     // a person cancelled or archived
	StopSuperseded StopReason = "superseded" // the visit ended under it
	StopTimeout    StopReason = "timeout"    // no sign of life, or a deadline of the caller
	StopBudget     StopReason = "budget"     // a budget is used up
	StopFenced     StopReason = "fenced"     // another node has taken the work over
	StopShutdown   StopReason = "shutdown"   // the server goes down
	StopFinished   StopReason = "finished"   // the work is done, the execution is no longer needed
)

// MCPMode says which MCP tools a prompt offers.
type MCPMode string

// The modes.
const (
	MCPFull MCPMode = "full" // everything of the launch
	MCPRead MCPMode = "read" // only tools of the class read
	MCPOff  MCPMode = "off"  // none
)
