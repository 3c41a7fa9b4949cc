package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/fairlead/fairlead"
)

// record is the outermost layer: it lets no panic reach a client, counts every answer and logs each failure of ours
// once.
func (s *Server) record(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		c := &call{method: r.Method, path: r.URL.Path}
		rec := &statusWriter{ResponseWriter: w}
		defer func() {
			if v := recover(); v != nil {
				s.panicked(rec, r, c, v)
			}
			status := rec.status
			if status == 0 {
				status = http.StatusOK
			}
			if !c.stream {
				s.observer.Request(c.method, c.route, status, time.Since(began))
			}
			s.logFailure(r.Context(), c, status)
		}()
		rec.Header().Set("X-Content-Type-Options", "nosniff")
		ctx, end := s.span(withCall(r.Context(), c), r)
		defer func() { end(c, rec.status) }()
		next(rec, r.WithContext(ctx))
	}
}

// panicked answers a request whose handler panicked. When the answer has begun there is no way to take it back: the
// connection is cut, so that half an answer is not taken for a whole one.
func (s *Server) panicked(w *statusWriter, r *http.Request, c *call, v any) {
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v)
	}
	s.observer.Panic()
	s.log.LogAttrs(r.Context(), slog.LevelError, "handler panicked",
		slog.String("method", c.method), slog.String("route", c.route), slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
	c.err = nil // said already
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	writeProblem(w, fairlead.Errorf(fairlead.CodeInternal, "panic"))
}

func (s *Server) logFailure(ctx context.Context, c *call, status int) {
	if c.err == nil || status < http.StatusInternalServerError && !c.stream {
		return
	}
	if errors.Is(c.err, context.Canceled) {
		return // the caller has gone; nobody failed
	}
	s.log.LogAttrs(ctx, slog.LevelError, "request failed",
		slog.String("method", c.method), slog.String("route", c.route), slog.Int("status", status),
		slog.String("actor", c.caller.Actor.String()), slog.Any("error", c.err))
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets a response controller reach deadlines and flushing.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// nobody observes nothing.
type nobody struct{}

func (nobody) Request(string, string, int, time.Duration) {}
func (nobody) Stream(int)                                 {}
func (nobody) Panic()                                     {}
