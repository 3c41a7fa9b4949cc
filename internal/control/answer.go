package control

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/engine"
)

// Answer resolves a request, once: the first valid resolution wins, every other one is a conflict (reason resolved)
// whose Data names the winner. What follows happens in the same transaction: the trigger, what was put aside behind the
// request, and the wake of whoever asked.
func (c *Control) Answer(ctx context.Context, m Meta, id string, body fairlead.AnswerBody) (fairlead.RequestView, error) {
	cmd := command{name: "answer request", run: m.Actor.Run, body: struct {
		Request string
		Answer  fairlead.Answer
	}{id, body.Answer}}
	if m.Op == "" {
		m.Op = body.Op
	}
	// What a request is about never changes, so it can be looked up before the lock.
	err := c.db.Read(ctx, func(tx *storeReadTx) error {
		q, err := read.Request(tx, m.Workspace, id)
		if err == nil {
			cmd.task = q.Task
		}
		return err
	})
	if err != nil {
		return fairlead.RequestView{}, c.refused(ctx, m, cmd, err)
	}
	return do(ctx, c, m, cmd, func(w *work) (fairlead.RequestView, error) {
		q, err := read.Request(&w.tx.ReadTx, m.Workspace, id)
		if err != nil {
			return fairlead.RequestView{}, err
		}
		if q, err = w.answer(q, body.Answer); err != nil {
			return fairlead.RequestView{}, err
		}
		return read.RequestView(&w.tx.ReadTx, q)
	})
}

// answer checks who answers, whether it is still open, and what is said; then it resolves.
func (w *work) answer(q fairlead.Request, a fairlead.Answer) (fairlead.Request, error) {
	if err := w.mayResolve(&q); err != nil {
		return q, err
	}
	if q.State != fairlead.RequestOpen {
		return q, resolvedAlready(&q)
	}
	if w.meta.IfVersion != 0 && w.meta.IfVersion != q.Version {
		return q, fairlead.Errorf(fairlead.CodeStale, "the request has changed").WithHint("read it again")
	}
	if q.Visit != 0 && w.task != nil && q.Visit != w.task.row.Visit {
		return q, fairlead.Conflict(fairlead.ReasonVisitEnded, "the visit that asked is over").WithHint("read the task again")
	}
	a, err := checkAnswer(&q, a)
	if err != nil {
		return q, err
	}
	state := fairlead.RequestAnswered
	if a.Decline {
		state = fairlead.RequestDeclined
	}
	return w.resolve(q, state, &a, "")
}

// mayResolve refuses everybody but those the request names. Whoever asked never may; an agent never grants what only
// people answer for.
func (w *work) mayResolve(q *fairlead.Request) error {
	by := w.meta.Actor
	no := fairlead.Errorf(fairlead.CodeForbidden, "this request is not yours to answer")
	if !q.MayResolve(by) {
		return no.WithHint("ask one of those it names")
	}
	if by.Kind == fairlead.ActorAgent {
		switch q.Kind {
		case fairlead.RequestBudget, fairlead.RequestBudgetGate, fairlead.RequestPermission, fairlead.RequestConfirmEffect, fairlead.RequestSecret:
			return no.WithHint("only people answer requests of this kind")
		}
		if q.OpenedBy.Kind == fairlead.ActorAgent && q.OpenedBy.Key == by.Key {
			return no.WithHint("whoever asks cannot decide")
		}
		return w.fenced()
	}
	f, err := w.facts()
	if err != nil {
		return err
	}
	if !f.People[by.Key] {
		return no.WithHint("only people of this workspace may answer")
	}
	return nil
}

// resolve closes an open request for good and carries out what follows from it. reason says by which way, "" for the
// usual one.
func (w *work) resolve(q fairlead.Request, state fairlead.RequestState, a *fairlead.Answer, reason string) (fairlead.Request, error) {
	if q.Kind == fairlead.RequestDecision && state == fairlead.RequestAnswered {
		if err := w.decisionAnswered(&q, a); err != nil {
			return q, err
		}
		return w.tx.LoadRequest(q.ID)
	}
	if q.Kind == fairlead.RequestBudget && state == fairlead.RequestAnswered {
		if err := w.budgetAnswered(&q, a); err != nil {
			return q, err
		}
	}
	if err := w.settle(&q, state, a, reason); err != nil || w.task == nil {
		return q, err
	}
	if _, err := w.decide(resolutionTrigger(&q)); err != nil {
		return q, err
	}
	return q, w.wakeAsker(&q)
}

// decisionAnswered records the verdict that a person gave by answering: the same decision as by any other door, which
// closes the request. A mere comment closes nothing: the seat is still asked.
func (w *work) decisionAnswered(q *fairlead.Request, a *fairlead.Answer) error {
	verdict, err := fairlead.ParseVerdict(a.Verdict)
	if err != nil {
		return err
	}
	seats, err := w.tx.ListSeats(q.Task, q.Visit)
	if err != nil {
		return err
	}
	for _, s := range seats {
		if s.ID == q.Seat && s.RemovedAt.IsZero() {
			_, _, err := w.decideOn(s, verdict, a.Note)
			return err
		}
	}
	return fairlead.Conflict(fairlead.ReasonVisitEnded, "the seat that was asked is gone").WithHint("read the task again")
}

// resolutionTrigger is what the workflow hears of a resolution.
func resolutionTrigger(q *fairlead.Request) engine.Trigger {
	t := engine.Trigger{Kind: fairlead.TriggerRequestResolved, Request: q, Payload: map[string]any{"request": q.ID}}
	if q.Kind == fairlead.RequestApproval {
		t.Kind = fairlead.TriggerApprovalResolved
		t.Payload["verdict"] = approvalVerdict(q)
	} else {
		t.Payload["outcome"] = string(q.State)
	}
	if q.Answer != nil && q.Answer.Text != "" {
		t.Payload["text"] = q.Answer.Text
	}
	return t
}

// approvalVerdict is approved, rejected or revise, else how the request ended: declined, expired or withdrawn.
func approvalVerdict(q *fairlead.Request) string {
	if q.State != fairlead.RequestAnswered || q.Answer == nil {
		return string(q.State)
	}
	switch q.Answer.Verdict {
	case verdictApprove:
		return string(fairlead.VerdictApproved)
	case verdictReject:
		return string(fairlead.VerdictRejected)
	}
	return q.Answer.Verdict
}

// wakeAsker brings a resolution to the assignment that asked. While other questions of it are open it stays parked; if
// its turn has not ended yet, the wake waits in the queue: an assignment has one live run at most.
func (w *work) wakeAsker(q *fairlead.Request) error {
	if q.Assignment == "" {
		return nil
	}
	a, err := w.tx.LoadAssignment(q.Assignment)
	if err != nil || a.State == fairlead.AssignmentEnded {
		return err
	}
	if over, err := w.gaveUp(q, a); over || err != nil {
		return err
	}
	more, err := w.hasOpenQuestion(a.ID)
	if err != nil || more {
		return err
	}
	if a.State == fairlead.AssignmentParked {
		a.State = fairlead.AssignmentOpen
		if err := w.saveAssignment(a); err != nil {
			return err
		}
		if a, err = w.tx.LoadAssignment(a.ID); err != nil {
			return err
		}
	}
	w.changed()
	return w.wake(a, engine.Wake{
		Assignment: a.ID, Agent: a.Agent, Reason: reasonAnswer, Payload: answerPayload(q), By: w.meta.Actor,
	})
}

// answerPayload is what the wake of an answer carries: the resolution with its text, also of a decline.
func answerPayload(q *fairlead.Request) map[string]any {
	p := map[string]any{"request": q.ID, "kind": string(q.Kind), "outcome": string(q.State)}
	a := q.Answer
	if a == nil {
		return p
	}
	for k, v := range map[string]string{"text": a.Text, "option": a.Option, "verdict": a.Verdict, "note": a.Note} {
		if v != "" {
			p[k] = v
		}
	}
	if len(a.Values) > 0 {
		p["values"] = a.Values
	}
	return p
}
