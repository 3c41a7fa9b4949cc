package api

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/hub"
)

type runEventsInput struct {
	Scope
	ID
	After       int64  `query:"after" minimum:"0" doc:"The last seq that the caller has."`
	Accept      string `header:"Accept" doc:"text/event-stream follows the run; the id of an event is its seq."`
	LastEventID string `header:"Last-Event-ID" maxLength:"20" doc:"Beats after, on a stream."`
}

// runEvents lists what a run did, or follows it when the caller accepts a stream.
func (s *Server) runEvents(ctx context.Context, in *runEventsInput) (*streamed, error) {
	workspace, err := in.resolve(ctx)
	if err != nil {
		return nil, err
	}
	if acceptsStream(in.Accept) {
		return s.followRun(ctx, workspace, in)
	}
	p, err := s.RunReads.RunEvents(ctx, workspace, in.ID.ID, in.After)
	if err != nil {
		return nil, err
	}
	if p.Items == nil {
		p.Items = []fairlead.RunEventView{}
	}
	body, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return &streamed{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "application/json")
		_, _ = hc.BodyWriter().Write(append(body, '\n')) // a caller who has gone
	}}, nil
}

func (s *Server) followRun(ctx context.Context, workspace string, in *runEventsInput) (*streamed, error) {
	after := in.After
	if in.LastEventID != "" {
		seq, err := strconv.ParseInt(in.LastEventID, 10, 64)
		if err != nil || seq < 0 {
			return nil, fairlead.Errorf(fairlead.CodeInvalid, "Last-Event-ID is not a seq of this run").WithHint("leave it out to begin anew")
		}
		after = seq
	}
	v, err := s.RunReads.GetRun(ctx, workspace, in.ID.ID)
	if err != nil {
		return nil, err
	}
	streaming, leave, err := s.open.add(ctx)
	if err != nil {
		return nil, err
	}
	// The place is taken before the first look, so that nothing falls between the two.
	stream, err := s.Streams.Open(ctx, "", func(e *fairlead.Event) bool { return e.Run == v.ID })
	if err != nil {
		leave()
		return nil, err
	}
	return &streamed{Body: func(hc huma.Context) {
		defer leave()
		defer stream.Close()
		w, ok := s.beginStream(streaming, hc)
		if !ok {
			return
		}
		defer s.observer.Stream(-1)
		w.buf.WriteString("\n")
		s.tellRun(streaming, w, stream, workspace, v.ID, after)
	}}, nil
}

// tellRun writes what the run did after a seq, and goes on whenever the log speaks of the run.
func (s *Server) tellRun(ctx context.Context, w *sse, stream *hub.Stream, workspace, run string, after int64) {
	look := true
	for {
		for look {
			p, err := s.RunReads.RunEvents(ctx, workspace, run, after)
			if err != nil {
				callOf(ctx).err = err
				return
			}
			for i := range p.Items {
				e := &p.Items[i]
				data, err := json.Marshal(e)
				if err != nil {
					callOf(ctx).err = err
					return
				}
				w.event(strconv.FormatInt(e.Seq, 10), e.Kind, data)
				after = e.Seq
			}
			look = len(p.Items) > 0 && p.NextCursor != ""
		}
		if err := w.send(); err != nil {
			return
		}
		beat, cancel := context.WithTimeout(ctx, s.opts.Heartbeat)
		_, err := stream.Next(beat)
		cancel()
		switch {
		case err == nil, errors.Is(err, hub.ErrReset):
			look = true
		case ctx.Err() != nil:
			return
		case errors.Is(err, context.DeadlineExceeded):
			w.alive()
		default:
			callOf(ctx).err = err
			return
		}
	}
}
