package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

// Names of the scenarios that peers have too.
const (
	nameEnqueue = "enqueue"
	nameWork    = "claim + complete"
	nameBurst   = "burst"
	namePaced   = "paced: enqueue → start"
)

// enqueueRuns measures what it takes to queue one run durably: a comment that wakes an agent, on a task of its own. Nobody
// works.
func enqueueRuns(ctx context.Context, b *bench, p place) error {
	s := b.size.queue
	q, err := b.furnishedQueue(ctx, p, s.agents)
	if err != nil {
		return err
	}
	defer q.db.Close() //nolint:errcheck // a scratch database
	tasks, err := q.add(ctx, s.callers, max(s.work/2, s.callers), "idle")
	if err != nil {
		return err
	}
	l, err := closedLoop(ctx, s.callers, b.size.bound, func(ctx context.Context, caller, n int) error {
		task := tasks[(caller+n*s.callers)%len(tasks)]
		_, err := q.control.Comment(ctx, benchOwner, task, fairlead.CommentBody{Text: fmt.Sprint("Comment ", n)})
		return err
	})
	if err != nil {
		return err
	}
	b.add(Result{Name: nameEnqueue, Database: p.name, Callers: s.callers, Load: &l})
	return nil
}

// workOffRuns measures claim and completion of runs that wait: three durable commits each.
func workOffRuns(ctx context.Context, b *bench, p place) error {
	s := b.size.queue
	q, err := b.furnishedQueue(ctx, p, s.agents)
	if err != nil {
		return err
	}
	defer q.db.Close() //nolint:errcheck // a scratch database
	if _, err := q.add(ctx, s.callers, s.work, "work"); err != nil {
		return err
	}
	began := time.Now()
	if err := q.workOff(ctx, s.workers, s.work); err != nil {
		return err
	}
	l := Load{Ops: s.work, Seconds: time.Since(began).Seconds(), PerSecond: float64(s.work) / time.Since(began).Seconds()}
	r := Result{Name: nameWork, Database: p.name, Callers: s.workers, Load: &l}
	if p.name == "sqlite" {
		r.Goals = []Goal{atLeast("per_second", 2500)}
	}
	b.add(r)
	return nil
}

// burstOfRuns measures from the first of many tasks, made as fast as callers can, to the end of the last run, while workers
// work. No agent may ever have two live runs.
func burstOfRuns(ctx context.Context, b *bench, p place) error {
	s := b.size.queue
	q, err := b.furnishedQueue(ctx, p, s.agents)
	if err != nil {
		return err
	}
	defer q.db.Close() //nolint:errcheck // a scratch database
	w := watched{live: map[string]string{}}
	began := time.Now()
	made := make(chan error, 1)
	go func() { _, err := q.add(ctx, s.callers, s.burst, "work"); made <- err }()
	pool, err := q.pool(ctx, s.workers, func(k *control.Claimed) error {
		if err := w.begin(k); err != nil {
			return err
		}
		err := w.end(k) // before the end is told: from then on the slot is free
		if err == nil {
			err = q.turn(ctx, k)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := <-made; err != nil {
		return err
	}
	if err := pool.wait(ctx, s.burst); err != nil {
		return err
	}
	took := time.Since(began)
	l := Load{Ops: s.burst, Seconds: took.Seconds(), PerSecond: float64(s.burst) / took.Seconds()}
	b.add(Result{Name: fmt.Sprintf("%s of %d runs over %d agents", nameBurst, s.burst, s.agents), Database: p.name, Callers: s.callers, Load: &l})
	return nil
}

// watched notes which run of an agent is live.
type watched struct {
	mu   sync.Mutex
	live map[string]string
}

func (w *watched) begin(k *control.Claimed) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if other := w.live[k.Run.Agent]; other != "" {
		return fmt.Errorf("runs %s and %s of agent %s are live at once", other, k.Run.ID, k.Run.Agent)
	}
	w.live[k.Run.Agent] = k.Run.ID
	return nil
}

func (w *watched) end(k *control.Claimed) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.live, k.Run.Agent)
	return nil
}

// pacedRuns measures, on an idle queue, from the commit of a wake to the claim of its run in a worker's hands, with nobody
// polling.
func pacedRuns(ctx context.Context, b *bench, p place) error {
	s := b.size.queue
	q, err := b.furnishedQueue(ctx, p, s.agents)
	if err != nil {
		return err
	}
	defer q.db.Close() //nolint:errcheck // a scratch database
	tasks, err := q.add(ctx, s.callers, s.agents, "idle")
	if err != nil {
		return err
	}
	started := make(chan time.Time, 1)
	pool, err := q.pool(ctx, s.workers, func(k *control.Claimed) error {
		started <- time.Now()
		return q.turn(ctx, k)
	})
	if err != nil {
		return err
	}
	var took []time.Duration
	for i := range s.paced {
		time.Sleep(s.rate)
		if _, err := q.control.Comment(ctx, benchOwner, tasks[i%len(tasks)], fairlead.CommentBody{Text: "now"}); err != nil {
			return err
		}
		durable := time.Now()
		select {
		case at := <-started:
			took = append(took, max(at.Sub(durable), 0))
		case <-time.After(10 * time.Second):
			return fmt.Errorf("wake %d was never claimed", i)
		}
	}
	if err := pool.wait(ctx, s.paced); err != nil {
		return err
	}
	l := loadOf(took, 0)
	b.add(Result{Name: namePaced, Database: p.name, Load: &l, Goals: []Goal{below("p50_ms", 5), below("p99_ms", 25)}})
	return nil
}
