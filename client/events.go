package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Event is an event of the log. Reset says that the place asked for is not kept: nothing but ID is set then, the stream
// goes on from there, and whoever shows something must read it again.
type Event struct {
	fairlead.EventView
	Reset bool
}

// Events follows what happens in the workspace behind the event after ("" = from now on); topics are board, inbox, runs,
// task:ID and run:ID, none = everything. A stream that is cut comes back by itself and goes on where it was. It ends
// when ctx ends (without an error), when the server refuses it, or when it cannot be reached for longer than
// Options.Patience.
func (c *Client) Events(ctx context.Context, after string, topics ...string) iter.Seq2[Event, error] {
	q := Page{}.values("topics", strings.Join(topics, ","))
	return follow(ctx, c, path("events"), q, after, func(f frame) (Event, error) {
		e := Event{Reset: f.event == "reset"}
		err := json.Unmarshal([]byte(f.data), &e.EventView)
		e.ID = f.id
		return e, err
	})
}

// FollowRun follows what a run does behind seq after, like Events.
func (c *Client) FollowRun(ctx context.Context, id string, after int64) iter.Seq2[fairlead.RunEventView, error] {
	return follow(ctx, c, path("runs", id, "events"), url.Values{}, strconv.FormatInt(after, 10), func(f frame) (fairlead.RunEventView, error) {
		var e fairlead.RunEventView
		err := json.Unmarshal([]byte(f.data), &e)
		return e, err
	})
}

// silence is how long a stream may say nothing before it counts as cut: the server gives a sign of life every 15 s.
const silence = 50 * time.Second

// heard puts off the end of patience whenever something arrives.
type heard struct {
	r     io.Reader
	watch *time.Timer
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if n > 0 {
		h.watch.Reset(silence)
	}
	return n, err
}

// follow reads a stream again and again, each time from the last id it saw.
func follow[T any](ctx context.Context, c *Client, path string, q url.Values, after string, decode func(frame) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		s := &follower[T]{client: c, path: path, query: q, after: after, pause: time.Second, decode: decode, yield: yield}
		var lost time.Time
		for {
			err := s.once(ctx)
			switch {
			case s.stopped || ctx.Err() != nil:
				return
			case !s.connected || !passing(err):
				var zero T
				yield(zero, err)
				return
			case s.progress || lost.IsZero():
				lost = time.Now()
			case time.Since(lost) > c.opts.Patience:
				var zero T
				yield(zero, err)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(s.pause):
			}
		}
	}
}

// passing reports whether a failure may go by itself.
func passing(err error) bool {
	var e *fairlead.Error
	if !errors.As(err, &e) {
		return true // the stream broke off
	}
	return e.Code == fairlead.CodeUnavailable || e.Code == fairlead.CodeInternal || e.Code == fairlead.CodeLimited
}

type follower[T any] struct {
	client    *Client
	path      string
	query     url.Values
	after     string
	pause     time.Duration
	decode    func(frame) (T, error)
	yield     func(T, error) bool
	connected bool // at least once
	progress  bool // in the last try
	stopped   bool // by the reader
}

// once reads one connection until it ends; its error says why.
func (s *follower[T]) once(ctx context.Context) error {
	s.progress = false
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := http.Header{"Accept": {"text/event-stream"}}
	if s.after != "" {
		h.Set("Last-Event-ID", s.after)
	}
	r, err := s.client.request(ctx, http.MethodGet, s.path, s.query, nil, h)
	if err != nil {
		return err
	}
	resp, err := s.client.opts.HTTP.Do(r)
	if err != nil {
		return unreachable(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }() // a stream is never read to its end
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	s.connected, s.progress = true, true
	watch := time.AfterFunc(silence, cancel)
	defer watch.Stop()
	stream := newFrames(&heard{r: resp.Body, watch: watch})
	for {
		f, err := stream.next()
		if err != nil {
			return err
		}
		if err := s.take(f); err != nil || s.stopped {
			return err
		}
	}
}

// take hands one frame on. The place is kept only after the reader had the event.
func (s *follower[T]) take(f frame) error {
	if f.retry > 0 {
		s.pause = f.retry
	}
	if f.data != "" {
		v, err := s.decode(f)
		if err != nil {
			return &fairlead.Error{Code: fairlead.CodeRefused, Message: "the server's event cannot be read", Err: err}
		}
		if !s.yield(v, nil) {
			s.stopped = true
			return nil
		}
	}
	if f.id != "" {
		s.after = f.id
	}
	return nil
}
