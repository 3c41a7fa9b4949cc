package control

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

func (w *work) endVisit(e engine.EndVisit) error {
	t := &w.task.row.Task
	if err := w.tx.EndVisit(t.ID, e.N, w.now); err != nil {
		return err
	}
	if err := w.endBeat(); err != nil {
		return err
	}
	w.record(fairlead.Record{Kind: fairlead.RecordVisitEnded, Visit: e.N, Actor: e.By}, map[string]any{"visit": e.N, "reason": e.Reason})
	w.emit(fairlead.Event{Kind: fairlead.EventVisitEnded, Task: t.ID, Visit: e.N, Actor: e.By})
	if err := w.endVisitRuns(e.N, e.By, e.Reason, e.KeepRun, e.Carry); err != nil {
		return err
	}
	return w.tx.EndAssignments(t.ID, e.N)
}

// beginVisit puts the task where the plan says. A card moved without a place goes last: the time is its position.
func (w *work) beginVisit(e engine.BeginVisit) error {
	t, v := &w.task.row.Task, e.Visit
	wasEnded := t.Ended()
	t.Workflow, t.WorkflowVersion, t.Step = v.Workflow, v.WorkflowVersion, v.Step
	t.Visit, t.Round, t.Terminal, t.MovedAt = v.N, v.Round, e.Terminal, w.now
	t.Position = float64(w.now.UnixMicro())
	if v.By.Kind == fairlead.ActorPerson {
		t.PersonVisit = v.N
	}
	v.Task, v.BeganAt = t.ID, w.now
	if err := w.tx.InsertVisit(v); err != nil {
		return err
	}
	w.record(fairlead.Record{Kind: fairlead.RecordMoved, Actor: v.By}, movedData{
		From: v.From, To: v.Step, Workflow: v.Workflow, Version: v.WorkflowVersion, Reason: v.Reason, Note: v.Note, Terminal: e.Terminal,
	})
	w.emit(fairlead.Event{
		Kind: fairlead.EventTaskMoved, Task: t.ID, Visit: v.N, Actor: v.By,
		Data: marshal(map[string]any{"from": v.From, "to": v.Step, "workflow": v.Workflow, "reason": v.Reason}),
	})
	w.emit(fairlead.Event{Kind: fairlead.EventVisitBegan, Task: t.ID, Visit: v.N, Actor: v.By})
	if err := w.beginBeat(); err != nil {
		return err
	}
	if wasEnded != t.Ended() {
		return w.tellOthers()
	}
	return nil
}

// movedData is the record of a move; the first one of a task has no From.
type movedData struct {
	From     string            `json:"from,omitempty"`
	To       string            `json:"to"`
	Workflow string            `json:"workflow"`
	Version  int               `json:"version"`
	Reason   string            `json:"reason,omitempty"`
	Note     string            `json:"note,omitempty"`
	Terminal fairlead.Terminal `json:"terminal,omitempty"`
}

func (w *work) openRound(e engine.OpenRound) error {
	t := &w.task.row.Task
	t.Round = e.Round
	if err := w.tx.SetVisitRound(t.ID, t.Visit, e.Round); err != nil {
		return err
	}
	w.record(fairlead.Record{Kind: fairlead.RecordRoundOpened}, map[string]any{"round": e.Round})
	w.emit(fairlead.Event{Kind: fairlead.EventRoundOpened, Task: t.ID, Visit: t.Visit, Data: marshal(map[string]any{"round": e.Round})})
	return nil
}

func (w *work) addSeat(e engine.AddSeat) error {
	if err := w.tx.InsertSeat(e.Seat); err != nil {
		return err
	}
	w.record(fairlead.Record{Kind: fairlead.RecordSeatAdded}, seatData(e.Seat))
	return nil
}

func seatData(s fairlead.Seat) map[string]any {
	return map[string]any{"seat": s.ID, "role": s.Role, "holder": s.Holder(), "decision_required": s.DecisionRequired}
}

func (w *work) removeSeat(e engine.RemoveSeat) error {
	if err := w.tx.RemoveSeat(e.Seat, w.now); err != nil {
		return err
	}
	w.record(fairlead.Record{Kind: fairlead.RecordSeatRemoved}, map[string]any{"seat": e.Seat})
	assignments, err := w.tx.ListAssignments(w.task.row.ID, w.task.row.Visit)
	if err != nil {
		return err
	}
	for i := range assignments {
		a := &assignments[i]
		if a.Seat != e.Seat || a.State == fairlead.AssignmentEnded {
			continue
		}
		a.State = fairlead.AssignmentEnded
		if err := w.tx.SaveAssignment(a); err != nil {
			return err
		}
		if err := w.endAssignmentRuns(a.ID, "seat removed"); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) repinned(e engine.Repinned) error {
	t := &w.task.row.Task
	wasEnded := t.Ended()
	t.WorkflowVersion, t.Terminal = e.Version, e.Terminal
	if err := w.tx.SetVisitVersion(t.ID, t.Visit, e.Version); err != nil {
		return err
	}
	if err := w.renewBeat(); err != nil {
		return err
	}
	w.record(fairlead.Record{Kind: fairlead.RecordRepinned}, map[string]any{"version": e.Version, "terminal": e.Terminal})
	w.emit(fairlead.Event{Kind: fairlead.EventTaskUpdated, Task: t.ID, Visit: t.Visit})
	if wasEnded != t.Ended() {
		return w.tellOthers()
	}
	return nil
}

// newAssignment makes an assignment in the session that this agent has for the task in that capacity.
func (w *work) newAssignment(e engine.NewAssignment) error {
	a := e.Assignment
	a.Workspace, a.CreatedAt, a.Version = w.meta.Workspace, w.now, 1
	session, err := w.tx.EnsureSession(fairlead.Session{
		ID: w.id(fairlead.PrefixSession), Task: a.Task, Agent: a.Agent, Capacity: a.Capacity, State: fairlead.SessionIdle, CreatedAt: w.now,
	})
	if err != nil {
		return err
	}
	a.Session = session.ID
	if err := w.tx.InsertAssignment(a); err != nil {
		return err
	}
	if w.task.assignments == nil {
		w.task.assignments = make(map[string]fairlead.Assignment)
	}
	w.task.assignments[a.ID] = a
	return nil
}

// wakeAssignment finds the assignment a wake is for and hands it to the queue.
func (w *work) wakeAssignment(e engine.Wake) error {
	a, ok := w.task.assignments[e.Assignment]
	if !ok {
		all, err := w.tx.ListAssignments(w.task.row.ID, w.task.row.Visit)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(a fairlead.Assignment) bool { return a.ID == e.Assignment })
		if i < 0 {
			return fairlead.Errorf(fairlead.CodeInternal, "a wake names no assignment of this visit")
		}
		a = all[i]
	}
	return w.wake(a, e)
}

func (w *work) deferTrigger(e engine.DeferTrigger) error {
	t := &w.task.row.Task
	seq := w.record(fairlead.Record{Kind: fairlead.RecordDeferred, Actor: e.Trigger.Actor}, map[string]any{"trigger": e.Trigger.Kind, "op": e.Trigger.Op})
	if err := w.tx.InsertDeferred(t.ID, seq, t.Visit, marshal(e.Trigger)); err != nil {
		return err
	}
	w.emit(fairlead.Event{Kind: fairlead.EventTaskDeferred, Task: t.ID, Visit: t.Visit, Data: marshal(map[string]any{"trigger": e.Trigger.Kind})})
	return nil
}

func (w *work) dropDeferred(e engine.DropDeferred) error {
	t := &w.task.row.Task
	w.record(fairlead.Record{Kind: fairlead.RecordSuperseded}, map[string]any{"deferred": e.Seq, "outcome": e.Outcome})
	return w.tx.DeleteDeferred(t.ID, e.Seq)
}
