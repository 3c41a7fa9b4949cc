package policy

import "github.com/fairlead/fairlead"

// StateFacts is what a task's shown state is derived from.
type StateFacts struct {
	Terminal fairlead.Terminal // of the step it stands at
	Archived bool
	Asks     bool // an open request asks a person
	Running  bool // a run of it is live
	Dead     bool // the primary's newest run is dead and no wake came later
	Paused   bool // the agent it waits for is paused, or the task is held "loop"
	Queued   bool // a queued run that nothing holds
	Waiting  bool // a held run, a parked assignment, an open blocker, or a turn without the signal its step wants
}

// DeriveState returns the first state that holds, in the order of the API's contract.
func DeriveState(f StateFacts) fairlead.State {
	switch {
	case f.Terminal == fairlead.TerminalDone:
		return fairlead.StateDone
	case f.Terminal == fairlead.TerminalCancelled, f.Archived:
		return fairlead.StateCancelled
	case f.Asks:
		return fairlead.StateNeedsYou
	case f.Running:
		return fairlead.StateRunning
	case f.Dead:
		return fairlead.StateFailed
	case f.Paused:
		return fairlead.StatePaused
	case f.Queued:
		return fairlead.StateQueued
	case f.Waiting:
		return fairlead.StateWaiting
	}
	return fairlead.StateTodo
}
