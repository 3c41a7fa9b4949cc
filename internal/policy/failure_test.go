package policy

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
)

// TestR6_FailureTable: every class of errors has exactly one line, and what no time mends says what does.
func TestR6_FailureTable(t *testing.T) {
	t.Parallel()
	want := map[fairlead.ErrorClass]Treatment{
		fairlead.ClassTransient: TreatRetry, fairlead.ClassLimited: TreatHold, fairlead.ClassBudget: TreatPark, fairlead.ClassDenied: TreatDead,
		fairlead.ClassConfiguration: TreatDead, fairlead.ClassAuthentication: TreatDead, fairlead.ClassUnknownModel: TreatDead,
		fairlead.ClassEmpty: TreatRetry, fairlead.ClassTurnLimit: TreatRetry, fairlead.ClassRefusal: TreatRetry, fairlead.ClassFormat: TreatRetry,
		fairlead.ClassStuck: TreatRetry, fairlead.ClassProgram: TreatPark, fairlead.ClassStopped: TreatDead, fairlead.ClassInterrupted: TreatRetry,
	}
	got := map[fairlead.ErrorClass]Treatment{}
	for _, line := range FailureTable() {
		if _, twice := got[line.Error]; twice {
			t.Errorf("%s stands twice", line.Error)
		}
		got[line.Error] = line.Treatment
		if (line.Remedy == "") != (line.Treatment == TreatRetry) {
			t.Errorf("%s: %s with remedy %q", line.Error, line.Treatment, line.Remedy)
		}
		if Classify(line.Error) != line.Class {
			t.Errorf("%s is classified otherwise", line.Error)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestR6_LadderEnds: whatever retries, there are four retries, each within a fifth of its rung, and then it is over.
func TestR6_LadderEnds(t *testing.T) {
	t.Parallel()
	rungs := StandardLadder()
	rapid.Check(t, func(t *rapid.T) {
		class := rapid.SampledFrom(FailureTable()).Draw(t, "class")
		spread := Spread(rapid.Float64Range(0, 1).Draw(t, "fraction"))
		attempts := 0
		for {
			v := Judge(fairlead.Failure{Class: class.Error}, attempts, StandardLadder(), spread)
			if v.Treatment != TreatRetry {
				break
			}
			if attempts >= class.AtOnce {
				d := rungs[attempts]
				if low, high := d*8/10, d*12/10; v.After < low || v.After > high {
					t.Fatalf("rung %d waits %v", attempts, v.After)
				}
			}
			if !v.Attempt {
				t.Fatal("a retry that is no attempt")
			}
			attempts++
		}
		most := map[Treatment]int{TreatRetry: 4, TreatHold: 4, TreatPark: class.AtOnce, TreatDead: 0}[class.Treatment]
		if attempts != most {
			t.Fatalf("%s: %d retries, want %d", class.Error, attempts, most)
		}
	})
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	if _, failed := Interrupted(2); failed {
		t.Error("two interruptions are a failure")
	}
	f, failed := Interrupted(3)
	if v := Judge(f, 0, StandardLadder(), 0); !failed || v.Treatment != TreatRetry || v.After != 2*time.Minute {
		t.Errorf("three: %v, %+v", failed, v)
	}
}

// TestR32_LimitWithoutReset: it climbs the ladder like any failure, and ends there.
func TestR32_LimitWithoutReset(t *testing.T) {
	t.Parallel()
	for attempt, want := range StandardLadder() {
		v := Judge(fairlead.Failure{Class: fairlead.ClassLimited}, attempt, StandardLadder(), 0)
		if v.Treatment != TreatRetry || v.After != want || !v.Attempt {
			t.Errorf("attempt %d: %+v", attempt, v)
		}
	}
	if v := Judge(fairlead.Failure{Class: fairlead.ClassLimited}, 4, StandardLadder(), 0); v.Treatment != TreatDead {
		t.Errorf("after the ladder: %+v", v)
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	for fraction, want := range map[float64]time.Duration{0: 96 * time.Second, 0.5: 2 * time.Minute, 1: 144 * time.Second} {
		if got, _ := StandardLadder().Rung(0, Spread(fraction)); got != want {
			t.Errorf("%v: got %v, want %v", fraction, got, want)
		}
	}
	if got, _ := StandardLadder().Rung(0, math.NaN()); got != 2*time.Minute {
		t.Errorf("not a number: %v", got)
	}
}
