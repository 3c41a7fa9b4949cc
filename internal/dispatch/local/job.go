package local

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/dispatch"
)

// jobLimit bounds one try of a job; attempts is how often a failing one is tried.
const (
	jobLimit = time.Minute
	attempts = 8
)

type job struct {
	kind  string
	args  []byte
	tried int
}

// queue holds jobs until somebody takes them. It has no bound: its jobs follow commits, and a commit cannot be refused
// after the fact.
type queue struct {
	mu   sync.Mutex
	jobs []job
	more chan struct{} // one buffered signal: look again
}

func (q *queue) add(j job) {
	q.mu.Lock()
	q.jobs = append(q.jobs, j)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *queue) take() (job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		return job{}, false
	}
	j := q.jobs[0]
	q.jobs = q.jobs[1:]
	return j, true
}

// jobLoop runs jobs one after the other. A failing one goes to the end of the line after its wait, and others pass it.
func (d *Dispatcher) jobLoop(ctx context.Context, jobs map[string]dispatch.Job) {
	var waiting sync.WaitGroup
	defer waiting.Wait()
	for {
		j, ok := d.jobs.take()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-d.jobs.more:
			}
			continue
		}
		if ctx.Err() != nil {
			return
		}
		err := runJob(ctx, jobs, j)
		if err == nil {
			continue
		}
		d.options.Log.Error("carry out a job", "kind", j.kind, "error", err)
		if j.tried++; j.tried < attempts {
			waiting.Go(func() { d.retry(ctx, j) })
		}
	}
}

// retry puts a job back after its wait.
func (d *Dispatcher) retry(ctx context.Context, j job) {
	t := time.NewTimer(d.options.Retry << (j.tried - 1))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
		d.jobs.add(j)
	}
}

func runJob(ctx context.Context, jobs map[string]dispatch.Job, j job) error {
	run := jobs[j.kind]
	if run == nil {
		return fmt.Errorf("run job: unknown kind %q", j.kind)
	}
	ctx, cancel := context.WithTimeout(ctx, jobLimit)
	defer cancel()
	return run(ctx, j.args)
}
