package api

import (
	"context"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

func (f *fake) ApplyRoutine(_ context.Context, m control.Meta, in fairlead.RoutineBody) (fairlead.RoutineView, error) {
	return do(f, "ApplyRoutine", m, in, func() (fairlead.RoutineView, error) { return fairlead.RoutineView{Version: 3}, nil })
}

// fired is what the fake remembers of a fire.
type fired struct {
	Body  fairlead.FireBody
	Proof control.FireProof
}

func (f *fake) FireRoutine(_ context.Context, m control.Meta, key string, in fairlead.FireBody, p control.FireProof) (fairlead.FireView, error) {
	return do(f, "FireRoutine", m, fired{in, p}, func() (fairlead.FireView, error) {
		return fairlead.FireView{Routine: key, Outcome: fairlead.FireFired}, nil
	})
}

func (f *fake) PauseRoutine(_ context.Context, m control.Meta, _ string, in fairlead.PauseBody) (fairlead.RoutineView, error) {
	return do(f, "PauseRoutine", m, in, func() (fairlead.RoutineView, error) { return fairlead.RoutineView{Paused: true, Version: 4}, nil })
}

func (f *fake) ResumeRoutine(_ context.Context, m control.Meta, _ string, in fairlead.PauseBody) (fairlead.RoutineView, error) {
	return do(f, "ResumeRoutine", m, in, func() (fairlead.RoutineView, error) { return fairlead.RoutineView{Version: 5}, nil })
}

func (f *fake) GetRoutine(_ context.Context, _, key string) (fairlead.RoutineView, error) {
	return fairlead.RoutineView{Routine: fairlead.Routine{Key: key}}, nil
}

func (f *fake) ListRoutines(context.Context, string) ([]fairlead.RoutineView, error) { return nil, nil }

func (f *fake) RoutineReceipts(context.Context, string, string, int, string) (fairlead.Page[fairlead.ReceiptView], error) {
	return fairlead.Page[fairlead.ReceiptView]{}, nil
}

// TestFireCarriesItsProof: control gets the body as it came and the signature, and the operation of the header.
func TestFireCarriesItsProof(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	body := `{ "payload": {"ref": "main"} }`
	w := b.send("POST", "/api/v1/routines/weekly/fire", head{"Idempotency-Key": "delivery-1", "Fairlead-Signature": "sha256=00"}, body)
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	got, ok := b.fake.last.(fired)
	if !ok || string(got.Proof.Body) != body || got.Proof.Signature != "sha256=00" || got.Body.Payload["ref"] != "main" || b.fake.meta().Op != "delivery-1" {
		t.Errorf("control got %+v under %q", got, b.fake.meta().Op)
	}
}
