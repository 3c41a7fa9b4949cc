package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"
)

// bench is one run of the program.
type bench struct {
	dir    string // scratch
	bin    string
	out    io.Writer
	report *Report
	size   size
	admin  string // Postgres with the right to create databases; "" = none
}

// size says how much is measured.
type size struct {
	bound    bound
	callers  []int
	moved    int // tasks that are moved
	claims   int // comments that are followed to their claims
	launches int
	queued   int // runs that wait while agents are launched
	tasks    int // of a list
	pages    int // how often a page is asked for
	many     int // tasks a server starts with
	starts   int
	rounds   int // of baseline and engine, turn and turn about
	queue    queueSize
}

var (
	full = size{
		bound: bound{warm: time.Second, run: 4 * time.Second}, callers: []int{1, 8, 32}, moved: 512, claims: 300, launches: 400, queued: 1000,
		tasks: 10_000, pages: 200, many: 100_000, starts: 5, rounds: 4, queue: fullQueue,
	}
	quick = size{
		bound: bound{warm: 50 * time.Millisecond, run: 200 * time.Millisecond}, callers: []int{1, 8}, moved: 16, claims: 5, launches: 5, queued: 20,
		tasks: 250, pages: 3, many: 500, starts: 1, rounds: 1, queue: quickQueue,
	}
)

// place is a database a scenario runs on.
type place struct {
	name string // sqlite or postgres
	url  string // "" = the home's file
}

// scenario is one measurement; each has what it needs to itself.
type scenario struct {
	name string
	run  func(ctx context.Context, b *bench, p place) error
	// once is for what does not depend on the database.
	once bool
}

func scenarios() []scenario {
	return []scenario{
		{name: "binary", run: binarySize, once: true},
		{name: "engine", run: engineRatio, once: true},
		{name: "create", run: createTasks},
		{name: "move", run: moveTasks},
		{name: "claim", run: claimLatency},
		{name: "launch", run: launchLatency},
		{name: "list", run: listTasks},
		{name: "start", run: startTime},
		{name: "enqueue", run: enqueueRuns},
		{name: "work", run: workOffRuns},
		{name: "paced", run: pacedRuns},
		{name: "burst", run: burstOfRuns},
		{name: "peers", run: measurePeers},
		{name: "nodes", run: workOnNodes},
		{name: "flat", run: flatClaims},
	}
}

func (b *bench) add(r Result) { b.report.add(b.out, r) }

// attempt runs a scenario on every database it is for.
func (b *bench) attempt(ctx context.Context, s scenario) error {
	places := []place{{name: "sqlite"}}
	if b.admin != "" && !s.once {
		places = append(places, place{name: "postgres"})
	}
	for _, p := range places {
		if err := b.on(ctx, s, p); err != nil {
			return fmt.Errorf("%s on %s: %w", s.name, p.name, err)
		}
	}
	return nil
}

func (b *bench) on(ctx context.Context, s scenario, p place) error {
	if p.name == "postgres" {
		url, drop, err := scratchDatabase(ctx, b.admin)
		if err != nil {
			return err
		}
		defer drop()
		p.url = url
	}
	return s.run(ctx, b, p)
}

// round is a figure with no more digits than it deserves.
func round(v float64) float64 { return math.Round(v*100) / 100 }
