package policy

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Treatment is what follows from a class of failure.
type Treatment string

// The treatments.
const (
	TreatRetry Treatment = "retry" // climbs the ladder
	TreatHold  Treatment = "hold"  // a hold on the provider account until its reset; without a reset, the ladder
	TreatPark  Treatment = "park"  // parked with one request
	TreatDead  Treatment = "dead"  // no retry can mend it
)

// Class is how a class of errors is treated.
type Class struct {
	Treatment Treatment
	Remedy    string // what a person can do, "" when time alone may help
	// AtOnce is how often it is tried again at once before the treatment applies.
	AtOnce int
}

// FailureLine is the line of the failure table for one class of errors.
type FailureLine struct {
	Error fairlead.ErrorClass
	Class
}

// FailureTable returns every class of errors with its treatment. The caller owns it.
func FailureTable() []FailureLine {
	return []FailureLine{
		{fairlead.ClassTransient, Class{Treatment: TreatRetry}},
		{fairlead.ClassLimited, Class{Treatment: TreatHold, Remedy: "wait for the provider's limit to reset, or give the agent another account"}},
		{fairlead.ClassBudget, Class{Treatment: TreatPark, Remedy: "raise the budget, or stop the work"}},
		{fairlead.ClassDenied, Class{Treatment: TreatDead, Remedy: "ask the provider, or change the rule that denies"}},
		{fairlead.ClassConfiguration, Class{Treatment: TreatDead, Remedy: "correct the agent's profile: command, adapter or program"}},
		{fairlead.ClassAuthentication, Class{Treatment: TreatDead, Remedy: "give the agent a valid key or log it in"}},
		{fairlead.ClassUnknownModel, Class{Treatment: TreatDead, Remedy: "name a model the provider knows"}},
		{fairlead.ClassEmpty, Class{Treatment: TreatRetry}},
		{fairlead.ClassTurnLimit, Class{Treatment: TreatRetry}},
		{fairlead.ClassRefusal, Class{Treatment: TreatRetry}},
		{fairlead.ClassFormat, Class{Treatment: TreatRetry}},
		{fairlead.ClassStuck, Class{Treatment: TreatRetry}},
		{fairlead.ClassProgram, Class{Treatment: TreatPark, Remedy: "mend the program, then retry or migrate", AtOnce: 1}},
		{fairlead.ClassStopped, Class{Treatment: TreatDead, Remedy: "read why the program ended itself"}},
		{fairlead.ClassInterrupted, Class{Treatment: TreatRetry}},
	}
}

// Classify returns the treatment of a class. A class nobody knows is treated as transient: work is retried, then
// reported.
func Classify(c fairlead.ErrorClass) Class {
	for _, line := range FailureTable() {
		if line.Error == c {
			return line.Class
		}
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

// MaxInterruptions is how many interruptions of one assignment in a row are taken for a failure.
const MaxInterruptions = 3

// Interrupted returns the failure that so many interruptions in a row are, and false while they are none.
func Interrupted(inARow int) (fairlead.Failure, bool) {
	if inARow < MaxInterruptions {
		return fairlead.Failure{}, false
	}
	return fairlead.Failure{Class: fairlead.ClassInterrupted, Message: "interrupted three times in a row"}, true
}
