package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/hub"
)

// eventReset tells a client that its place in the log is gone: it must read again what it shows.
const eventReset = "reset"

// streamed is an answer that a function writes.
type streamed struct {
	Body func(huma.Context)
}

type eventsInput struct {
	Scope
	After       string `query:"after" maxLength:"100" doc:"Id of the last event that the caller has; default: only what comes."`
	LastEventID string `header:"Last-Event-ID" maxLength:"100" doc:"Beats after."`
	Topics      string `query:"topics" maxLength:"4000" doc:"board, inbox, runs, task:ID, run:ID, separated by commas; default everything."`
}

// events opens a stream of the workspace's events.
func (s *Server) events(ctx context.Context, in *eventsInput) (*streamed, error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	want, err := s.topicFilter(ctx, workspace, in.Topics)
	if err != nil {
		return nil, err
	}
	after := in.LastEventID
	if after == "" {
		after = in.After
	}
	streaming, leave, err := s.open.add(ctx)
	if err != nil {
		return nil, err
	}
	stream, err := s.Streams.Open(ctx, after, want)
	if err != nil && !errors.Is(err, hub.ErrReset) {
		leave()
		return nil, fmt.Errorf("open stream: %w", err)
	}
	reset := err != nil
	return &streamed{Body: func(hc huma.Context) {
		defer leave()
		defer stream.Close()
		w, ok := s.beginStream(streaming, hc)
		if !ok {
			return
		}
		defer s.observer.Stream(-1)
		s.follow(streaming, w, stream, reset)
	}}, nil
}

// beginStream writes the head of a stream's answer; ok is false when the caller asked for nothing but that.
func (s *Server) beginStream(ctx context.Context, hc huma.Context) (w *sse, ok bool) {
	r, writer := humago.Unwrap(hc)
	w = newSSE(writer, s.opts.Slow)
	if r.Method == http.MethodHead {
		return nil, false
	}
	callOf(ctx).stream = true
	s.observer.Stream(1)
	w.retry(s.opts.Retry)
	return w, true
}

// follow writes a stream until its reader leaves, is too slow, or the server stops.
func (s *Server) follow(ctx context.Context, w *sse, stream *hub.Stream, reset bool) {
	told := stream.ID()
	if reset {
		w.event(told, eventReset, resetData(told))
	} else {
		w.place(told) // so that a client that is cut before its first event resumes here
	}
	for {
		if err := w.send(); err != nil {
			return
		}
		beat, cancel := context.WithTimeout(ctx, s.opts.Heartbeat)
		events, err := stream.Next(beat)
		cancel()
		switch {
		case err == nil:
			for i := range events {
				told = stream.IDOf(&events[i])
				w.event(told, string(events[i].Kind), eventData(told, &events[i]))
			}
		case ctx.Err() != nil:
			return
		case errors.Is(err, hub.ErrReset):
			told = stream.ID()
			w.event(told, eventReset, resetData(told))
		case errors.Is(err, context.DeadlineExceeded):
			w.alive()
			if at := stream.ID(); at != told { // what was filtered out need not be read again
				told = at
				w.place(at)
			}
		default:
			callOf(ctx).err = err
			return // the reader resumes
		}
	}
}

func eventData(id string, e *fairlead.Event) []byte {
	data, err := json.Marshal(fairlead.EventView{
		ID: id, Kind: e.Kind, At: fairlead.StampOf(e.At), Workspace: e.Workspace, Task: e.Task, Visit: e.Visit,
		Run: e.Run, Actor: e.Actor, Version: e.Version, Data: e.Data,
	})
	if err != nil { // only Data could fail, and the log holds what was once marshalled
		return resetData(id)
	}
	return data
}

// resetData names the head from which the stream goes on.
func resetData(id string) []byte {
	data, err := json.Marshal(map[string]string{"id": id, "kind": eventReset})
	if err != nil {
		return []byte("{}") // two strings always marshal
	}
	return data
}
