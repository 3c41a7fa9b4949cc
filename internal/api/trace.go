package api

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// span begins the span of a request, in the trace that its traceparent names. It is called by the route's pattern, never
// by its path, and says nothing of the body.
func (s *Server) span(ctx context.Context, r *http.Request) (context.Context, func(c *call, status int)) {
	if s.opts.Tracer == nil {
		return ctx, func(*call, int) {}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	ctx, span := s.opts.Tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
	return ctx, func(c *call, status int) {
		if status == 0 {
			status = http.StatusOK
		}
		span.SetName(r.Method + " " + c.route)
		span.SetAttributes(
			attribute.String("http.request.method", r.Method), attribute.String("http.route", c.route), attribute.Int("http.response.status_code", status),
		)
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(status))
		}
		span.End()
	}
}
