package api

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/hub"
)

// bench is a server over a fake control and a real hub.
type bench struct {
	t      *testing.T
	fake   *fake
	hub    *hub.Hub
	server *Server
	log    *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newBench(t *testing.T, o *Options) *bench {
	t.Helper()
	b := &bench{t: t, fake: newFake(), log: &lockedBuffer{}}
	b.hub = hub.New(b.fake.log, b.fake.log.wake, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = b.hub.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	var opts Options
	if o != nil {
		opts = *o
	}
	opts.Addr = "127.0.0.1:7420"
	opts.Log = slog.New(slog.NewTextHandler(b.log, nil))
	d := b.fake.deps(b.hub)
	d.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, "metrics") })
	b.server = New(d, &opts)
	return b
}

// head are headers of a request; "-Name" takes one away that every request has.
type head map[string]string

// send makes one request as the owner would.
func (b *bench) send(method, target string, h head, body string) *httptest.ResponseRecorder {
	b.t.Helper()
	var r *http.Request
	if body == "" {
		r = httptest.NewRequest(method, target, nil)
	} else {
		r = httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	r.Host = "localhost:7420"
	r.Header.Set("Authorization", "Bearer "+ownerToken)
	for name, value := range h {
		switch {
		case name == "Host":
			r.Host = value
		case strings.HasPrefix(name, "-"):
			r.Header.Del(name[1:])
		default:
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	b.server.Handler().ServeHTTP(w, r)
	return w
}

// task makes a task and returns its id.
func (b *bench) task() string {
	b.t.Helper()
	w := b.send("POST", "/api/v1/tasks", nil, `{"title":"one"}`)
	return decode[fairlead.TaskView](b.t, w).ID
}

func decode[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return v
}

// wantProblem checks that an answer is a problem of this status and code, with the media type and without a value that
// the caller sent.
func wantProblem(t *testing.T, w *httptest.ResponseRecorder, status int, code fairlead.Code) Problem {
	t.Helper()
	if w.Code != status {
		t.Errorf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	if got := w.Header().Get("Content-Type"); got != problemType {
		t.Errorf("Content-Type %q, want %q", got, problemType)
	}
	p := decode[Problem](t, w)
	if p.Code != code || p.Status != status || p.Title != http.StatusText(status) || p.Type == "" {
		t.Errorf("problem %s, want code %s and status %d", w.Body, code, status)
	}
	if strings.Contains(w.Body.String(), "hunter2") {
		t.Errorf("the answer repeats what was sent: %s", w.Body)
	}
	if status < 500 && p.Hint == "" && code != fairlead.CodeNotFound {
		t.Errorf("problem without a hint: %s", w.Body)
	}
	return p
}
