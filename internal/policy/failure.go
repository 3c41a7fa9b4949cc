package policy

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Ladder is how long to wait before each retry of a failed run; its length is the number of retries.
type Ladder []time.Duration

// Jitter is the share by which a rung may be longer or shorter, so that failed runs do not come back as one crowd.
const Jitter = 0.2

// StandardLadder returns the ladder of agents that name none. The caller owns it.
func StandardLadder() Ladder {
	return Ladder{2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour}
}

// Length is the time from the first failure to the last retry.
func (l Ladder) Length() time.Duration {
	var sum time.Duration
	for _, d := range l {
		sum += d
	}
	return sum
}

// Rung returns the wait after the attempt (0 = first try) has failed, and false when no retry is left. spread is a
// number from -1 to 1 that the caller draws; it moves the wait by at most [Jitter].
func (l Ladder) Rung(attempt int, spread float64) (time.Duration, bool) {
	if attempt < 0 || attempt >= len(l) {
		return 0, false
	}
	spread = min(max(spread, -1), 1)
	return time.Duration(float64(l[attempt]) * (1 + Jitter*spread)), true
}

// Treatment is what follows from a class of failure.
type Treatment string

// The treatments.
const (
	TreatRetry Treatment = "retry" // climbs the ladder
	TreatHold  Treatment = "hold"  // a hold on the provider account until its reset; without a reset, the ladder
	TreatPark  Treatment = "park"  // parked with one request
	TreatDead  Treatment = "dead"  // no retry can mend it
)

// Class is one line of the classifier's table.
type Class struct {
	Treatment Treatment
	Remedy    string // what a person can do, "" when time alone may help
	// AtOnce is how often it is tried again at once before the treatment applies.
	AtOnce int
}

// Classify returns the line of a class. A class nobody knows is treated as transient: work is retried, then reported.
func Classify(c fairlead.ErrorClass) Class {
	switch c {
	case fairlead.ClassLimited:
		return Class{Treatment: TreatHold, Remedy: "wait for the provider's limit to reset, or give the agent another account"}
	case fairlead.ClassBudget:
		return Class{Treatment: TreatPark, Remedy: "raise the budget, or stop the work"}
	case fairlead.ClassDenied:
		return Class{Treatment: TreatDead, Remedy: "ask the provider, or change the rule that denies"}
	case fairlead.ClassConfiguration:
		return Class{Treatment: TreatDead, Remedy: "correct the agent's profile: command, adapter or program"}
	case fairlead.ClassAuthentication:
		return Class{Treatment: TreatDead, Remedy: "give the agent a valid key or log it in"}
	case fairlead.ClassUnknownModel:
		return Class{Treatment: TreatDead, Remedy: "name a model the provider knows"}
	case fairlead.ClassProgram:
		return Class{Treatment: TreatPark, Remedy: "mend the program, then retry or migrate", AtOnce: 1}
	case fairlead.ClassStopped:
		return Class{Treatment: TreatDead, Remedy: "read why the program ended itself"}
	case fairlead.ClassTransient, fairlead.ClassEmpty, fairlead.ClassTurnLimit, fairlead.ClassRefusal, fairlead.ClassFormat,
		fairlead.ClassStuck, fairlead.ClassInterrupted:
	}
	return Class{Treatment: TreatRetry}
}

// Verdict is what becomes of a run whose attempt failed. Exactly one of its treatments applies; After counts for
// [TreatRetry] and [TreatHold].
type Verdict struct {
	Treatment Treatment
	After     time.Duration
	// Attempt says that the failure counts as an attempt.
	Attempt bool
	Remedy  string
}

// Judge decides about the failed attempt (0 = first try) of a run. A limit that names its reset is a hold and no
// attempt; one that names none climbs the ladder.
func Judge(f fairlead.Failure, attempt int, l Ladder, spread float64) Verdict {
	c := Classify(f.Class)
	if attempt < c.AtOnce {
		return Verdict{Treatment: TreatRetry, Attempt: true, Remedy: c.Remedy}
	}
	switch c.Treatment {
	case TreatDead, TreatPark:
		return Verdict{Treatment: c.Treatment, Attempt: c.Treatment == TreatDead, Remedy: c.Remedy}
	case TreatHold:
		if f.RetryAfter > 0 {
			return Verdict{Treatment: TreatHold, After: f.RetryAfter, Remedy: c.Remedy}
		}
	case TreatRetry:
	}
	after, ok := l.Rung(attempt, spread)
	if !ok {
		return Verdict{Treatment: TreatDead, Attempt: true, Remedy: c.Remedy}
	}
	return Verdict{Treatment: TreatRetry, After: after, Attempt: true, Remedy: c.Remedy}
}
