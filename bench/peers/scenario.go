package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// system is a queue under test. A job is a number; working on it is telling its number.
type system interface {
	// enqueue returns when the job is durable. key says with whose jobs it must not run at once.
	enqueue(ctx context.Context, job, key int) error
	// work begins to work; started is called at the start of each job.
	work(ctx context.Context, started func(job int)) error
	// rest waits until what was worked on is on record, and ends the workers.
	rest(ctx context.Context) error
	close()
}

var (
	systems = map[string]func(ctx context.Context, database, url string, workers, keys int) (system, string, error){
		"river": openRiver, "dbos": openDBOS,
	}
	modules   = map[string]string{"river": "github.com/riverqueue/river", "dbos": "github.com/dbos-inc/dbos-transact-golang"}
	scenarios = map[string]func(ctx context.Context, sys system, s settings, r *result) error{
		"enqueue": enqueue, "work": work, "burst": burst, "paced": paced,
	}
)

// enqueue measures callers that enqueue one durable job after the other. Nobody works.
func enqueue(ctx context.Context, sys system, s settings, r *result) error {
	end := time.Now().Add(s.length)
	began := time.Now()
	took := make([][]time.Duration, s.callers)
	err := together(s.callers, func(caller int) error {
		for i := 0; time.Now().Before(end); i++ {
			at := time.Now()
			if err := sys.enqueue(ctx, i*s.callers+caller, 0); err != nil {
				return err
			}
			took[caller] = append(took[caller], time.Since(at))
		}
		return nil
	})
	all := slices.Concat(took...)
	r.rate(len(all), time.Since(began))
	r.spread(all)
	return err
}

// work measures how fast jobs that wait are worked off, to the record of the last one.
func work(ctx context.Context, sys system, s settings, r *result) error {
	if err := fill(ctx, sys, s); err != nil {
		return err
	}
	began := time.Now()
	err := workOff(ctx, sys, s.n)
	r.rate(s.n, time.Since(began))
	return err
}

// burst is both at once.
func burst(ctx context.Context, sys system, s settings, r *result) error {
	began := time.Now()
	made := make(chan error, 1)
	go func() { made <- fill(ctx, sys, s) }()
	err := workOff(ctx, sys, s.n)
	r.rate(s.n, time.Since(began))
	if err != nil {
		return err
	}
	return <-made
}

// paced measures, on an idle system, from the end of the enqueueing to the start of the job.
func paced(ctx context.Context, sys system, s settings, r *result) error {
	started := make(chan time.Time, 1)
	if err := sys.work(ctx, func(int) { started <- time.Now() }); err != nil {
		return err
	}
	const warm = 10
	var took []time.Duration
	for i := range s.n + warm {
		time.Sleep(s.every)
		if err := sys.enqueue(ctx, i, 0); err != nil {
			return err
		}
		durable := time.Now()
		select {
		case at := <-started:
			if i >= warm {
				took = append(took, max(at.Sub(durable), 0))
			}
		case <-ctx.Done():
			return fmt.Errorf("job %d never started: %w", i, ctx.Err())
		}
	}
	r.N = len(took)
	r.spread(took)
	return sys.rest(ctx)
}

func fill(ctx context.Context, sys system, s settings) error {
	var next atomic.Int64
	return together(s.callers, func(int) error {
		for i := int(next.Add(1)) - 1; i < s.n; i = int(next.Add(1)) - 1 {
			if err := sys.enqueue(ctx, i, i%max(s.keys, 1)); err != nil {
				return err
			}
		}
		return nil
	})
}

func workOff(ctx context.Context, sys system, n int) error {
	var done atomic.Int64
	all := make(chan struct{})
	err := sys.work(ctx, func(int) {
		if done.Add(1) == int64(n) {
			close(all)
		}
	})
	if err != nil {
		return err
	}
	select {
	case <-all:
	case <-ctx.Done():
		return fmt.Errorf("%d of %d jobs: %w", done.Load(), n, ctx.Err())
	}
	return sys.rest(ctx)
}

// together runs a function by several callers and returns the first error.
func together(callers int, do func(caller int) error) error {
	errs := make([]error, callers)
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() { errs[caller] = do(caller) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *result) rate(n int, took time.Duration) {
	r.N, r.PerSecond = n, float64(n)/took.Seconds()
}

func (r *result) spread(took []time.Duration) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	at := func(q float64) float64 {
		return float64(took[min(int(q*float64(len(took))), len(took)-1)].Microseconds()) / 1000
	}
	r.P50, r.P99 = at(0.50), at(0.99)
}
