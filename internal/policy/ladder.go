package policy

import "time"

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
// number from -1 to 1 that the caller draws ([Spread]); it moves the wait by at most [Jitter].
func (l Ladder) Rung(attempt int, spread float64) (time.Duration, bool) {
	if attempt < 0 || attempt >= len(l) {
		return 0, false
	}
	if spread != spread { // not a number
		spread = 0
	}
	spread = min(max(spread, -1), 1)
	return time.Duration(float64(l[attempt]) * (1 + Jitter*spread)), true
}

// Spread turns a random fraction from 0 to 1 into the spread of a rung.
func Spread(fraction float64) float64 { return 2*fraction - 1 }
