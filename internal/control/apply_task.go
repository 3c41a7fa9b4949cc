package control

import (
	"slices"
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

func (w *work) holdTask(e engine.HoldTask) error {
	t := &w.task.row.Task
	if t.Held == e.Held {
		return nil
	}
	t.Held = e.Held
	kind := fairlead.RecordHeld
	if e.Held == "" {
		kind = fairlead.RecordReleased
		w.c.dispatch.WakeTx(w.tx)
	}
	w.record(fairlead.Record{Kind: kind}, map[string]any{"held": e.Held})
	w.emit(fairlead.Event{Kind: fairlead.EventTaskHeld, Task: t.ID, Visit: t.Visit, Data: marshal(map[string]any{"held": e.Held})})
	return nil
}

func (w *work) archived() error {
	t := &w.task.row.Task
	wasEnded := t.Ended()
	t.ArchivedAt = w.now
	w.record(fairlead.Record{Kind: fairlead.RecordArchived}, nil)
	w.emit(fairlead.Event{Kind: fairlead.EventTaskArchived, Task: t.ID, Visit: t.Visit})
	if !wasEnded {
		return w.tellOthers()
	}
	return nil
}

// setTask carries out the action "set". Labels keep their order; a label is there once.
func (w *work) setTask(e engine.SetTask) error {
	t, s := &w.task.row.Task, e.Set
	t.Labels = slices.DeleteFunc(slices.Clone(t.Labels), func(l string) bool { return slices.Contains(s.RemoveLabels, l) })
	for _, l := range s.AddLabels {
		if !slices.Contains(t.Labels, l) {
			t.Labels = append(t.Labels, l)
		}
	}
	if s.Priority != "" {
		t.Priority = s.Priority
	}
	if s.Agent != nil {
		t.Agent = *s.Agent
	}
	t.Metadata = merge(t.Metadata, s.Metadata)
	w.updated(map[string]any{"labels": listed(t.Labels), "priority": t.Priority, "agent": t.Agent, "metadata": t.Metadata}, fairlead.Engine())
	return nil
}

// listed is a list as records keep it: an empty one says that nothing is left, which null would not.
func listed(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// updated records a change of fields and tells the screens.
func (w *work) updated(fields map[string]any, by fairlead.Actor) {
	t := &w.task.row.Task
	w.record(fairlead.Record{Kind: fairlead.RecordUpdated, Actor: by}, fields)
	w.emit(fairlead.Event{Kind: fairlead.EventTaskUpdated, Task: t.ID, Visit: t.Visit, Actor: by})
}

// merge lays changes over a map key by key; a nil value removes its key. Neither argument is changed.
func merge(old, changes map[string]any) map[string]any {
	out := make(map[string]any, len(old)+len(changes))
	for k, v := range old {
		out[k] = v
	}
	for k, v := range changes {
		if v == nil {
			delete(out, k)
			continue
		}
		out[k] = v
	}
	return out
}

// pauseAgent pauses an agent for everybody. Its runs stay queued, held by agent_paused.
func (w *work) pauseAgent(e engine.PauseAgent) error {
	if err := w.tx.SetAgentPaused(w.meta.Workspace, e.Agent, true, e.Reason); err != nil {
		return err
	}
	if err := w.tx.BumpRevision(w.meta.Workspace); err != nil {
		return err
	}
	workspace := w.meta.Workspace
	w.tx.AfterCommit(func() { w.c.catalog.Forget(workspace) })
	w.emit(fairlead.Event{Kind: fairlead.EventAgentUpdated, Data: marshal(map[string]any{"agent": e.Agent, "paused": true, "reason": e.Reason})})
	return nil
}

// addNotice puts an item into the inbox.
func (w *work) addNotice(e engine.AddNotice) error {
	t := &w.task.row.Task
	if e.Once {
		seen, err := w.tx.HasNotice(t.ID, t.Visit, e.Kind)
		if err != nil || seen {
			return err
		}
	}
	n := fairlead.Notice{
		ID: w.id(fairlead.PrefixNotice), Workspace: t.Workspace, Task: t.ID, Visit: t.Visit, Kind: e.Kind, Text: e.Text, Data: e.Data, At: w.now,
	}
	if err := w.tx.InsertNotice(n); err != nil {
		return err
	}
	w.record(fairlead.Record{Kind: fairlead.RecordNotice, Actor: fairlead.Engine()}, map[string]any{"kind": e.Kind, "text": e.Text})
	w.emit(fairlead.Event{
		Kind: fairlead.EventNoticeAdded, Task: t.ID, Visit: t.Visit, Actor: fairlead.Engine(),
		Data: marshal(map[string]any{"id": n.ID, "kind": e.Kind, "text": e.Text}),
	})
	return nil
}

// sendNotify leaves a webhook to the notifier; its key is the operation, so that a receiver can drop a repeat.
func (w *work) sendNotify(e engine.Notify) error {
	t := &w.task.row.Task
	return w.tx.InsertOutbox(fairlead.Outbox{
		Workspace: t.Workspace, Task: t.ID, Op: fairlead.DerivedOp("notify", string(w.meta.Op), strconv.Itoa(w.nextSend())),
		Kind: fairlead.OutboxNotify, Payload: marshal(map[string]any{"url": e.URL, "text": e.Text, "task": t.Identifier}), CreatedAt: w.now,
	})
}

// nextSend numbers what a command sends, so that derived operation ids differ.
func (w *work) nextSend() int {
	w.sends++
	return w.sends
}

// tell notes that the task was told of the end of a blocker or a child; prompts and the journal show it.
func (w *work) tell(e engine.Tell) error {
	t := &w.task.row.Task
	if err := w.tx.InsertTold(t.ID, e.Kind, e.Task, e.Visit); err != nil {
		return err
	}
	kind := fairlead.RecordBlockerCleared
	if e.Kind == toldChild {
		kind = fairlead.RecordChildEnded
	}
	w.record(fairlead.Record{Kind: kind, Actor: fairlead.Engine()}, map[string]any{"task": e.Task, "visit": e.Visit, "outcome": e.Outcome})
	w.look() // a run that the blocker held may be free
	return nil
}
