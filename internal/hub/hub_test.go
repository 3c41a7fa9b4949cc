package hub

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
)

// memLog is the in-memory twin of the store's event log.
type memLog struct {
	mu     sync.Mutex
	epoch  string
	events []fairlead.Event
	pruned int64
	fail   error
	reads  int
	wake   chan struct{}
}

func newMemLog() *memLog { return &memLog{epoch: "ep", wake: make(chan struct{}, 1)} }

func (l *memLog) Bounds(context.Context) (string, int64, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	head := int64(len(l.events))
	tail := l.pruned + 1
	if head == 0 {
		tail = 0
	}
	return l.epoch, tail, head, l.fail
}

func (l *memLog) EventsAfter(_ context.Context, position int64, limit int) ([]fairlead.Event, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	if l.fail != nil {
		return nil, position, l.fail
	}
	position = max(position, l.pruned)
	end := min(int64(len(l.events)), position+int64(limit))
	if end <= position {
		return nil, position, nil
	}
	return l.events[position:end:end], end, nil
}

func (l *memLog) add(kinds ...fairlead.EventKind) {
	l.mu.Lock()
	for _, k := range kinds {
		l.events = append(l.events, fairlead.Event{Position: int64(len(l.events)) + 1, Kind: k, Workspace: "main"})
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *memLog) set(change func(*memLog)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

// start runs a hub for the length of a test.
func start(t *testing.T, l *memLog, o *Options) *Hub {
	t.Helper()
	h := New(l, l.wake, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run = %v, want nil after its context", err)
		}
	})
	return h
}

func positions(events []fairlead.Event) []int64 {
	var out []int64
	for i := range events {
		out = append(out, events[i].Position)
	}
	return out
}

func TestStreamFollowsTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newMemLog()
		l.add("task.created", "task.moved")
		h := start(t, l, nil)
		synctest.Wait()
		s, err := h.Open(t.Context(), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got, want := s.ID(), "ep-2"; got != want {
			t.Errorf("a stream without a place stands at %q, want the head %q", got, want)
		}
		l.add("run.queued", "run.claimed")
		got, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{3, 4}, positions(got)); diff != "" {
			t.Error(diff)
		}
		if h.Streams() != 1 || !h.Live() || h.Epoch() != "ep" {
			t.Errorf("streams %d, live %v, epoch %q", h.Streams(), h.Live(), h.Epoch())
		}
	})
}

func TestStreamWaitsUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newMemLog()
		h := start(t, l, nil)
		s, err := h.Open(t.Context(), "", func(e *fairlead.Event) bool { return e.Kind == "wanted" })
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		l.add("other", "other")
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Next = %v, want the deadline", err)
		}
		if waited := time.Since(began); waited != 15*time.Second {
			t.Errorf("waited %v", waited)
		}
		if got, want := s.ID(), "ep-2"; got != want {
			t.Errorf("filtered events left the stream at %q, want %q", got, want)
		}
	})
}

func TestOpenResets(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, after string
		reset       bool
	}{
		{"the oldest place that is kept", "ep-4", false},
		{"in the middle", "ep-7", false},
		{"the head", "ep-10", false},
		{"older than what is kept", "ep-3", true},
		{"above the head", "ep-11", true},
		{"another epoch", "xx-7", true},
		{"no id", "7", true},
		{"no number", "ep-seven", true},
		{"negative", "ep--1", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := newMemLog()
			for range 10 {
				l.add("task.moved")
			}
			l.pruned = 4
			s, err := New(l, l.wake, nil).Open(t.Context(), tc.after, nil)
			if got := errors.Is(err, ErrReset); got != tc.reset {
				t.Fatalf("Open = %v, want reset %v", err, tc.reset)
			}
			if tc.reset && s.ID() != "ep-10" {
				t.Errorf("after the reset the stream stands at %q, want the head", s.ID())
			}
			s.Close()
			s.Close()
			if s.hub.Streams() != 0 {
				t.Error("a closed stream is still counted")
			}
		})
	}
}

func TestSlowStreamReadsTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newMemLog()
		h := start(t, l, &Options{Keep: 4, Batch: 3})
		synctest.Wait()
		s, err := h.Open(t.Context(), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		l.add("task.created")
		if _, err := s.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 40 {
			l.add("task.moved")
			synctest.Wait()
		}
		var got []int64
		for len(got) < 40 {
			events, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, positions(events)...)
		}
		for i, p := range got {
			if p != int64(i)+2 {
				t.Fatalf("event %d has position %d", i, p)
			}
		}
		if h.Behind() == 0 {
			t.Error("nobody counted that the stream fell behind")
		}
	})
}

func TestPrunedUnderAStreamResets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newMemLog()
		h := start(t, l, &Options{Keep: 2, Batch: 2})
		synctest.Wait()
		s, err := h.Open(t.Context(), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for range 20 {
			l.add("task.moved")
			synctest.Wait()
		}
		l.set(func(l *memLog) { l.pruned = 10 })
		if _, err := s.Next(t.Context()); !errors.Is(err, ErrReset) {
			t.Fatalf("Next = %v, want a reset", err)
		}
		l.add("task.archived")
		got, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{21}, positions(got)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHubOutlivesAnUnreadableLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newMemLog()
		l.fail = errors.New("gone")
		h := start(t, l, nil)
		synctest.Wait()
		if h.Live() {
			t.Error("live without a log")
		}
		if _, err := h.Open(t.Context(), "", nil); err == nil {
			t.Error("Open on an unreadable log succeeded")
		}
		l.set(func(l *memLog) { l.fail = nil })
		time.Sleep(maxRetry) // the clock of the bubble
		synctest.Wait()
		if !h.Live() {
			t.Error("not live although the log is back")
		}
	})
}

// A stream that is cut anywhere and opened again at its last place yields what an uncut one yields (S10).
func TestS10_CutStreamsYieldEachEventOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		total := rapid.IntRange(1, 120).Draw(rt, "events")
		keep := rapid.IntRange(1, 20).Draw(rt, "keep")
		batch := rapid.IntRange(1, 10).Draw(rt, "batch")
		seed := rapid.Uint64().Draw(rt, "seed")
		l := newMemLog()
		h := New(l, l.wake, &Options{Keep: keep, Batch: batch})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		done := make(chan struct{})
		go func() { defer close(done); _ = h.Run(ctx) }()
		rnd := rand.New(rand.NewPCG(seed, 1))
		s, err := h.Open(ctx, FormatID("ep", 0), nil)
		if err != nil {
			rt.Fatal(err)
		}
		go func() {
			for i := range total {
				l.add(fairlead.EventKind(fmt.Sprint("k", i)))
			}
		}()
		next := int64(1)
		for next <= int64(total) {
			events, err := s.Next(ctx)
			if err != nil {
				rt.Fatal(err)
			}
			take := rnd.IntN(len(events)) + 1 // the rest is lost with the connection
			for _, e := range events[:take] {
				if e.Position != next {
					rt.Fatalf("position %d, want %d", e.Position, next)
				}
				next++
			}
			if take < len(events) || rnd.IntN(3) == 0 {
				id := s.IDOf(&events[take-1])
				s.Close()
				if s, err = h.Open(ctx, id, nil); err != nil {
					rt.Fatal(err)
				}
			}
		}
		s.Close()
		cancel()
		<-done
		if h.Streams() != 0 {
			rt.Fatalf("%d streams left open", h.Streams())
		}
	})
}
