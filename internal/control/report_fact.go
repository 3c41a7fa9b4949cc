package control

import (
	"bytes"
	"encoding/json"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/store"
)

// afterStop reports whether the fact counts although its run was told to stop: usage and transcript do.
func (f *Fact) afterStop() bool {
	return f.Event != nil || f.Left != nil || f.Record != nil && f.Record.Kind != fairlead.RecordProgramMove
}

func (f *Fact) name() string {
	switch {
	case f.Turn != nil:
		return "turn"
	case f.Execution != "":
		return "execution"
	case f.External != "":
		return "external"
	case f.Record != nil:
		return f.Record.Kind
	case f.Event != nil:
		return f.Event.Kind
	case f.Tree != nil:
		return "tree"
	case f.Left != nil:
		return "left"
	}
	return "none"
}

// fact writes one fact.
func (w *work) fact(r *fairlead.Run, f *Fact) error {
	switch {
	case f.Turn != nil:
		return w.turnStarted(r, *f.Turn)
	case f.Execution != "":
		return w.executionStarted(r, f.Execution)
	case f.External != "":
		s, err := w.tx.LoadSession(r.Session)
		if err != nil {
			return err
		}
		s.External = f.External
		return w.tx.SaveSession(&s)
	case f.Record != nil:
		return w.entry(r, f.Record)
	case f.Event != nil:
		return w.runEvent(r, f.Event.Kind, f.Event.Data)
	case f.Tree != nil:
		return w.treeReady()
	case f.Left != nil:
		return w.treeLeft(r, *f.Left)
	}
	return fairlead.Errorf(fairlead.CodeInvalid, "a fact without content")
}

// turnStarted marks the range in flight and fires turn_start, which may carry the turn into another visit.
func (w *work) turnStarted(r *fairlead.Run, t TurnStarted) error {
	if r.Status != fairlead.RunClaimed {
		return fairlead.Conflict(fairlead.ReasonExists, "the run's turn has started already")
	}
	s, err := w.tx.LoadSession(r.Session)
	if err != nil {
		return err
	}
	if t.Through < s.Delivered || t.Through > w.task.row.RecordSeq {
		return fairlead.Errorf(fairlead.CodeInvalid, "the range in flight is not one of this journal")
	}
	s.InFlight, s.State = t.Through, fairlead.SessionRunning
	s.Turns++
	if err := w.tx.SaveSession(&s); err != nil {
		return err
	}
	r.Status, r.StartedAt = fairlead.RunRunning, w.now
	if err := w.tx.SaveRun(r); err != nil {
		return err
	}
	w.forget()
	data, err := w.shorten(marshal(map[string]any{
		"through": t.Through, "turn": s.Turns, "fence": r.Fence.Number, "execution": s.Execution, "prompt": t.Prompt,
	}))
	if err != nil {
		return err
	}
	w.runRecord(r, fairlead.RecordTurnStarted, data)
	if err := w.runEvent(r, fairlead.RunEventStarted, map[string]any{"turn": s.Turns}); err != nil {
		return err
	}
	if err := w.fire(r, engine.Trigger{Kind: fairlead.TriggerTurnStart, Payload: w.turnPayload(r)}); err != nil {
		return err
	}
	*r, err = w.tx.LoadRun(r.ID)
	w.meta.Actor.Assignment = r.Assignment
	return err
}

// turnPayload holds what both triggers of a turn carry.
func (w *work) turnPayload(r *fairlead.Run) map[string]any {
	return map[string]any{"run": r.ID, "assignment": r.Assignment, "agent": r.Agent}
}

func (w *work) executionStarted(r *fairlead.Run, id string) error {
	s, err := w.tx.LoadSession(r.Session)
	if err != nil {
		return err
	}
	state := executionStarting
	if s.State == fairlead.SessionRunning {
		state = executionRunning
	}
	if s.Execution != "" && s.Execution != id {
		if err := w.tx.EndExecution(s.Execution, executionExited, w.now); err != nil {
			return err
		}
	}
	if s.Execution != id {
		err := w.tx.InsertExecution(&store.Execution{ID: id, Session: s.ID, Node: r.Node, State: state, StartedAt: w.now})
		if err != nil {
			return err
		}
	}
	s.Execution = id
	return w.tx.SaveSession(&s)
}

// entry writes a record of the assignment's journal.
func (w *work) entry(r *fairlead.Run, e *Entry) error {
	switch e.Kind {
	case fairlead.RecordMessage, fairlead.RecordEffectIntent, fairlead.RecordEffectOutcome, fairlead.RecordUsage, fairlead.RecordProgramMove:
	default:
		return fairlead.Errorf(fairlead.CodeInvalid, "a worker does not write records of this kind")
	}
	if !json.Valid(e.Data) || !bytes.HasPrefix(bytes.TrimSpace(e.Data), []byte("{")) {
		return fairlead.Errorf(fairlead.CodeInvalid, "the data of a record is not a JSON object")
	}
	data, err := w.shorten(e.Data)
	if err != nil {
		return err
	}
	w.runRecord(r, e.Kind, data)
	if e.Kind != fairlead.RecordUsage {
		return nil
	}
	if err := w.runEvent(r, fairlead.RunEventUsage, nil); err != nil {
		return err
	}
	return w.used(r, e.Data)
}

// runRecord adds a record of what a run's agent did.
func (w *work) runRecord(r *fairlead.Run, kind string, data any) {
	actor := fairlead.Actor{Kind: fairlead.ActorAgent, Key: r.Agent, Assignment: r.Assignment, Run: r.ID}
	w.record(fairlead.Record{Kind: kind, Assignment: r.Assignment, Visit: r.Visit, Run: r.ID, Actor: actor}, data)
}
