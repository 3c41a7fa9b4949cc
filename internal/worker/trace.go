package worker

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/control"
)

// span begins the span of a claimed run: it goes on with the trace of what first asked for it, and is linked to those of
// whatever else it took up. Every attempt and every claim after an interruption has one of its own in the same trace.
func (d *drive) span(ctx context.Context) (context.Context, func(*control.TurnEnd)) {
	if d.w.Tracer == nil {
		return ctx, func(*control.TurnEnd) {}
	}
	var links []trace.Link
	for i, wake := range d.c.Wakes {
		from := remote(wake)
		switch {
		case !from.IsValid():
		case i == 0:
			ctx = trace.ContextWithRemoteSpanContext(ctx, from)
		default:
			links = append(links, trace.Link{SpanContext: from})
		}
	}
	r := &d.c.Run
	ctx, span := d.w.Tracer.Start(ctx, "run", trace.WithLinks(links...), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("fairlead.run", r.ID), attribute.String("fairlead.task", r.Task), attribute.String("fairlead.agent", r.Agent),
		attribute.String("fairlead.workflow", d.c.Task.Workflow), attribute.String("fairlead.step", r.Step), attribute.Int("fairlead.visit", r.Visit),
		attribute.Int("fairlead.attempt", r.Attempt), attribute.Int64("fairlead.fence", r.Fence.Number), attribute.String("fairlead.node", r.Node),
		attribute.Bool("fairlead.interrupted", d.c.Interrupted), attribute.Int64("fairlead.waited_ms", r.ClaimedAt.Sub(r.DueAt).Milliseconds()),
	))
	return ctx, func(end *control.TurnEnd) {
		if end != nil {
			span.SetAttributes(attribute.String("fairlead.stop_reason", end.StopReason))
			if end.Failure != nil {
				span.SetStatus(codes.Error, string(end.Failure.Class))
			}
		}
		span.End()
	}
}

// remote is the span of a command that woke, perhaps on another node.
func remote(w fairlead.Wake) trace.SpanContext {
	carrier := propagation.MapCarrier{"traceparent": w.Trace}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}

// toolSpan begins the span of one call of a tool.
func (d *drive) toolSpan(ctx context.Context, call agent.Call) (context.Context, func(agent.Result)) {
	if d.w.Tracer == nil {
		return ctx, func(agent.Result) {}
	}
	// The agent's own context knows nothing of the run's span.
	ctx = trace.ContextWithSpan(ctx, trace.SpanFromContext(d.traced))
	ctx, span := d.w.Tracer.Start(ctx, "tool "+call.Name, trace.WithAttributes(attribute.String("fairlead.call", call.ID)))
	return ctx, func(r agent.Result) {
		span.SetAttributes(attribute.String("fairlead.outcome", string(r.Outcome)))
		span.End()
	}
}
