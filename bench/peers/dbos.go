package main

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // its other database
)

// dbosQueue is DBOS: workflows without steps on one queue.
type dbosQueue struct {
	runtime dbos.Context
	client  dbos.Client
	keys    int
	started func(int)
}

const (
	dbosApp     = "peers"
	dbosVersion = "1"
	dbosQueueOf = "work"
	dbosJob     = "number"
	// The polling interval is the least at which its latency got no better here.
	dbosPoll = 5 * time.Millisecond
)

func openDBOS(ctx context.Context, database, url string, workers, keys int) (system, string, error) {
	if database == "sqlite" {
		url = "sqlite:" + url
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	q := &dbosQueue{keys: keys}
	var err error
	q.runtime, err = dbos.NewContext(ctx, dbos.Config{AppName: dbosApp, ApplicationVersion: dbosVersion, DatabaseURL: url, Logger: quiet})
	if err != nil {
		return nil, "", err
	}
	dbos.RegisterWorkflow(q.runtime, func(_ dbos.Context, n int) (int, error) {
		q.started(n)
		return n, nil
	}, dbos.WithWorkflowName(dbosJob))
	note := "workflows without steps, polled every " + dbosPoll.String()
	options := []dbos.QueueOption{dbos.WithQueueBasePollingInterval(dbosPoll)}
	if keys > 1 {
		options = append(options, dbos.WithPartitionConcurrency(1))
		note += "; a partition with concurrency 1 for each key"
	} else {
		options = append(options, dbos.WithWorkerConcurrency(workers))
	}
	if _, err := dbos.RegisterQueue(q.runtime, dbosQueueOf, options...); err != nil {
		return nil, "", err
	}
	q.client, err = dbos.NewClient(ctx, dbos.ClientConfig{DatabaseURL: url, Logger: quiet})
	return q, note, err
}

func (q *dbosQueue) enqueue(_ context.Context, job, key int) error {
	options := []dbos.EnqueueOption{dbos.WithEnqueueApplicationVersion(dbosVersion), dbos.WithEnqueueApplicationName(dbosApp)}
	if q.keys > 1 {
		options = append(options, dbos.WithEnqueueQueuePartitionKey(strconv.Itoa(key)))
	}
	_, err := dbos.Enqueue[int](q.client, dbosQueueOf, dbosJob, job, options...)
	return err
}

func (q *dbosQueue) work(_ context.Context, started func(int)) error {
	q.started = started
	return dbos.Launch(q.runtime)
}

func (q *dbosQueue) rest(context.Context) error { return dbos.Shutdown(q.runtime, 30*time.Second) }

func (q *dbosQueue) close() { _ = dbos.Shutdown(q.client, time.Second) }
