package e2e

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead/client"
)

// cutter ends the body of every stream after some bytes, as a bad network does.
type cutter struct {
	http.RoundTripper
	mu     sync.Mutex
	random *rand.Rand
	cuts   int
}

func (c *cutter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	if err != nil {
		return resp, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cuts++
	limit := int64(1 + c.random.IntN(20000)) // also within a frame
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, limit), resp.Body}
	return resp, nil
}

// S10: a client that is cut at any point and reconnects sees the same events as an uncut one, each once, also over a
// kill of the server.
func TestS10_CutAndReconnected(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		s.save(kanban)
		from := s.head(t)
		for i := range 40 {
			task := s.task("plain")
			s.comment(task.ID, fmt.Sprintf("word %d", i))
			s.move(task.ID, "b")
		}
		last := s.task("plain")
		s.move(last.ID, "z")
		end := s.head(t)
		uncut := s.read(t, s.client, from, end)
		if len(uncut) < 150 {
			t.Fatalf("%d events", len(uncut))
		}
		c := &cutter{RoundTripper: http.DefaultTransport, random: rand.New(rand.NewPCG(1, 2))}
		bad := must(client.New(s.url, s.token, &client.Options{HTTP: &http.Client{Transport: c}}))(t)
		cut := s.read(t, bad, from, end)
		if diff := cmp.Diff(uncut, cut); diff != "" {
			t.Errorf("events (-uncut +cut):\n%s", diff)
		}
		t.Logf("%d events, %d connections", len(cut), c.cuts)
		if c.cuts < 3 {
			t.Errorf("only %d connections", c.cuts)
		}
		s.kill()
		s = s.again(options{db: db})
		if diff := cmp.Diff(uncut, s.read(t, s.client, from, end)); diff != "" {
			t.Errorf("events after a kill (-before +after):\n%s", diff)
		}
		half := uncut[len(uncut)/2]
		if diff := cmp.Diff(uncut[len(uncut)/2+1:], s.read(t, s.client, half, end)); diff != "" {
			t.Errorf("events after Last-Event-ID (-want +got):\n%s", diff)
		}
	})
}

// head is the id of the newest event: a place of another log is answered by a reset that names it.
func (s *server) head(t *testing.T) string {
	t.Helper()
	for ev, err := range s.client.Events(t.Context(), "0-0") {
		if err != nil || !ev.Reset {
			t.Fatalf("no reset: %+v %v", ev, err)
		}
		return ev.ID
	}
	t.Fatal("no event")
	return ""
}

// read returns the ids of the events after from up to end.
func (s *server) read(t *testing.T, c *client.Client, from, end string) (ids []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	for ev, err := range c.Events(ctx, from) {
		if err != nil || ev.Reset {
			t.Fatalf("read events: %+v %v", ev, err)
		}
		if slices.Contains(ids, ev.ID) {
			t.Fatalf("the event %s came twice", ev.ID)
		}
		ids = append(ids, ev.ID)
		if ev.ID == end {
			return ids
		}
	}
	t.Fatalf("the stream ended before %s", end)
	return nil
}
