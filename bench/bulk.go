package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// fillChunk is how many tasks one transaction writes.
const fillChunk = 1000

// fill makes n tasks like the one named, with their visits, straight in the database of a server that does not run.
func fill(ctx context.Context, url, like string, n int) (err error) {
	db, err := store.Open(ctx, url, nil)
	if err != nil {
		return err
	}
	defer func() { err = joinClose(err, db) }()
	var row *store.TaskRow
	var visit fairlead.Visit
	if err := db.Read(ctx, func(tx *store.ReadTx) (err error) {
		if row, err = tx.LoadTask(like); err != nil {
			return err
		}
		visit, err = tx.LoadVisit(like, row.Visit)
		return err
	}); err != nil {
		return err
	}
	for made := 0; made < n; made += fillChunk {
		err := db.Write(ctx, func(tx *store.Tx) error {
			for i := made; i < min(made+fillChunk, n); i++ {
				if err := copyTask(tx, *row, visit, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("fill database: %w", err)
		}
	}
	return nil
}

func copyTask(tx *store.Tx, t store.TaskRow, v fairlead.Visit, i int) error {
	at := tx.Now().Add(time.Duration(i) * time.Microsecond)
	t.ID, t.Number, t.Identifier = fairlead.NewID(fairlead.PrefixTask, at, fairlead.Seed{2}, i), int64(1_000_000+i), fmt.Sprint("X-", i)
	t.Title, t.Position, t.CreatedAt, t.Version = fmt.Sprint("Task ", i, " of the list"), float64(at.UnixMicro()), at, 1
	v.Task = t.ID
	if err := tx.InsertTask(&t); err != nil {
		return err
	}
	return tx.InsertVisit(v)
}

// filled makes a home with n tasks at a working step and no server.
func (b *bench) filled(ctx context.Context, p place, n int) (home string, err error) {
	s, err := b.start(ctx, p, 1)
	if err != nil {
		return "", err
	}
	first, err := s.client.CreateTask(ctx, fairlead.NewTask{Title: "First", Workflow: "bench-queue", Step: "idle", Description: lorem, Labels: []string{"area:list"}})
	if err != nil {
		return "", joinStop(err, s)
	}
	if err := s.stop(); err != nil {
		return "", err
	}
	url := p.url
	if url == "" {
		url = fileOf(s.home)
	}
	return s.home, fill(ctx, url, first.ID, n-1)
}

const lorem = "The list shows this text beside each title, cut where it gets long. It is as long as what people usually write: two or three sentences."

func joinStop(err error, s *server) error { return joinClose(err, stopper{s}) }

type stopper struct{ s *server }

func (s stopper) Close() error { return s.s.stop() }

// listTasks measures pages of a long list, newest first and of one step, and 1,000 tasks in pages of 100.
func listTasks(ctx context.Context, b *bench, p place) error {
	home, err := b.filled(ctx, p, b.size.tasks)
	if err != nil {
		return err
	}
	s, err := serve(ctx, b.bin, home, p.url, 1)
	if err != nil {
		return err
	}
	defer s.stop() //nolint:errcheck // measured already
	w, err := s.wire(ctx)
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // measured already
	for _, q := range []struct{ name, path string }{
		{"page of 100, newest first", "/tasks?limit=100"}, {"page of 100 of one step", "/tasks?limit=100&workflow=bench-queue&step=idle"},
	} {
		l, err := repeat(b.size.pages, func() error { return page(w, q.path, 100) })
		if err != nil {
			return err
		}
		b.add(Result{
			Name: fmt.Sprintf("list: %s, of %d", q.name, b.size.tasks), Database: p.name, Load: &l, Goals: []Goal{below("p50_ms", 20)},
		})
	}
	l, err := repeat(max(b.size.pages/20, 1), func() error { return walk(w, min(1000, b.size.tasks)) })
	if err != nil {
		return err
	}
	b.add(Result{Name: "list: 1,000 tasks in pages of 100", Database: p.name, Load: &l})
	mib, err := s.rss()
	if err != nil {
		return err
	}
	b.add(Result{Name: fmt.Sprintf("memory after listing %d tasks", b.size.tasks), Database: p.name, Value: round(mib), Unit: "MiB", Goals: []Goal{below("value", 200)}})
	return nil
}

// repeat measures one caller doing the same n times; the first few do not count.
func repeat(n int, op func() error) (Load, error) {
	var took []time.Duration
	began := time.Now()
	for i := range n + 3 {
		at := time.Now()
		if err := op(); err != nil {
			return Load{}, err
		}
		if i >= 3 {
			took = append(took, time.Since(at))
		}
	}
	return loadOf(took, time.Since(began)), nil
}

func page(w *wire, path string, want int) error {
	var got fairlead.Page[fairlead.TaskView]
	if err := w.call(http.MethodGet, path, nil, &got); err != nil {
		return err
	}
	if len(got.Items) != want {
		return fmt.Errorf("the page has %d tasks, want %d", len(got.Items), want)
	}
	return nil
}

// walk follows the cursor until n tasks were seen.
func walk(w *wire, n int) error {
	path := "/tasks?limit=100"
	for seen := 0; seen < n; {
		var got fairlead.Page[fairlead.TaskView]
		if err := w.call(http.MethodGet, path, nil, &got); err != nil {
			return err
		}
		if seen += len(got.Items); got.NextCursor == "" && seen < n {
			return fmt.Errorf("the list ended after %d tasks", seen)
		}
		path = "/tasks?limit=100&cursor=" + got.NextCursor
	}
	return nil
}

// startTime measures from the start of the process to its readiness, on a database with many tasks, and what an idle
// server holds in memory.
func startTime(ctx context.Context, b *bench, p place) error {
	home, err := b.filled(ctx, p, b.size.many)
	if err != nil {
		return err
	}
	var took []time.Duration
	var mib float64
	for range b.size.starts {
		s, err := serve(ctx, b.bin, home, p.url, 4)
		if err != nil {
			return err
		}
		took = append(took, s.ready)
		time.Sleep(time.Second) // what starting needed is given back, or stays
		if mib, err = s.rss(); err != nil {
			return joinStop(err, s)
		}
		if err := s.stop(); err != nil {
			return err
		}
	}
	l := loadOf(took, 0)
	b.add(Result{Name: fmt.Sprintf("start with %d tasks", b.size.many), Database: p.name, Load: &l, Goals: []Goal{below("p50_ms", 150)}})
	b.add(Result{Name: "memory, idle", Database: p.name, Value: round(mib), Unit: "MiB", Goals: []Goal{below("value", 60)}})
	return nil
}
