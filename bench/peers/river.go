package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite" // the driver
)

// riverQueue is River over one of its drivers. T is the driver's transaction.
type riverQueue[T any] struct {
	client *river.Client[T]
	jobs   *riverJobs
	keys   int
	end    func()
}

// number is a job.
type number struct {
	N int `json:"n"`
}

// Kind implements river.JobArgs.
func (number) Kind() string { return "number" }

type riverJobs struct {
	river.WorkerDefaults[number]
	started func(int)
}

// Work implements river.Worker.
func (w *riverJobs) Work(_ context.Context, j *river.Job[number]) error {
	w.started(j.Args.N)
	return nil
}

func openRiver(ctx context.Context, database, url string, workers, keys int) (system, string, error) {
	if database == "postgres" {
		pool, err := pgxpool.New(ctx, url)
		if err != nil {
			return nil, "", err
		}
		return newRiver[pgx.Tx](ctx, riverpgxv5.New(pool), workers, keys, 100*time.Millisecond, pool.Close)
	}
	db, err := sql.Open("sqlite", "file:"+url+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return nil, "", err
	}
	db.SetMaxOpenConns(1) // as its documentation advises
	return newRiver[*sql.Tx](ctx, riversqlite.New(db), workers, keys, 10*time.Millisecond, func() { _ = db.Close() })
}

func newRiver[T any](ctx context.Context, driver riverdriver.Driver[T], workers, keys int, poll time.Duration, end func()) (system, string, error) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return nil, "", err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, "", err
	}
	queues := map[string]river.QueueConfig{}
	note := "at its least FetchCooldown; completions are recorded in batches, after the job"
	for k := range keys {
		queues[queueOf(k)] = river.QueueConfig{MaxWorkers: workers}
		if keys > 1 {
			queues[queueOf(k)] = river.QueueConfig{MaxWorkers: 1}
		}
	}
	if keys > 1 {
		note += "; a queue with one worker for each key, whose limit holds in one process only"
	}
	jobs := &riverJobs{}
	crew := river.NewWorkers()
	river.AddWorker(crew, jobs)
	client, err := river.NewClient(driver, &river.Config{
		Logger: quiet, Workers: crew, Queues: queues, FetchCooldown: river.FetchCooldownMin, FetchPollInterval: poll,
	})
	return &riverQueue[T]{client: client, jobs: jobs, keys: keys, end: end}, note, err
}

func queueOf(key int) string { return fmt.Sprint("key", key) }

func (q *riverQueue[T]) enqueue(ctx context.Context, job, key int) error {
	_, err := q.client.Insert(ctx, number{job}, &river.InsertOpts{Queue: queueOf(key % q.keys)})
	return err
}

func (q *riverQueue[T]) work(ctx context.Context, started func(int)) error {
	q.jobs.started = started
	return q.client.Start(ctx)
}

func (q *riverQueue[T]) rest(ctx context.Context) error { return q.client.Stop(ctx) }
func (q *riverQueue[T]) close()                         { q.end() }
