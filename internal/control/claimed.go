package control

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/workflow"
)

// Claimed is a claimed run with everything its work needs, read in the transaction that claimed it.
type Claimed struct {
	Run        fairlead.Run // with its fence
	Task       fairlead.Task
	Assignment fairlead.Assignment
	Session    fairlead.Session
	Agent      fairlead.AgentProfile
	Seat       *fairlead.Seat // of a seat's assignment
	Workflow   *workflow.Definition
	Step       *workflow.Step

	// Wakes are the reasons of the run, the first one first.
	Wakes []fairlead.Wake
	// Records are what the session has to hear of, after Session.Delivered: what is addressed to it, the range of a turn
	// without an end included. Through is the number of the last record they speak for: the turn's range in flight.
	Records []fairlead.Record
	Through int64
	// Answers are the closed requests that Records tell of.
	Answers []fairlead.Request
	// Own are the session's own records after Session.Delivered (messages, effects, turns), of the turn without an end.
	Own []fairlead.Record
	// Interrupted says that the session's last turn was cut off: it neither ended nor failed by itself.
	Interrupted bool
	// Failed are the last records of the session whose failure a guest was woken for.
	Failed []fairlead.Record

	Children []store.Link
	Blockers []store.Link
	// Summary is the workspace as the agent of a coordination task sees it; nil for any other task.
	Summary *Summary
}

// guestContext bounds the records of a failed session that a guest gets to see.
const guestContext = 200

// claimedAgain loads what the worker needs of a run that this node has claimed already: the answer was lost.
func (w *work) claimedAgain(r *fairlead.Run, agent fairlead.AgentProfile) (*Claimed, error) {
	news, err := w.content(r)
	if err != nil {
		return nil, err
	}
	return w.claimed(r, agent, news)
}

// claimed loads what the worker needs. Nothing is written yet: what the claim changes of it is put in afterwards.
func (w *work) claimed(r *fairlead.Run, agent fairlead.AgentProfile, news *content) (k *Claimed, err error) {
	k = &Claimed{
		Run: *r, Task: w.task.row.Task, Agent: agent, Session: news.session, Records: news.addressed, Own: news.own,
		Through: w.task.row.RecordSeq, Interrupted: news.interrupted(),
	}
	if k.Assignment, err = w.tx.LoadAssignment(r.Assignment); err != nil {
		return nil, err
	}
	if k.Workflow, err = w.c.catalog.Definition(&w.tx.ReadTx, k.Task.Workspace, k.Task.Workflow, k.Task.WorkflowVersion); err != nil {
		return nil, err
	}
	k.Step = k.Workflow.Step(r.Step)
	for _, load := range []func(*Claimed) error{w.claimedSeat, w.claimedWakes, w.claimedAnswers, w.claimedEdges, w.claimedSummary} {
		if err := load(k); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (w *work) claimedSeat(k *Claimed) error {
	if k.Assignment.Seat == "" {
		return nil
	}
	seats, err := w.tx.ListSeats(k.Task.ID, k.Assignment.Visit)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(seats, func(s fairlead.Seat) bool { return s.ID == k.Assignment.Seat }); i >= 0 {
		k.Seat = &seats[i]
	}
	return nil
}

// claimedWakes loads the reasons, and for a guest the work of whoever failed.
func (w *work) claimedWakes(k *Claimed) (err error) {
	if k.Wakes, err = w.tx.ListWakes(k.Run.ID); err != nil {
		return err
	}
	if k.Assignment.Capacity != fairlead.CapacityGuest {
		return nil
	}
	for _, wake := range k.Wakes {
		failed, _ := wake.Payload["assignment"].(string)
		if failed == "" {
			continue
		}
		records, err := w.tx.ListRecordsFor(k.Task.ID, failed, 0)
		if err != nil {
			return err
		}
		k.Failed = records[max(0, len(records)-guestContext):]
	}
	return nil
}

func (w *work) claimedAnswers(k *Claimed) error {
	ids := map[string]bool{}
	for _, r := range k.Records {
		if r.Kind == fairlead.RecordRequestResolved {
			ids[resolvedOf(r.Data).Request] = true
		}
	}
	if len(ids) == 0 {
		return nil
	}
	all, err := w.tx.RequestsOf(k.Task.ID)
	if err != nil {
		return err
	}
	for _, q := range all {
		if ids[q.ID] && q.State != fairlead.RequestOpen {
			k.Answers = append(k.Answers, q)
		}
	}
	return nil
}

func (w *work) claimedEdges(k *Claimed) error {
	around, err := w.tx.Around(k.Task.Workspace, k.Task.ID, k.Task.Visit)
	if err != nil {
		return err
	}
	if around.Children {
		if k.Children, err = w.tx.ListChildren(k.Task.ID); err != nil {
			return err
		}
	}
	if around.Blockers {
		k.Blockers, err = w.tx.ListBlockers(k.Task.ID)
	}
	return err
}
