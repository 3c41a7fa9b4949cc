package river

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/dispatch"
	"github.com/fairlead/fairlead/internal/dispatch/local"
	"github.com/fairlead/fairlead/internal/store"
)

// Options tune a [Dispatcher]; nil means the defaults.
type Options struct {
	// Sweep, NoSweep and Retry are those of looks; see [local.Options].
	Sweep   time.Duration
	NoSweep bool
	Retry   time.Duration
	// JobRetry is the wait after a job's first failure; default 1 s, doubled for each further one.
	JobRetry time.Duration
	// Log gets errors of looks, jobs and duties, and River's warnings; nil = discard.
	Log *slog.Logger
}

// Bounds of background jobs.
const (
	schema   = "river"
	queueOf  = "fairlead"
	workers  = 2                // jobs at once on one node
	jobLimit = time.Minute      // one try of a job
	rescue   = 90 * time.Second // a try that has said nothing for so long died with its node
	attempts = 8
	maxConns = 6 // of the pool that River has for itself
	poll     = time.Second
	cooldown = 100 * time.Millisecond
)

// Dispatcher is the dispatcher of one node. Make it with [New].
type Dispatcher struct {
	db      *store.DB
	options Options
	looks   *local.Dispatcher     // wakes are the store's signals
	insert  *queue.Client[pgx.Tx] // only inserts, in the store's transactions

	mu      sync.Mutex
	duties  []*duty
	started bool
	pool    *pgxpool.Pool // nil before Start
	client  *queue.Client[pgx.Tx]
	cancel  context.CancelFunc
	turns   sync.WaitGroup // of duties
}

var _ dispatch.Dispatcher = (*Dispatcher)(nil)

// New makes a dispatcher over an open Postgres database and brings River's own tables to the version that this program
// knows. Nothing runs yet.
func New(ctx context.Context, db *store.DB, o *Options) (*Dispatcher, error) {
	d := &Dispatcher{db: db}
	if o != nil {
		d.options = *o
	}
	if d.options.JobRetry <= 0 {
		d.options.JobRetry = time.Second
	}
	if d.options.Log == nil {
		d.options.Log = slog.New(slog.DiscardHandler)
	}
	if db.Postgres() == nil {
		return nil, fairlead.Errorf(fairlead.CodeInternal, "River needs Postgres").WithOp("make dispatcher")
	}
	d.looks = local.New(db, &local.Options{Sweep: d.options.Sweep, NoSweep: d.options.NoSweep, Retry: d.options.Retry, Log: d.options.Log})
	if err := migrate(ctx, db, d.options.Log); err != nil {
		return nil, fmt.Errorf("migrate River's tables: %w", err)
	}
	var err error
	if d.insert, err = queue.NewClient(riverpgxv5.New(nil), &queue.Config{Schema: schema, Logger: quiet(d.options.Log)}); err != nil {
		return nil, fmt.Errorf("make job inserter: %w", err)
	}
	return d, nil
}

// WakeTx implements [dispatch.Dispatcher]: a broadcast in the transaction.
func (d *Dispatcher) WakeTx(tx *store.Tx) { d.looks.WakeTx(tx) }

// JobTx implements [dispatch.Dispatcher]: the job is a row of the same transaction.
func (d *Dispatcher) JobTx(tx *store.Tx, kind string, args []byte) error {
	if kind == "" {
		return fairlead.Errorf(fairlead.CodeInvalid, "a job without a kind").WithOp("add job")
	}
	return tx.Foreign(func(ctx context.Context, guest pgx.Tx) error {
		if _, err := d.insert.InsertTx(ctx, guest, job{Of: kind, Args: args}, nil); err != nil {
			return fmt.Errorf("add job: %w", err)
		}
		return nil
	})
}

// Every implements [dispatch.Dispatcher].
func (d *Dispatcher) Every(one dispatch.Duty) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.duties = append(d.duties, &duty{Duty: one, due: make(chan struct{}, 1)})
}

// Start implements [dispatch.Dispatcher].
func (d *Dispatcher) Start(ctx context.Context, look func(context.Context) error, jobs map[string]dispatch.Job) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.started {
		return fairlead.Conflict(fairlead.ReasonBusy, "the dispatcher was started before").WithOp("start dispatcher")
	}
	d.started = true
	for _, one := range d.duties {
		if one.Every <= 0 {
			return fairlead.Errorf(fairlead.CodeInvalid, "a duty without an interval").WithOp("start dispatcher")
		}
	}
	ctx, d.cancel = context.WithCancel(ctx)
	err := d.startJobs(ctx, jobs)
	if err == nil {
		err = d.looks.Start(ctx, look, nil)
	}
	if err != nil {
		d.cancel()
		return fmt.Errorf("start dispatcher: %w", err)
	}
	for _, one := range d.duties {
		d.turns.Go(func() { one.loop(ctx, d.options.Log) })
	}
	return nil
}

func (d *Dispatcher) startJobs(ctx context.Context, jobs map[string]dispatch.Job) (err error) {
	if d.pool, err = connect(ctx, d.db, maxConns); err != nil {
		return err
	}
	crew := queue.NewWorkers()
	if err := queue.AddWorkerSafely(crew, &worker{jobs: jobs, retry: d.options.JobRetry, log: d.options.Log}); err != nil {
		return err
	}
	var periodic []*queue.PeriodicJob
	for _, one := range d.duties {
		periodic = append(periodic, one.periodic())
	}
	d.client, err = queue.NewClient(riverpgxv5.New(d.pool), &queue.Config{
		Schema: schema, Logger: quiet(d.options.Log), Workers: crew, PeriodicJobs: periodic,
		Queues:     map[string]queue.QueueConfig{queueOf: {MaxWorkers: workers}},
		JobTimeout: jobLimit, RescueStuckJobsAfter: rescue, MaxAttempts: attempts,
		FetchCooldown: cooldown, FetchPollInterval: poll,
	})
	if err != nil {
		return err
	}
	return d.client.Start(ctx)
}

// Stop implements [dispatch.Dispatcher]. A job that was cut short runs again elsewhere.
func (d *Dispatcher) Stop(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.started {
		return nil
	}
	d.cancel()
	errs := []error{d.looks.Stop(ctx)}
	if d.client != nil {
		if err := d.client.StopAndCancel(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop jobs: %w", err))
		}
		d.client = nil
	}
	d.turns.Wait()
	if d.pool != nil {
		d.pool.Close()
		d.pool = nil
	}
	return errors.Join(errs...)
}
