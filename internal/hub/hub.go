package hub

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Defaults of [Options].
const (
	defaultKeep  = 4096
	defaultBatch = 512
	defaultRetry = 250 * time.Millisecond
	maxRetry     = 5 * time.Second
)

// Options tune a Hub; the zero value of a field is its default.
type Options struct {
	// Keep is how many events the shared ring holds at least; default 4096.
	Keep int
	// Batch is the most events one read of the log returns; default 512.
	Batch int
	// Retry is the first pause after a failed read of the log; it doubles up to 5 s. Default 250 ms.
	Retry time.Duration
	// Log gets a line when the log stops being readable and when it is again; default: none.
	Log *slog.Logger
}

// Hub follows one event log. It is safe for concurrent use.
type Hub struct {
	log  Log
	wake <-chan struct{}
	opts Options

	mu      sync.RWMutex
	ring    ring
	epoch   string
	live    bool          // Run has found the head
	changed chan struct{} // closed and replaced whenever the head moves

	streams atomic.Int64
	behind  atomic.Int64
}

// New makes a hub over a log. A value on wake asks it to look at the log again; values may come late, doubled or for no
// reason. Nothing is read before Run.
func New(log Log, wake <-chan struct{}, o *Options) *Hub {
	h := &Hub{log: log, wake: wake, changed: make(chan struct{})}
	if o != nil {
		h.opts = *o
	}
	if h.opts.Keep <= 0 {
		h.opts.Keep = defaultKeep
	}
	if h.opts.Batch <= 0 {
		h.opts.Batch = defaultBatch
	}
	if h.opts.Retry <= 0 {
		h.opts.Retry = defaultRetry
	}
	if h.opts.Log == nil {
		h.opts.Log = slog.New(slog.DiscardHandler)
	}
	h.ring.size = h.opts.Keep
	return h
}

// Run follows the log until ctx ends, which is not an error. A log that cannot be read is tried again: streams wait.
func (h *Hub) Run(ctx context.Context) error {
	pause := h.opts.Retry
	for {
		err := h.follow(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			if pause != h.opts.Retry {
				pause = h.opts.Retry
				h.opts.Log.Info("event log readable again")
			}
			select {
			case <-ctx.Done():
				return nil
			case <-h.wake:
			}
			continue
		}
		if pause == h.opts.Retry {
			h.opts.Log.Warn("event log unreadable, trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, maxRetry)
	}
}

// follow reads the log up to its end.
func (h *Hub) follow(ctx context.Context) error {
	if !h.live {
		epoch, _, head, err := h.log.Bounds(ctx)
		if err != nil {
			return err
		}
		h.mu.Lock()
		h.epoch, h.live = epoch, true
		h.ring.restart(head)
		h.announce()
		h.mu.Unlock()
	}
	for {
		at := h.ring.head // written by this goroutine alone
		events, upTo, err := h.log.EventsAfter(ctx, at, h.opts.Batch)
		if err != nil {
			return err
		}
		if upTo <= at {
			return nil
		}
		h.mu.Lock()
		h.ring.add(events, upTo)
		h.announce()
		h.mu.Unlock()
	}
}

// announce wakes every waiting stream. The caller holds mu.
func (h *Hub) announce() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// Streams returns how many streams are open.
func (h *Hub) Streams() int64 { return h.streams.Load() }

// Behind returns how often a stream fell out of the ring and had to read the log itself.
func (h *Hub) Behind() int64 { return h.behind.Load() }

// Live reports whether the hub has found the head of its log.
func (h *Hub) Live() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.live
}

// Epoch returns the log's epoch, "" before the hub is live.
func (h *Hub) Epoch() string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.epoch
}
