package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"time"
)

// settings are the numbers of a scenario; bench gives the same to every system.
type settings struct {
	n       int           // jobs
	callers int           // who enqueue at once
	workers int           // who work at once
	keys    int           // of which one job each may run at a time, in a burst
	length  time.Duration // of an enqueueing
	every   time.Duration // between two paced jobs
}

// result is what is printed.
type result struct {
	System    string  `json:"system"`
	Version   string  `json:"version"`
	Database  string  `json:"database"`
	Scenario  string  `json:"scenario"`
	N         int     `json:"n"`
	PerSecond float64 `json:"per_second,omitempty"`
	P50       float64 `json:"p50_ms,omitempty"`
	P99       float64 `json:"p99_ms,omitempty"`
	Note      string  `json:"note,omitempty"`
}

// limit ends a scenario that does not end by itself.
const limit = 5 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, limit)
	r, err := run(ctx, os.Args[1:])
	cancel()
	stop()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (r result, err error) {
	var s settings
	set := flag.NewFlagSet("peers", flag.ContinueOnError)
	set.StringVar(&r.System, "system", "", "river or dbos")
	set.StringVar(&r.Database, "database", "", "sqlite or postgres")
	url := set.String("url", "", "an empty Postgres database, or the path of a SQLite file")
	set.StringVar(&r.Scenario, "scenario", "", "enqueue, work, burst or paced")
	set.IntVar(&s.n, "n", 1000, "jobs")
	set.IntVar(&s.callers, "callers", 8, "who enqueue at once")
	set.IntVar(&s.workers, "workers", 8, "who work at once")
	set.IntVar(&s.keys, "keys", 100, "of which one job each may run at a time, in a burst")
	set.DurationVar(&s.length, "for", 2*time.Second, "how long is enqueued")
	set.DurationVar(&s.every, "every", 20*time.Millisecond, "between two paced jobs")
	if err := set.Parse(args); err != nil {
		return r, err
	}
	open, path := systems[r.System], modules[r.System]
	do, known := scenarios[r.Scenario]
	if open == nil || !known {
		return r, fmt.Errorf("no system %q or no scenario %q", r.System, r.Scenario)
	}
	r.Version = version(path)
	keys := 1
	if r.Scenario == "burst" {
		keys = s.keys
	}
	sys, note, err := open(ctx, r.Database, *url, s.workers, keys)
	if err != nil {
		return r, fmt.Errorf("open %s: %w", r.System, err)
	}
	defer sys.close()
	r.Note = note
	return r, do(ctx, sys, s, &r)
}

// version is that of a module this program was built with.
func version(path string) string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}
