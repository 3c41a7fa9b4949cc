package main

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Load is what a scenario measured of its operations.
type Load struct {
	Ops       int     `json:"ops"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"per_second,omitempty"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	Max       float64 `json:"max_ms"`
	// CPU is what the server's process spent on one operation, in milliseconds; 0 = not measured. A machine that others
	// use too changes it less than everything above.
	CPU float64 `json:"cpu_ms,omitempty"`
}

// loadOf sums latencies up. The slice is sorted in place.
func loadOf(took []time.Duration, elapsed time.Duration) Load {
	slices.Sort(took)
	l := Load{Ops: len(took), Seconds: elapsed.Seconds(), P50: millis(at(took, 0.50)), P99: millis(at(took, 0.99)), Max: millis(at(took, 1))}
	if elapsed > 0 {
		l.PerSecond = float64(len(took)) / elapsed.Seconds()
	}
	return l
}

// at is the nearest-rank quantile of sorted values.
func at(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(q*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// bound says how long a closed loop goes on.
type bound struct {
	warm time.Duration // not counted
	run  time.Duration
}

// closedLoop keeps c callers busy, each with one operation at a time, and measures those that begin after the warm-up.
// The first error ends it. op is called with the caller's number and its count of calls so far.
func closedLoop(ctx context.Context, c int, b bound, op func(ctx context.Context, caller, n int) error) (Load, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begin := time.Now().Add(b.warm)
	end := begin.Add(b.run)
	took := make([][]time.Duration, c)
	var all sync.WaitGroup
	for caller := range c {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				at := time.Now()
				if !at.Before(end) {
					return
				}
				if err := op(ctx, caller, n); err != nil {
					cancel(err)
					return
				}
				if !at.Before(begin) {
					took[caller] = append(took[caller], time.Since(at))
				}
			}
		})
	}
	all.Wait()
	elapsed := time.Since(begin)
	if err := context.Cause(ctx); err != nil {
		return Load{}, err
	}
	return loadOf(slices.Concat(took...), elapsed), nil
}
