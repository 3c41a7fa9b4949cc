package control

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// shared is a database as its nodes see it, in memory.
type shared struct {
	mu     sync.Mutex
	beats  map[int64]int64 // by live epoch
	away   bool
	hangs  chan struct{} // not nil: every renewal waits for it
	offset map[int64]time.Duration
	dead   []int64
	heirs  map[int64]int    // takeovers, by heir
	clock  map[int64][]bool // what was told of clocks
}

func newShared(epochs ...int64) *shared {
	s := &shared{beats: map[int64]int64{}, offset: map[int64]time.Duration{}, heirs: map[int64]int{}, clock: map[int64][]bool{}}
	for _, e := range epochs {
		s.beats[e] = 0
	}
	return s
}

func (s *shared) renew(_ context.Context, n Node) (renewal, error) {
	s.mu.Lock()
	hangs := s.hangs
	s.mu.Unlock()
	if hangs != nil {
		<-hangs
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return renewal{}, errors.New("the database is away")
	}
	r := renewal{clock: time.Now().Add(-s.offset[n.Epoch])}
	if _, r.alive = s.beats[n.Epoch]; r.alive {
		s.beats[n.Epoch]++
	}
	for e, c := range s.beats {
		if e != n.Epoch {
			r.others = append(r.others, beat{epoch: e, counter: c})
		}
	}
	return r, nil
}

func (s *shared) bury(_ context.Context, _ string, epoch int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, live := s.beats[epoch]; live {
		delete(s.beats, epoch)
		s.dead = append(s.dead, epoch)
	}
	return nil
}

func (s *shared) setClock(_ context.Context, n Node, offset time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock[n.Epoch] = append(s.clock[n.Epoch], offset.Abs() > clockTolerance)
	return nil
}

func (s *shared) Recover(_ context.Context, n Node) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heirs[n.Epoch]++
	return nil
}

func (s *shared) DeliverOutbox(context.Context) error { return nil }

func (s *shared) set(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

func (s *shared) buried() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.dead)
}

// kept is one running keeper.
type kept struct {
	cuts   atomic.Int32
	until  atomic.Int64 // a duration
	slept  atomic.Int64 // how long its machine slept, which only Boot knows
	ended  chan error
	cancel context.CancelFunc
}

func (s *shared) keep(t *testing.T, epoch int64) *kept {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	k := &kept{ended: make(chan error, 1), cancel: cancel}
	kp := &keeper{base: s, log: slog.New(slog.DiscardHandler), node: Node{Epoch: epoch}, hooks: Keeping{
		Boot: func() time.Duration { return time.Hour + time.Since(began) + time.Duration(k.slept.Load()) }, Extend: func(u time.Duration) { k.until.Store(int64(u)) }, Cut: func() { k.cuts.Add(1) },
	}}
	go func() { k.ended <- kp.run(ctx); kp.sweeping.Wait() }()
	t.Cleanup(cancel)
	return k
}

// later lets virtual time pass and everything that it starts come to rest.
func later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestR9_ALongTurnKeepsItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared(1, 2)
		a, b := s.keep(t, 1), s.keep(t, 2)
		later(3 * time.Hour)
		if dead := s.buried(); len(dead) > 0 || a.cuts.Load()+b.cuts.Load() > 0 {
			t.Errorf("after three hours got %v dead, %d cuts; want none", dead, a.cuts.Load()+b.cuts.Load())
		}
		if want := time.Hour + 3*time.Hour + leaseTime; time.Duration(a.until.Load()) != want {
			t.Errorf("got wardens told %v, want %v: 20 s after the last renewal", time.Duration(a.until.Load()), want)
		}
		a.cancel()
		b.cancel()
		synctest.Wait()
	})
}

func TestR10_AStoppedNodeIsDeadAndFindsItOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared(1, 2)
		a := s.keep(t, 1)
		later(35 * time.Second)
		if dead := s.buried(); !slices.Equal(dead, []int64{2}) {
			t.Fatalf("got %v dead after 35 s, want the epoch that never beat", dead)
		}
		if s.heirs[1] == 0 {
			t.Error("nobody took over")
		}
		b := s.keep(t, 2) // goes on
		if err := <-b.ended; !errors.Is(err, ErrEpochDead) {
			t.Errorf("got %v, want that its epoch is dead", err)
		}
		a.cancel()
		synctest.Wait()
	})
}

// TestR10_ALeaseThatRunsOutCutsOffWhatRuns: a database that hangs is as bad as one that is away.
func TestR10_ALeaseThatRunsOutCutsOffWhatRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared(1)
		a := s.keep(t, 1)
		later(4 * time.Second)
		hangs := make(chan struct{})
		s.set(func() { s.hangs = hangs })
		later(leaseTime - 4*time.Second - 1)
		if a.cuts.Load() != 0 {
			t.Error("cut off before the lease ran out")
		}
		later(time.Second)
		if a.cuts.Load() != 1 {
			t.Errorf("got %d cuts when the lease had run out, want 1", a.cuts.Load())
		}
		later(time.Minute)
		s.set(func() { s.hangs = nil })
		close(hangs)
		later(nodeBeat)
		s.set(func() { s.away = true })
		later(time.Minute)
		if a.cuts.Load() != 2 {
			t.Errorf("got %d cuts after the lease had run out twice, want 2", a.cuts.Load())
		}
		a.cancel()
		synctest.Wait()
	})
}

func TestR42_AFailoverKillsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared(1, 2, 3)
		nodes := []*kept{s.keep(t, 1), s.keep(t, 2), s.keep(t, 3)}
		for range 5 {
			later(61 * time.Second)
			s.set(func() { s.away = true })
			later(40 * time.Second)
			s.set(func() { s.away = false })
		}
		later(5 * time.Minute)
		if dead := s.buried(); len(dead) > 0 {
			t.Errorf("got %v declared dead, want nobody", dead)
		}
		for _, k := range nodes {
			k.cancel()
		}
		synctest.Wait()
	})
}

func TestR40_OnlyTheNodeWhoseClockIsOffIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared(1, 2)
		s.offset[1], s.offset[2] = 80*time.Millisecond, time.Hour
		a, b := s.keep(t, 1), s.keep(t, 2)
		later(time.Minute)
		if slices.Contains(s.clock[1], true) || slices.Contains(s.clock[2], false) {
			t.Errorf("got off: %v and %v, want the second alone, at each renewal", s.clock[1], s.clock[2])
		}
		a.cancel()
		b.cancel()
		synctest.Wait()
	})
}
