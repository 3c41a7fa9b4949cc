package control

import (
	"encoding/json"

	"github.com/fairlead/fairlead"
)

// requestOpened is the record of a request: all that its asker and its reader were told.
type requestOpened struct {
	Request string               `json:"request"`
	Kind    fairlead.RequestKind `json:"kind"`
	Prompt  string               `json:"prompt"`
	Schema  json.RawMessage      `json:"schema,omitempty"`
	Options []fairlead.Option    `json:"options,omitempty"`
	Payload map[string]any       `json:"payload,omitempty"`
	Blocks  fairlead.Blocks      `json:"blocks"`
	WhoMay  []string             `json:"who_may,omitempty"`
	AskedOf []string             `json:"asked_of,omitempty"`
	Seat    string               `json:"seat,omitempty"`
	Round   int                  `json:"round,omitempty"`
	// Voided names what the asker had declared in the same turn and what the question takes back.
	Voided []string `json:"voided,omitempty"`
}

// requestResolved is the record of a resolution, of whatever kind.
type requestResolved struct {
	Request string                `json:"request"`
	Kind    fairlead.RequestKind  `json:"kind"`
	State   fairlead.RequestState `json:"state"`
	Prompt  string                `json:"prompt,omitempty"` // an asker of several questions must know which was answered
	Answer  *fairlead.Answer      `json:"answer,omitempty"`
	Reason  string                `json:"reason,omitempty"`
}

// What a question takes back.
const (
	voidedCompletion = "completion"
	voidedMove       = "move"
)

// openRequest makes a request of the locked task. A request of an assignment and the mark that its asker will park
// commit together; what the asker declared in the same turn is void.
func (w *work) openRequest(q fairlead.Request) error {
	t := &w.task.row.Task
	q.Workspace, q.Task, q.State, q.OpenedAt = t.Workspace, t.ID, fairlead.RequestOpen, w.now
	if q.ID == "" {
		q.ID = w.id(fairlead.PrefixRequest)
	}
	if q.OpenedBy.Kind == "" {
		q.OpenedBy = w.meta.Actor
	}
	voided, err := w.parkAsker(q.Assignment)
	if err != nil {
		return err
	}
	q.Seq = w.record(fairlead.Record{
		Kind: fairlead.RecordRequestOpened, Assignment: q.Assignment, Visit: q.Visit, Run: q.Run, Actor: q.OpenedBy,
	}, requestOpened{
		Request: q.ID, Kind: q.Kind, Prompt: q.Prompt, Schema: q.Schema, Options: q.Options, Payload: q.Payload, Blocks: q.Blocks,
		WhoMay: q.WhoMay, AskedOf: q.AskedOf, Seat: q.Seat, Round: q.Round, Voided: voided,
	})
	if err := w.tx.InsertRequest(&q); err != nil {
		return err
	}
	w.changed()
	w.emit(requestEvent(fairlead.EventRequestOpened, &q, q.OpenedBy))
	return nil
}

// parkAsker marks the assignment that asks: its turn will end parked.
func (w *work) parkAsker(assignment string) (voided []string, err error) {
	if assignment == "" {
		return nil, nil
	}
	a, err := w.tx.LoadAssignment(assignment)
	if err != nil {
		return nil, err
	}
	if a.Signalled {
		voided = append(voided, voidedCompletion)
	}
	if a.OwnMove != nil {
		voided = append(voided, voidedMove)
	}
	t := &w.task.row.Task
	if a.Capacity == fairlead.CapacityPrimary && t.SignalVisit == a.Visit {
		t.SignalVisit = 0
	}
	a.ParkRequested, a.Signalled, a.OwnMove = true, false, nil
	return voided, w.saveAssignment(a)
}

// saveAssignment writes an assignment and whatever this command remembers of it.
func (w *work) saveAssignment(a fairlead.Assignment) error {
	if err := w.tx.SaveAssignment(&a); err != nil {
		return err
	}
	if _, ok := w.task.assignments[a.ID]; ok {
		w.task.assignments[a.ID] = a
	}
	w.changed()
	return nil
}

// closeRequest closes an open request without an answer, as a visit's end does. It fires no trigger and wakes nobody;
// a request that is closed already stays as it is.
func (w *work) closeRequest(id string, state fairlead.RequestState, reason string) error {
	q, err := w.tx.LoadRequest(id)
	if err != nil || q.State != fairlead.RequestOpen {
		return err
	}
	return w.settle(&q, state, nil, reason)
}

// resolveRequest is settle for a resolution with an answer.
func (w *work) resolveRequest(q *fairlead.Request, state fairlead.RequestState, answer *fairlead.Answer) error {
	return w.settle(q, state, answer, "")
}

// settle writes a resolution: the request, the record and the event. The first one wins; another is a conflict that
// names it.
func (w *work) settle(q *fairlead.Request, state fairlead.RequestState, answer *fairlead.Answer, reason string) error {
	if !fairlead.CanChange("request", string(q.State), string(state)) {
		return resolvedAlready(q)
	}
	by := w.meta.Actor
	q.State, q.Answer, q.ResolvedBy, q.ResolvedAt = state, answer, &by, w.now
	if err := w.tx.SaveRequest(q); err != nil {
		return err
	}
	if w.task != nil {
		w.record(fairlead.Record{
			Kind: fairlead.RecordRequestResolved, Assignment: q.Assignment, Visit: q.Visit, Run: q.Run,
		}, requestResolved{Request: q.ID, Kind: q.Kind, State: state, Prompt: q.Prompt, Answer: answer, Reason: reason})
		w.changed()
		w.look() // a run that the request held may be free
	}
	w.emit(requestEvent(fairlead.EventRequestResolved, q, by))
	return nil
}

func requestEvent(kind fairlead.EventKind, q *fairlead.Request, by fairlead.Actor) fairlead.Event {
	return fairlead.Event{
		Kind: kind, Workspace: q.Workspace, Task: q.Task, Visit: q.Visit, Run: q.Run, Actor: by, Version: q.Version,
		Data: marshal(map[string]any{"id": q.ID, "kind": q.Kind, "state": q.State, "blocks": q.Blocks, "assignment": q.Assignment}),
	}
}

// resolvedAlready is the conflict every resolution but the first one gets.
func resolvedAlready(q *fairlead.Request) error {
	winner := map[string]any{"state": q.State, "at": fairlead.StampOf(q.ResolvedAt)}
	if q.ResolvedBy != nil {
		winner["by"] = *q.ResolvedBy
	}
	if q.Answer != nil {
		winner["answer"] = *q.Answer
	}
	e := fairlead.Conflict(fairlead.ReasonResolved, "the request is %s already", q.State).
		WithHint("read the request: its answer stands")
	e.Data = map[string]any{"request": q.ID, "winner": winner}
	return e
}

// hasOpenQuestion reports whether an assignment waits for an answer: then it can neither complete nor move.
func (w *work) hasOpenQuestion(assignment string) (bool, error) {
	t := &w.task.row.Task
	if around, err := w.tx.Around(t.Workspace, t.ID, t.Visit); err != nil || !around.Requests {
		return false, err
	}
	open, err := w.tx.OpenRequests(t.ID)
	return openOf(open, assignment) > 0, err
}

func openOf(open []fairlead.Request, assignment string) (n int) {
	for i := range open {
		if open[i].Assignment == assignment && assignment != "" {
			n++
		}
	}
	return n
}
