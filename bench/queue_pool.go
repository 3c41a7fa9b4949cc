package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead/internal/control"
)

// pool is a node's worker: it looks when it is woken, claims until it misses or has no slot, and looks again when a slot
// gets free.
type pool struct {
	q     *queue
	slots chan struct{}
	again chan struct{} // a slot is free
	done  atomic.Int64
	fault chan error
	stop  func()
}

// pool starts workers that do each claimed run by work.
func (q *queue) pool(ctx context.Context, workers int, work func(*control.Claimed) error) (*pool, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &pool{q: q, slots: make(chan struct{}, workers), again: make(chan struct{}, 1), fault: make(chan error, 1), stop: cancel}
	look := func(ctx context.Context) error { return p.look(ctx, work) }
	if err := q.looks.Start(ctx, look, nil); err != nil {
		cancel()
		return nil, err
	}
	go func() { // what the dispatcher does for a worker's free slots
		for {
			select {
			case <-p.again:
				p.tell(p.look(ctx, work))
			case <-ctx.Done():
				return
			}
		}
	}()
	return p, nil
}

func (p *pool) tell(err error) {
	if err != nil {
		select {
		case p.fault <- err:
		default:
		}
	}
}

func (p *pool) look(ctx context.Context, work func(*control.Claimed) error) error {
	for {
		select {
		case p.slots <- struct{}{}:
		default:
			return nil // the end of a run looks again
		}
		k, err := p.q.claim(ctx)
		if err != nil || k == nil {
			<-p.slots
			return err
		}
		go func() {
			p.tell(work(k))
			p.done.Add(1)
			<-p.slots
			select {
			case p.again <- struct{}{}:
			default:
			}
		}()
	}
}

// wait waits until so many runs are done, then ends the pool.
func (p *pool) wait(ctx context.Context, n int) error {
	const patience = 10 * time.Minute
	deadline := time.After(patience)
	for p.done.Load() < int64(n) {
		select {
		case err := <-p.fault:
			return errors.Join(err, p.end(ctx))
		case <-deadline:
			return errors.Join(fmt.Errorf("%d of %d runs are done after %v", p.done.Load(), n, patience), p.end(ctx))
		case <-time.After(time.Millisecond):
		}
	}
	return p.end(ctx)
}

func (p *pool) end(ctx context.Context) error {
	err := p.q.looks.Stop(ctx)
	p.stop()
	return err
}
