package policy

import (
	"time"

	"github.com/fairlead/fairlead"
)

// MaxRepeat is the longest time by which a hold grows of its own: what a provider states may be longer.
const MaxRepeat = time.Hour

// HoldNotice is how long a hold stands before the inbox tells of it.
const HoldNotice = 24 * time.Hour

// The breaker of an agent: so many failures within the window, each so soon after its claim, hold the agent.
const (
	BreakerFailures = 10
	BreakerWindow   = time.Minute
	BreakerWait     = 5 * time.Minute
)

// AgainAfter is how long a hold stands whose release did not lead to a success: twice as long as last time, at most
// [MaxRepeat], or until the reset that the provider stated (0 = none).
func AgainAfter(last, stated time.Duration) time.Duration {
	return max(stated, min(2*last, MaxRepeat))
}

// StillRefused reports whether a limit is still in force when it should have been over for the length of the ladder.
// The zero reset was never stated.
func StillRefused(reset, now time.Time, l Ladder) bool {
	return !reset.IsZero() && !now.Before(reset.Add(l.Length()))
}

// Probed is what the end of the run that went first says about a hold.
type Probed int

// The findings.
const (
	ProbeHolds   Probed = iota // it holds again
	ProbeUnclear               // it said nothing: another run may go first
	ProbePasses                // it is over
)

// Probe judges a run that went first: class is "" unless its attempt failed.
func Probe(kind fairlead.HoldKind, status fairlead.RunStatus, class fairlead.ErrorClass) Probed {
	switch {
	case status == fairlead.RunSucceeded || status == fairlead.RunParked:
		return ProbePasses
	case class == "" || status == fairlead.RunCancelled || status == fairlead.RunSuperseded:
		return ProbeUnclear
	case kind == fairlead.HoldBreaker:
		return ProbeHolds
	}
	switch class {
	case fairlead.ClassEmpty, fairlead.ClassTurnLimit, fairlead.ClassRefusal, fairlead.ClassFormat, fairlead.ClassStuck, fairlead.ClassProgram:
		return ProbePasses // the provider has answered
	case fairlead.ClassLimited, fairlead.ClassTransient:
		return ProbeHolds
	}
	return ProbeUnclear
}

// LadderOf reads the retry schedule of a profile; one that names none has the [StandardLadder].
func LadderOf(retry []string) Ladder {
	var l Ladder
	for _, text := range retry {
		d, err := time.ParseDuration(text)
		if err != nil {
			return StandardLadder() // profiles are checked when they are applied
		}
		l = append(l, d)
	}
	if len(l) == 0 {
		return StandardLadder()
	}
	return l
}
