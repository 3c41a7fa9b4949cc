package control

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead/fairlead"
)

// untraced ends the span that there is not.
func untraced(error) {}

// span begins the span of a command, if somebody traces. The function that ends it is told the command's error; of that
// only its code is shown.
func (c *Control) span(ctx context.Context, m Meta, cmd *command) (context.Context, func(error)) {
	if c.tracer == nil {
		return ctx, untraced
	}
	ctx, span := c.tracer.Start(ctx, cmd.name, trace.WithAttributes(
		attribute.String("fairlead.workspace", m.Workspace), attribute.String("fairlead.task", cmd.task), attribute.String("fairlead.run", cmd.run),
		attribute.String("fairlead.actor", string(m.Actor.Kind)),
	))
	return ctx, func(err error) {
		var e *fairlead.Error
		switch {
		case errors.As(err, &e):
			span.SetStatus(codes.Error, string(e.Code))
		case err != nil:
			span.SetStatus(codes.Error, "failed")
		}
		span.End()
	}
}

// traceparent is the span that this command belongs to, for a run that goes on with it; "" when nobody traces.
func (w *work) traceparent() string {
	if w.c.tracer == nil {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(w.ctx, carrier)
	return carrier.Get("traceparent")
}
