package hub

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead/fairlead"
)

// ErrReset says that a stream's place in the log is gone. The stream already stands at the head and goes on from there;
// whoever reads it must take a new picture of the world.
var ErrReset = errors.New("event log: position is not kept")

// Filter says whether a stream wants an event; nil wants all.
type Filter func(*fairlead.Event) bool

// Stream is one reader of the log. It is for one goroutine, and closed by its owner.
type Stream struct {
	hub      *Hub
	want     Filter
	epoch    string
	position int64
	joined   bool // has been served by the ring
	closed   bool
}

// Open starts a stream behind the event named by after; "" starts at the head. When that place cannot be served the
// stream starts at the head too and err is [ErrReset] beside a usable stream.
func (h *Hub) Open(ctx context.Context, after string, want Filter) (*Stream, error) {
	epoch, tail, head, err := h.log.Bounds(ctx)
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	s := &Stream{hub: h, want: want, epoch: epoch, position: head}
	h.streams.Add(1)
	if after == "" {
		return s, nil
	}
	position, ok := parseID(epoch, after)
	if !ok || position > head || position < tail-1 {
		return s, ErrReset
	}
	s.position = position
	return s, nil
}

// Close gives the stream back.
func (s *Stream) Close() {
	if !s.closed {
		s.closed = true
		s.hub.streams.Add(-1)
	}
}

// ID names the stream's place: everything up to it was yielded or filtered out.
func (s *Stream) ID() string { return FormatID(s.epoch, s.position) }

// IDOf is the id of one event of the stream's log.
func (s *Stream) IDOf(e *fairlead.Event) string { return FormatID(s.epoch, e.Position) }

// Next returns the next events, at least one; it waits for them until ctx ends and then returns ctx's error. After
// [ErrReset] the stream stands at the head. The events are shared: they must not be changed.
func (s *Stream) Next(ctx context.Context) ([]fairlead.Event, error) {
	for {
		events, changed, err := s.poll(ctx)
		if err != nil {
			return nil, err
		}
		if len(events) > 0 {
			return events, nil
		}
		if changed == nil {
			continue // moved on without a match
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// poll makes one step. A channel says that the stream is at the head, and closes when the head moves.
func (s *Stream) poll(ctx context.Context) (matching []fairlead.Event, changed <-chan struct{}, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	h := s.hub
	h.mu.RLock()
	changed, live := h.changed, h.live
	events, upTo, ok := h.ring.after(s.position, h.opts.Batch)
	h.mu.RUnlock()
	switch {
	case !live:
		return nil, changed, nil
	case !ok:
		if s.joined {
			s.joined = false
			h.behind.Add(1)
		}
		events, upTo, err = s.read(ctx)
		if err != nil {
			return nil, nil, err
		}
	default:
		s.joined = true
	}
	if upTo <= s.position {
		return nil, changed, nil
	}
	s.position = upTo
	return s.filter(events), nil, nil
}

// read serves the stream from the log itself. What was pruned cannot be told apart from what never was, so the bounds
// are read after the events: whatever was gone when the events were read is gone from the bounds too.
func (s *Stream) read(ctx context.Context) ([]fairlead.Event, int64, error) {
	events, upTo, err := s.hub.log.EventsAfter(ctx, s.position, s.hub.opts.Batch)
	if err != nil {
		return nil, 0, fmt.Errorf("read events: %w", err)
	}
	epoch, tail, head, err := s.hub.log.Bounds(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("read events: %w", err)
	}
	if epoch != s.epoch || s.position < tail-1 {
		s.epoch, s.position = epoch, head
		return nil, 0, ErrReset
	}
	return events, upTo, nil
}

func (s *Stream) filter(events []fairlead.Event) []fairlead.Event {
	if s.want == nil {
		return events
	}
	var out []fairlead.Event
	for i := range events {
		if s.want(&events[i]) {
			out = append(out, events[i])
		}
	}
	return out
}
