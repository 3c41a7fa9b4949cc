package local

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/dispatch"
	"github.com/fairlead/fairlead/internal/store"
)

// Options tune a [Dispatcher]; nil means the defaults.
type Options struct {
	// Sweep is how often the node looks without having been woken; default 30 s. It costs next to nothing and heals a
	// wake that went missing.
	Sweep time.Duration
	// NoSweep switches the sweep off, so that a test can show that nothing depends on it.
	NoSweep bool
	// Retry is the wait after a look or a job that returned an error; default 1 s, doubled for each further attempt of
	// a job.
	Retry time.Duration
	// Log gets errors of looks, jobs and duties; nil = discard.
	Log *slog.Logger
}

const (
	defaultSweep = 30 * time.Second
	defaultRetry = time.Second
)

// Dispatcher is the in-process dispatcher. Make it with [New].
type Dispatcher struct {
	db      *store.DB
	options Options
	jobs    queue

	mu     sync.Mutex
	duties []dispatch.Duty
	cancel context.CancelFunc // nil before Start
	done   chan struct{}
}

var _ dispatch.Dispatcher = (*Dispatcher)(nil)

// New makes a dispatcher over an open database.
func New(db *store.DB, o *Options) *Dispatcher {
	d := &Dispatcher{db: db, jobs: queue{more: make(chan struct{}, 1)}}
	if o != nil {
		d.options = *o
	}
	if d.options.Sweep <= 0 {
		d.options.Sweep = defaultSweep
	}
	if d.options.Retry <= 0 {
		d.options.Retry = defaultRetry
	}
	if d.options.Log == nil {
		d.options.Log = slog.New(slog.DiscardHandler)
	}
	return d
}

// WakeTx implements [dispatch.Dispatcher].
func (d *Dispatcher) WakeTx(tx *store.Tx) { tx.Wake(store.TopicRuns) }

// JobTx implements [dispatch.Dispatcher]. The job is kept in memory from the commit on.
func (d *Dispatcher) JobTx(tx *store.Tx, kind string, args []byte) error {
	if kind == "" {
		return fairlead.Errorf(fairlead.CodeInvalid, "a job without a kind").WithOp("add job")
	}
	tx.AfterCommit(func() { d.jobs.add(job{kind: kind, args: args}) })
	return nil
}

// Every implements [dispatch.Dispatcher].
func (d *Dispatcher) Every(duty dispatch.Duty) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.duties = append(d.duties, duty)
}

// Start implements [dispatch.Dispatcher].
func (d *Dispatcher) Start(ctx context.Context, look func(context.Context) error, jobs map[string]dispatch.Job) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cancel != nil {
		return fairlead.Conflict(fairlead.ReasonBusy, "the dispatcher was started before").WithOp("start dispatcher")
	}
	for _, duty := range d.duties {
		if duty.Every <= 0 {
			return fairlead.Errorf(fairlead.CodeInvalid, "a duty without an interval").WithOp("start dispatcher")
		}
	}
	ctx, d.cancel = context.WithCancel(ctx)
	d.done = make(chan struct{})
	// The subscription begins before Start returns: whatever is committed from here on is seen.
	signals := d.db.Signals()
	var running sync.WaitGroup
	running.Go(func() { d.lookLoop(ctx, signals, look) })
	running.Go(func() { d.jobLoop(ctx, jobs) })
	for _, duty := range d.duties {
		running.Go(func() { d.dutyLoop(ctx, duty) })
	}
	go func() {
		running.Wait()
		signals.Close()
		close(d.done)
	}()
	return nil
}

// Stop implements [dispatch.Dispatcher].
func (d *Dispatcher) Stop(ctx context.Context) error {
	d.mu.Lock()
	cancel, done := d.cancel, d.done
	d.mu.Unlock()
	if cancel == nil {
		return nil
	}
	cancel()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop dispatcher: %w", ctx.Err())
	}
}

// lookLoop calls look at the start, at every wake, at every sweep, and again soon after an error.
func (d *Dispatcher) lookLoop(ctx context.Context, signals *store.Signals, look func(context.Context) error) {
	for ctx.Err() == nil {
		err := look(ctx)
		if ctx.Err() != nil {
			return // told to stop while it looked: no error of anybody's
		}
		wait, stop := d.nextLook(err)
		select {
		case <-ctx.Done():
		case <-signals.C(store.TopicRuns):
		case <-wait:
		}
		stop()
	}
}

// nextLook returns when to look without a wake: nil is never.
func (d *Dispatcher) nextLook(err error) (<-chan time.Time, func()) {
	after := d.options.Sweep
	switch {
	case err != nil:
		d.options.Log.Error("look for work", "error", err)
		after = d.options.Retry
	case d.options.NoSweep:
		return nil, func() {}
	}
	t := time.NewTimer(after)
	return t.C, func() { t.Stop() }
}

// dutyLoop carries out one duty; an error is one turn missed.
func (d *Dispatcher) dutyLoop(ctx context.Context, duty dispatch.Duty) {
	t := time.NewTicker(duty.Every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if err := duty.Run(ctx); err != nil && ctx.Err() == nil {
			d.options.Log.Error("carry out a duty", "duty", duty.Name, "error", err)
		}
	}
}
