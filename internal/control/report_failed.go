package control

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/policy"
)

// failed ends a failed attempt: it is tried again by the agent's ladder, waits behind a hold on its account, or is dead
// and the step hears of it once.
func (w *work) failed(t *turn) error {
	// The failures of an agent are counted one after the other.
	if _, err := w.tx.LockAgents(t.run.Workspace, t.run.Agent); err != nil {
		return err
	}
	held, agent, err := w.standing(t.run)
	if err != nil {
		return err
	}
	ladder, spread, f := policy.LadderOf(agent.Retry), w.spread(), w.stated(t.end.Failure)
	rung := t.run.Attempt
	if t.run.Early {
		rung-- // a person's message ended the back-off: the run returns to its rung
	}
	verdict := policy.Judge(f, rung, ladder, spread)
	if verdict.Treatment == policy.TreatPark {
		return w.parkFailed(t, verdict)
	}
	t.fail()
	data := failureData(&f)
	data["attempt"], data["counted"], data["treatment"] = t.run.Attempt, verdict.Attempt, verdict.Treatment
	if verdict.Remedy != "" {
		data["remedy"] = verdict.Remedy
	}
	if verdict.After > 0 {
		data["spread"], data["due_at"] = spread, fairlead.StampOf(w.now.Add(verdict.After))
	}
	if err := w.runEvent(t.run, fairlead.RunEventAttemptFailed, data); err != nil {
		return err
	}
	told := false
	if verdict.Treatment == policy.TreatHold {
		if told, err = w.limitAccount(t.run, held, agent, &f); err != nil {
			return err
		}
	}
	if err := w.countFailure(t.run, verdict, held); err != nil {
		return err
	}
	switch verdict.Treatment {
	case policy.TreatRetry, policy.TreatHold:
		return w.tryAgain(t, verdict, rung, told)
	case policy.TreatPark, policy.TreatDead:
	}
	return w.died(t)
}

// died makes a run dead and tells its step.
func (w *work) died(t *turn) error {
	t.status = fairlead.RunDead
	if err := w.closeTurn(t, false); err != nil {
		return err
	}
	if err := w.turnComplete(t, false, w.ownMove(t)); err != nil {
		return err
	}
	return w.agentError(t)
}

// agentError tells the step of a run that failed for good, or is still refused.
func (w *work) agentError(t *turn) error {
	return w.fire(t.run, engine.Trigger{Kind: fairlead.TriggerAgentError, Payload: map[string]any{
		"failed_agent_id": t.run.Agent, "error_class": string(t.end.Failure.Class), "error_message": t.end.Failure.Message,
		"attempts": t.run.Attempt + 1, "run": t.run.ID, "assignment": t.run.Assignment,
	}})
}

// tryAgain sends the run back to the queue: on the next rung of the ladder, or due at once behind the hold of its
// account. A move that the agent asked for is still made, and may end the visit with the run.
func (w *work) tryAgain(t *turn, v policy.Verdict, rung int, told bool) error {
	r := t.run
	t.status = fairlead.RunQueued
	r.Due, r.DueAt = true, w.now
	if v.Treatment == policy.TreatRetry {
		r.Attempt, r.Early = rung+1, false
		r.Due, r.DueAt = v.After <= 0, w.now.Add(v.After)
	}
	own := w.ownMove(t)
	if own != nil {
		t.a.OwnMove = nil
		if err := w.tx.SaveAssignment(&t.a); err != nil {
			return err
		}
	}
	if err := w.closeTurn(t, false); err != nil {
		return err
	}
	if own != nil {
		if err := w.turnComplete(t, false, own); err != nil {
			return err
		}
	}
	if !told {
		return nil
	}
	return w.agentError(t)
}

// stated completes the failure of a limit with the reset that its message states.
func (w *work) stated(f *fairlead.Failure) fairlead.Failure {
	out := *f
	if out.Class == fairlead.ClassLimited && out.RetryAfter <= 0 {
		out.RetryAfter, _ = policy.ResetText(out.Message, w.now, nil)
	}
	return out
}

// limitAccount holds the account of a run that the provider refused until the reset it stated. told says that the limit
// should have been over long ago and that nobody was told of it yet.
func (w *work) limitAccount(r *fairlead.Run, held []fairlead.StandingHold, agent fairlead.AgentProfile, f *fairlead.Failure) (told bool, err error) {
	stated := f.RetryAfter
	h := holdOf(held, fairlead.HoldAccount, agent.AccountRef())
	if h == nil {
		return false, w.hold(fairlead.StandingHold{
			Workspace: r.Workspace, Kind: fairlead.HoldAccount, Ref: agent.AccountRef(), Wait: stated, ResetAt: w.now.Add(stated), Reason: f.Message,
		})
	}
	if h.ResetAt.IsZero() {
		h.ResetAt = w.now.Add(stated)
	}
	told = !h.Reported && policy.StillRefused(h.ResetAt, w.now, policy.LadderOf(agent.Retry))
	h.Reported = h.Reported || told
	switch {
	case h.Probe == r.ID || h.State == fairlead.HoldReady:
		return told, w.again(h, stated, f.Message)
	case h.State == fairlead.HoldShut && h.Until.Before(w.now.Add(stated)):
		return told, w.shut(h, stated)
	}
	return told, w.tx.SaveHold(h) // another run goes first already and will tell
}

// refusedToo holds the account of a run that was refused in a turn which ends parked all the same.
func (w *work) refusedToo(t *turn) error {
	f := w.stated(t.end.Failure)
	if f.Class != fairlead.ClassLimited || f.RetryAfter <= 0 {
		return nil
	}
	held, agent, err := w.standing(t.run)
	if err == nil {
		_, err = w.limitAccount(t.run, held, agent, &f)
	}
	return err
}

// countFailure opens the breaker of an agent whose attempts fail as fast as they are made.
func (w *work) countFailure(r *fairlead.Run, v policy.Verdict, held []fairlead.StandingHold) error {
	if !v.Attempt || w.now.Sub(r.ClaimedAt) >= policy.BreakerWindow || holdOf(held, fairlead.HoldBreaker, r.Agent) != nil {
		return nil
	}
	n, err := w.tx.FastFailure(r.Workspace, r.Agent, r.ID, w.now.Add(-policy.BreakerWindow))
	if err != nil || n < policy.BreakerFailures {
		return err
	}
	if err := w.tx.ForgetFailures(r.Workspace, r.Agent); err != nil {
		return err
	}
	text := fmt.Sprintf("The agent %s failed %d times within a minute and is held. Last: %s", r.Agent, n, r.ErrorMessage)
	if err := w.holdNotice(fairlead.HoldBreaker, "breaker", text, map[string]any{"agent": r.Agent, "run": r.ID}); err != nil {
		return err
	}
	return w.hold(fairlead.StandingHold{
		Workspace: r.Workspace, Kind: fairlead.HoldBreaker, Ref: r.Agent, Wait: policy.BreakerWait, Reason: r.ErrorMessage,
	})
}

// holdNotice puts a hold into the inbox.
func (w *work) holdNotice(kind fairlead.HoldKind, notice, text string, data map[string]any) error {
	data["hold"] = kind
	return w.addNotice(engine.AddNotice{Kind: notice, Text: text, Data: data})
}

// spread draws the jitter of a back-off, from -1 to 1, from the command's random seed; the run's log keeps it.
func (w *work) spread() float64 {
	sum := sha256.Sum256(append(w.seed[:], "spread"...))
	return policy.Spread(float64(binary.BigEndian.Uint32(sum[:4])) / math.MaxUint32)
}
