package control

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

// Decide records the verdict of the seat the actor holds, and weighs the step's guards at once.
func (c *Control) Decide(ctx context.Context, m Meta, ref string, body fairlead.DecisionBody) (fairlead.Outcome, error) {
	return onTask(ctx, c, m, "record decision", ref, body, func(w *work) (fairlead.Outcome, error) {
		verdict, err := fairlead.ParseVerdict(body.Verdict)
		if err != nil {
			return fairlead.Outcome{}, err
		}
		if err := w.mayTouch(); err != nil {
			return fairlead.Outcome{}, err
		}
		if err := w.inRound(body.Visit, body.Round); err != nil {
			return fairlead.Outcome{}, err
		}
		s, err := w.load()
		if err != nil {
			return fairlead.Outcome{}, err
		}
		seat, refusal := engine.SeatOf(*s, m.Actor, body.Role)
		if refusal != nil {
			return fairlead.Outcome{}, refusal
		}
		plan, d, err := w.decideOn(seat, verdict, body.Note)
		if err != nil {
			return fairlead.Outcome{}, err
		}
		out, err := w.finish(plan)
		out.Decision = d.ID
		return out, err
	})
}

// inRound refuses a verdict on an earlier visit or a closed round; zero means the current ones.
func (w *work) inRound(visit, round int) error {
	if err := w.expect(visit); err != nil {
		return err
	}
	if round != 0 && round != w.task.row.Round {
		e := fairlead.Conflict(fairlead.ReasonRoundClosed, "round %d is closed", round)
		e.Data = map[string]any{"round": w.task.row.Round}
		return e.WithHint("look at the task again and decide in the current round")
	}
	return nil
}

// decideOn records a seat's verdict and lets the engine weigh it, in this transaction.
func (w *work) decideOn(seat fairlead.Seat, verdict fairlead.Verdict, note string) (engine.Plan, fairlead.Decision, error) {
	d, err := w.recordDecision(seat, verdict, note)
	if err != nil {
		return engine.Plan{}, d, err
	}
	plan, err := w.decide(engine.Trigger{
		Kind: fairlead.TriggerDecision, Run: w.meta.Actor.Run, Assignment: w.meta.Actor.Assignment, Payload: map[string]any{
			"decision": d.ID, "seat": seat.ID, "role": string(seat.Role), "verdict": string(verdict), "by": seat.Holder(),
		},
	})
	return plan, d, err
}

// recordDecision writes a verdict. Decisions are only ever added; the latest of a seat in a round counts.
func (w *work) recordDecision(seat fairlead.Seat, verdict fairlead.Verdict, note string) (fairlead.Decision, error) {
	t := &w.task.row.Task
	if len(note) > maxText {
		return fairlead.Decision{}, invalidField("note", "the note is too long", "use at most 64 KiB")
	}
	d := fairlead.Decision{
		ID: w.id(fairlead.PrefixDecision), Task: t.ID, Visit: t.Visit, Round: t.Round, Seat: seat.ID, Role: seat.Role, Verdict: verdict, Note: note,
		By: w.meta.Actor, At: w.now,
	}
	d.Seq = w.record(fairlead.Record{Kind: fairlead.RecordDecision, Run: w.meta.Actor.Run}, map[string]any{
		"decision": d.ID, "seat": d.Seat, "role": d.Role, "round": d.Round, "verdict": d.Verdict, "note": d.Note, "holder": seat.Holder(),
	})
	if err := w.tx.InsertDecision(d); err != nil {
		return d, err
	}
	w.emit(fairlead.Event{
		Kind: fairlead.EventDecisionRecorded, Task: t.ID, Visit: t.Visit,
		Data: marshal(map[string]any{"decision": d.ID, "seat": d.Seat, "role": d.Role, "verdict": d.Verdict, "round": d.Round}),
	})
	w.changed()
	if verdict == fairlead.VerdictComment {
		return d, nil // the seat is still asked
	}
	return d, w.answerDecision(seat, d)
}

// answerDecision closes the request by which the seat was asked: giving the verdict and answering are one thing,
// whichever door it came through.
func (w *work) answerDecision(seat fairlead.Seat, d fairlead.Decision) error {
	open, err := w.tx.OpenRequests(d.Task)
	if err != nil {
		return err
	}
	for i := range open {
		r := &open[i]
		if r.Kind == fairlead.RequestDecision && r.Seat == seat.ID && r.State == fairlead.RequestOpen {
			return w.resolveRequest(r, fairlead.RequestAnswered, &fairlead.Answer{Verdict: string(d.Verdict), Note: d.Note})
		}
	}
	return nil
}
