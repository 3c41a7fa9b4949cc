package policy

import (
	"slices"
	"time"
)

// The breaker of an agent opens at this many fast failures within this time.
const (
	BreakerFailures = 10
	BreakerWindow   = time.Minute
)

// Breaker is what is remembered of an agent's fast failures: the times of the newest, at most [BreakerFailures] less
// one. The zero Breaker is that of a new agent.
type Breaker []time.Time

// Failed counts an attempt that began at started (zero if it never did) and failed at the given time, and reports
// whether the breaker opens: then the agent is held ([HoldAgent]) with an inbox item, and counting begins anew. A
// failure is fast if it took no longer than [BreakerWindow]: runs that worked for an hour and end together are no storm.
// Only failures that are attempts count; a limit with a stated reset is none.
//
// The receiver is not changed. Times may come in any order.
func (b Breaker) Failed(started, at time.Time) (Breaker, bool) {
	if !started.IsZero() && at.Sub(started) > BreakerWindow {
		return b, false
	}
	next := append(slices.Clone(b), at)
	slices.SortFunc(next, time.Time.Compare)
	newest := next[len(next)-1]
	next = slices.DeleteFunc(next, func(t time.Time) bool { return newest.Sub(t) > BreakerWindow })
	if len(next) >= BreakerFailures {
		return nil, true
	}
	return next, false
}

// FoldBreaker counts fast failures at the given times and returns when the breaker opened.
func FoldBreaker(failures []time.Time) []time.Time {
	var b Breaker
	var opened []time.Time
	for _, at := range failures {
		open := false
		if b, open = b.Failed(time.Time{}, at); open {
			opened = append(opened, at)
		}
	}
	return opened
}
