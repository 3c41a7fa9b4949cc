package control

import (
	"maps"

	"github.com/fairlead/fairlead"
)

// runEventKind gives the kinds of a run's log that have one of their own in the event log; all others are
// run.event_appended.
func runEventKind(kind string) fairlead.EventKind {
	switch kind {
	case fairlead.RunEventQueued:
		return fairlead.EventRunQueued
	case fairlead.RunEventClaimed:
		return fairlead.EventRunClaimed
	case fairlead.RunEventStarted:
		return fairlead.EventRunStarted
	case fairlead.RunEventEnded:
		return fairlead.EventRunProcessed
	}
	return fairlead.EventRunEventAppended
}

// runEvent adds a line to a run's log and tells the screens. The run's row must be there.
func (w *work) runEvent(r *fairlead.Run, kind string, data map[string]any) error {
	seq, err := w.tx.AppendRunEvent(r.ID, kind, data)
	if err != nil {
		return err
	}
	shown := maps.Clone(data)
	if shown == nil {
		shown = map[string]any{}
	}
	shown["seq"], shown["kind"], shown["status"] = seq, kind, r.Status
	w.emit(fairlead.Event{Kind: runEventKind(kind), Task: r.Task, Visit: r.Visit, Run: r.ID, Version: r.Version, Data: marshal(shown)})
	return nil
}
