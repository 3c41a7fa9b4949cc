package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// shape is a way in which a queue is long.
type shape struct {
	name string
	one  bool // all runs are of one agent; else they are spread over all
	// behind says why nobody may claim them but for a few runs of another agent at the end of the queue; "" = they may be.
	behind string
	goal   bool
}

// What runs wait behind.
const (
	behindPause   = "a paused agent"
	behindBlocker = "a blocker of their tasks"
)

var shapes = []shape{
	{name: "spread over all agents", goal: true},
	{name: "of one agent", one: true, goal: true},
	{name: "behind " + behindPause, one: true, behind: behindPause, goal: true},
	{name: "behind " + behindBlocker, one: true, behind: behindBlocker},
}

// flatClaims measures one claim in queues of growing length. Its time must not grow with them.
func flatClaims(ctx context.Context, b *bench, p place) error {
	s := b.size.queue
	for _, sh := range shapes {
		var first, last float64
		for i, n := range s.flat {
			l, err := b.claimsIn(ctx, p, sh, n)
			if err != nil {
				return fmt.Errorf("%d runs %s: %w", n, sh.name, err)
			}
			b.add(Result{Name: fmt.Sprintf("one claim, %d queued, %s", n, sh.name), Database: p.name, Load: &l})
			if last = l.P50; i == 0 {
				first = l.P50
			}
		}
		r := Result{
			Name: fmt.Sprintf("claim at %d / at %d, %s", s.flat[len(s.flat)-1], s.flat[0], sh.name), Database: p.name,
			Value: round(last / max(first, 0.001)), Unit: "×",
		}
		if sh.goal {
			r.Goals = []Goal{below("value", 2)}
		}
		b.add(r)
	}
	return nil
}

// claimsIn measures a few claims in a queue of n runs, each of which ends before the next.
func (b *bench) claimsIn(ctx context.Context, p place, sh shape, n int) (Load, error) {
	s := b.size.queue
	if p.name == "postgres" { // each length has a database of its own
		url, drop, err := scratchDatabase(ctx, b.admin)
		if err != nil {
			return Load{}, err
		}
		defer drop()
		p.url = url
	}
	q, err := b.furnishedQueue(ctx, p, s.agents)
	if err != nil {
		return Load{}, err
	}
	defer q.db.Close() //nolint:errcheck // a scratch database
	claims := min(s.claims, n/2)
	if err := q.fill(ctx, sh, n, claims); err != nil {
		return Load{}, err
	}
	var took []time.Duration
	for i := range claims {
		at := time.Now()
		k, err := q.claim(ctx)
		if err == nil && k == nil {
			err = errors.New("there was nothing")
		}
		if err != nil {
			return Load{}, fmt.Errorf("claim %d of %d: %w", i, claims, err)
		}
		took = append(took, time.Since(at))
		if err := q.turn(ctx, k); err != nil {
			return Load{}, err
		}
	}
	return loadOf(took, 0), nil
}
