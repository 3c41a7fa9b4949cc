package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead/fairlead"
)

// Defaults of [Options].
const (
	defaultHeartbeat  = 15 * time.Second
	defaultSlow       = 10 * time.Second
	defaultRetry      = time.Second
	defaultStreams    = 1000
	defaultDrain      = 10 * time.Second
	readHeaderTimeout = 5 * time.Second
	idleTimeout       = 120 * time.Second
	writeTimeout      = 60 * time.Second
	maxHeader         = 64 << 10
)

// Options tune a Server; the zero value of a field is its default.
type Options struct {
	// Addr is the address the server was told to listen on; its host is a name the server answers to.
	Addr string
	// Hosts are further names the server answers to, "name" or "name:port".
	Hosts []string
	// Heartbeat is the pause between signs of life on a stream; default 15 s.
	Heartbeat time.Duration
	// Slow is how long one write to a stream may take before the stream is closed; default 10 s.
	Slow time.Duration
	// Retry is how long clients are told to wait before they open a stream again; default 1 s.
	Retry time.Duration
	// MaxStreams bounds the streams open at once; default 1000.
	MaxStreams int
	// Drain is how long a stopping server waits for requests in progress; default 10 s.
	Drain time.Duration
	// Tracer makes a span of every request; default: none.
	Tracer trace.Tracer
	// Log gets failures of the server's own; default: none.
	Log *slog.Logger
}

// Server is the HTTP API. It is safe for concurrent use.
type Server struct {
	Deps
	opts     Options
	log      *slog.Logger
	observer Observer
	door     *door
	mux      *http.ServeMux
	api      huma.API
	document func() ([]byte, error) // the OpenAPI document
	open     *streamSet
}

// New makes a server; nothing runs before Serve. It panics when its own routes contradict each other.
func New(d Deps, o *Options) *Server {
	configure()
	s := &Server{Deps: d, log: slog.New(slog.DiscardHandler), observer: d.Observer, mux: http.NewServeMux()}
	if o != nil {
		s.opts = *o
	}
	if s.opts.Heartbeat <= 0 {
		s.opts.Heartbeat = defaultHeartbeat
	}
	if s.opts.Slow <= 0 {
		s.opts.Slow = defaultSlow
	}
	if s.opts.Retry <= 0 {
		s.opts.Retry = defaultRetry
	}
	if s.opts.MaxStreams <= 0 {
		s.opts.MaxStreams = defaultStreams
	}
	if s.opts.Drain <= 0 {
		s.opts.Drain = defaultDrain
	}
	if s.opts.Log != nil {
		s.log = s.opts.Log
	}
	if s.observer == nil {
		s.observer = nobody{}
	}
	s.door = newDoor(s.opts.Addr, s.opts.Hosts, d.Auth)
	s.open = newStreamSet(s.opts.MaxStreams)
	s.api = humago.New(s.mux, newConfig())
	s.routes()
	s.document = completeDocument(s.api.OpenAPI())
	return s
}

// Handler returns the whole API, door included.
func (s *Server) Handler() http.Handler { return s.record(s.serve) }

// serve passes one request through the layers.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	c := callOf(r.Context())
	if err := s.door.admit(r, c); err != nil {
		if fairlead.IsCode(err, fairlead.CodeUnauthenticated) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="fairlead"`)
		}
		c.err = err
		writeProblem(w, err)
		return
	}
	handler, pattern := s.mux.Handler(r)
	if pattern == "" || r.URL.Path != cleanPath(r.URL.Path) {
		s.unrouted(w, r, handler)
		return
	}
	_, c.route, _ = strings.Cut(pattern, " ")
	if err := takeBody(w, r, c); err != nil {
		c.err = err
		// What is left of the body would be taken for the next request.
		w.Header().Set("Connection", "close")
		writeProblem(w, err)
		return
	}
	if !acceptsStream(r.Header.Get("Accept")) {
		r.Header.Del("Accept") // there is one format; nothing to negotiate
	}
	w.Header().Set("Cache-Control", "no-store")
	s.mux.ServeHTTP(w, r)
}

// unrouted answers a request that no route takes, with the methods that one would take if there are any.
func (s *Server) unrouted(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	probe := &probeWriter{header: http.Header{}}
	if r.URL.Path == cleanPath(r.URL.Path) {
		handler.ServeHTTP(probe, r)
	}
	if probe.status != http.StatusMethodNotAllowed {
		writeProblem(w, fairlead.Errorf(fairlead.CodeNotFound, "there is nothing under this path").
			WithHint("the routes are listed in /openapi.json"))
		return
	}
	allow := probe.header.Get("Allow")
	w.Header().Set("Allow", allow)
	writeProblem(w, fairlead.Errorf(fairlead.CodeMethod, "this path does not take that method").WithHint("it takes %s", allow))
}

func cleanPath(p string) string {
	if p == "" {
		return "/"
	}
	return path.Clean(p)
}

// probeWriter takes the router's own answer, of which only status and Allow are kept.
type probeWriter struct {
	header http.Header
	status int
}

func (p *probeWriter) Header() http.Header         { return p.header }
func (p *probeWriter) Write(b []byte) (int, error) { return len(b), nil }
func (p *probeWriter) WriteHeader(status int)      { p.status = status }

// Serve answers requests on l until ctx ends; then it takes no more, ends streams at once, waits for the other requests
// in progress, and cuts those that take longer than the drain. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		WriteTimeout:      writeTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		s.open.end()
		return fmt.Errorf("serve http: %w", err)
	case <-ctx.Done():
	}
	s.open.end()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Drain)
	defer cancel()
	err := srv.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	if serving := <-done; err == nil && !errors.Is(serving, http.ErrServerClosed) {
		err = serving
	}
	if err != nil {
		return fmt.Errorf("stop http: %w", err)
	}
	return nil
}
