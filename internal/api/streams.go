package api

import (
	"context"
	"sync"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/hub"
)

// Streams opens places in the event log.
type Streams interface {
	Open(ctx context.Context, after string, want hub.Filter) (*hub.Stream, error)
}

var _ Streams = (*hub.Hub)(nil)

// streamSet counts the open streams and can end them all: a server that stops must not wait for readers that never
// leave.
type streamSet struct {
	max int

	mu      sync.Mutex
	next    int
	cancels map[int]context.CancelFunc
	ended   bool
}

func newStreamSet(limit int) *streamSet {
	return &streamSet{max: limit, cancels: map[int]context.CancelFunc{}}
}

// add enters a stream; leave takes it out again and must be called.
func (s *streamSet) add(ctx context.Context) (streaming context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, nil, fairlead.Errorf(fairlead.CodeUnavailable, "the server is stopping").WithHint("connect again in a moment")
	}
	if len(s.cancels) >= s.max {
		return nil, nil, fairlead.Errorf(fairlead.CodeLimited, "too many streams are open").
			WithHint("share one stream between the tabs of a browser")
	}
	streaming, cancel := context.WithCancel(ctx)
	id := s.next
	s.next++
	s.cancels[id] = cancel
	return streaming, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.cancels, id)
	}, nil
}

// end cancels every stream and lets no further one in.
func (s *streamSet) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, cancel := range s.cancels {
		cancel()
	}
}
