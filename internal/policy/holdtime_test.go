package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

func TestAgainAfter(t *testing.T) {
	for _, c := range []struct{ last, stated, want time.Duration }{
		{time.Second, 0, 2 * time.Second},
		{time.Second, time.Minute, time.Minute},
		{40 * time.Minute, 0, time.Hour},
		{5 * time.Hour, 0, time.Hour},
		{5 * time.Hour, 3 * time.Hour, 3 * time.Hour},
	} {
		if got := AgainAfter(c.last, c.stated); got != c.want {
			t.Errorf("after %v, with %v stated: got %v, want %v", c.last, c.stated, got, c.want)
		}
	}
}

func TestR32_StillRefused(t *testing.T) {
	reset := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for at, want := range map[time.Duration]bool{0: false, 161 * time.Minute: false, 162 * time.Minute: true, 48 * time.Hour: true} {
		if got := StillRefused(reset, reset.Add(at), StandardLadder()); got != want {
			t.Errorf("%v past the reset: got %v", at, got)
		}
	}
	if StillRefused(time.Time{}, reset, StandardLadder()) {
		t.Error("a reset that was never stated has passed")
	}
}

func TestProbe(t *testing.T) {
	for _, c := range []struct {
		kind   fairlead.HoldKind
		status fairlead.RunStatus
		class  fairlead.ErrorClass
		want   Probed
	}{
		{fairlead.HoldAccount, fairlead.RunSucceeded, "", ProbePasses},
		{fairlead.HoldAccount, fairlead.RunParked, "", ProbePasses},
		{fairlead.HoldBreaker, fairlead.RunSucceeded, fairlead.ClassTransient, ProbePasses},
		{fairlead.HoldAccount, fairlead.RunCancelled, "", ProbeUnclear},
		{fairlead.HoldAccount, fairlead.RunQueued, "", ProbeUnclear},
		{fairlead.HoldAccount, fairlead.RunSuperseded, fairlead.ClassLimited, ProbeUnclear},
		{fairlead.HoldAccount, fairlead.RunQueued, fairlead.ClassLimited, ProbeHolds},
		{fairlead.HoldAccount, fairlead.RunQueued, fairlead.ClassTransient, ProbeHolds},
		{fairlead.HoldAccount, fairlead.RunQueued, fairlead.ClassEmpty, ProbePasses},
		{fairlead.HoldBreaker, fairlead.RunQueued, fairlead.ClassEmpty, ProbeHolds},
		{fairlead.HoldAccount, fairlead.RunDead, fairlead.ClassConfiguration, ProbeUnclear},
		{fairlead.HoldBreaker, fairlead.RunDead, fairlead.ClassConfiguration, ProbeHolds},
		{fairlead.HoldAccount, fairlead.RunQueued, fairlead.ClassInterrupted, ProbeUnclear},
	} {
		if got := Probe(c.kind, c.status, c.class); got != c.want {
			t.Errorf("%s behind %s, %q: got %v, want %v", c.status, c.kind, c.class, got, c.want)
		}
	}
}

func TestLadderOf(t *testing.T) {
	if got := LadderOf([]string{"10s", "1m30s"}); !slices.Equal(got, Ladder{10 * time.Second, 90 * time.Second}) {
		t.Errorf("got %v", got)
	}
	for _, none := range [][]string{nil, {}, {"soon"}} {
		if got := LadderOf(none); !slices.Equal(got, StandardLadder()) {
			t.Errorf("%v: got %v, want the standard", none, got)
		}
	}
}
