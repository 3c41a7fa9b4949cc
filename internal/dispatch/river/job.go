package river

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/fairlead/fairlead/internal/dispatch"
)

// job is the one kind of job that River knows of; what is to be done is in it.
type job struct {
	Of   string `json:"of"`
	Args []byte `json:"args,omitempty"`
}

// Kind implements River's JobArgs.
func (job) Kind() string { return "fairlead" }

// InsertOpts implements River's JobArgsWithInsertOpts: a queue of our own, should another program use this River too.
func (job) InsertOpts() queue.InsertOpts {
	return queue.InsertOpts{Queue: queueOf, MaxAttempts: attempts}
}

type worker struct {
	queue.WorkerDefaults[job]
	jobs  map[string]dispatch.Job
	retry time.Duration
	log   *slog.Logger
}

// Work implements River's Worker.
func (w *worker) Work(ctx context.Context, j *queue.Job[job]) error {
	run := w.jobs[j.Args.Of]
	if run == nil {
		return fmt.Errorf("run job: unknown kind %q", j.Args.Of) // a newer node may know it
	}
	err := run(ctx, j.Args.Args)
	if err != nil && ctx.Err() == nil {
		w.log.Error("carry out a job", "kind", j.Args.Of, "attempt", j.Attempt, "error", err)
	}
	return err
}

// NextRetry implements River's Worker.
func (w *worker) NextRetry(j *queue.Job[job]) time.Time {
	return time.Now().Add(w.retry << (max(j.Attempt, 1) - 1))
}

var _ rivertype.JobArgs = job{}

// duty is a periodic duty. River's leader says when; the duty runs in the leader's process and never as a job, because
// a job that died with its node would keep the next one waiting for it to be rescued.
type duty struct {
	dispatch.Duty
	due chan struct{} // one buffered turn: a duty that takes longer than its interval skips
}

func (d *duty) periodic() *queue.PeriodicJob {
	return queue.NewPeriodicJob(queue.PeriodicInterval(d.Every), func() (queue.JobArgs, *queue.InsertOpts) {
		select {
		case d.due <- struct{}{}:
		default:
		}
		return nil, nil // no job
	}, nil)
}

// loop carries the duty out whenever it is this node's turn; an error is one turn missed.
func (d *duty) loop(ctx context.Context, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.due:
		}
		if err := d.Run(ctx); err != nil && ctx.Err() == nil {
			log.Error("carry out a duty", "duty", d.Name, "error", err)
		}
	}
}
