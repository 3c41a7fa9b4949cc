package control

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/schedule"
)

// FireProof is how a client proves that a fire comes from who knows the routine's secret.
type FireProof struct {
	Body      []byte // of the request, as it came
	Signature string // "sha256=" and the hex HMAC-SHA256, see SignFire; "" = unsigned
}

// SignFire signs a fire: the operation id, a line feed and the body, so that a call that was overheard cannot be sent
// again under another id.
func SignFire(secret string, op fairlead.OpID, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(op))
	mac.Write([]byte("\n"))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// FireRoutine fires a routine now, whatever its schedule says and without moving it. A person's fire always makes a task;
// a client's must be signed and bows to the pause and to the rule for overlaps. Sent again under its operation id it
// returns the first task.
func (c *Control) FireRoutine(ctx context.Context, m Meta, key string, body fairlead.FireBody, proof FireProof) (fairlead.FireView, error) {
	if m.Op == "" {
		m.Op = body.Op
	}
	body.Op = ""
	cmd := command{name: "fire routine", run: m.Actor.Run, body: struct {
		Routine string
		Body    fairlead.FireBody
	}{key, body}}
	return do(ctx, c, m, cmd, func(w *work) (fairlead.FireView, error) {
		none := fairlead.FireView{}
		if err := w.personOnly("routines"); err != nil {
			return none, err
		}
		r, err := w.lockRoutine(key)
		if err != nil {
			return none, err
		}
		f := firing{at: w.now, cause: fairlead.CauseManual, force: true, payload: body.Payload}
		if m.Actor.Kind == fairlead.ActorClient {
			f.cause, f.force = fairlead.CauseWebhook, false
		}
		if err := w.checkProof(&r, proof); err != nil {
			return none, err
		}
		return w.fireNow(&r, f)
	})
}

func (w *work) fireNow(r *fairlead.Routine, f firing) (fairlead.FireView, error) {
	view := fairlead.FireView{Routine: r.Key, At: fairlead.StampOf(f.at)}
	if r.Paused && !f.force {
		view.Outcome, view.Reason = fairlead.FireSkipped, schedule.ReasonPaused
		return view, w.routineReceipt(r, single(f.at, schedule.OutcomeSkipped, schedule.ReasonPaused), f.cause, "")
	}
	done, err := w.fireRoutine(r, f)
	if err != nil {
		return view, err
	}
	view.Outcome, view.Reason, view.Task = done.outcome, done.reason, done.task
	return view, w.putRoutine(r)
}

// checkProof checks a signature: a client needs one, and a wrong one is refused whoever sends it.
func (w *work) checkProof(r *fairlead.Routine, proof FireProof) error {
	client := w.meta.Actor.Kind == fairlead.ActorClient
	switch {
	case !client && proof.Signature == "":
		return nil
	case r.Secret == "":
		return fairlead.Errorf(fairlead.CodeForbidden, "this routine is not fired from outside").
			WithHint("give it `webhook: {secret: …}` and apply it")
	case proof.Signature == "":
		return fairlead.Errorf(fairlead.CodeForbidden, "the fire is not signed").
			WithHint("send Idempotency-Key, and Fairlead-Signature made of it and the body")
	case !hmac.Equal([]byte(proof.Signature), []byte(SignFire(r.Secret, w.meta.Op, proof.Body))):
		return fairlead.Errorf(fairlead.CodeForbidden, "the signature does not fit").
			WithHint("sign the Idempotency-Key, a line feed and the body with the routine's secret: sha256=<hex HMAC-SHA256>")
	}
	return nil
}
