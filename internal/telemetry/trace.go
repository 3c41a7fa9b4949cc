package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracerName is the instrumentation scope of every span.
const tracerName = "github.com/fairlead/fairlead"

// flushLimit bounds how long a stop waits for a collector.
const flushLimit = 3 * time.Second

// Traces sends the spans of one server to a collector. The zero value of *Traces, nil, is tracing switched off.
type Traces struct {
	provider *sdktrace.TracerProvider
	dropped  *atomic.Int64
}

// NewTraces begins to send spans over OTLP/HTTP to where the OTEL_EXPORTER_OTLP_* variables of OpenTelemetry say, by default
// to a collector on this machine. A collector that cannot be reached stops nothing: its spans are dropped and counted, and
// the log hears of the first failure.
func NewTraces(ctx context.Context, log *slog.Logger) (*Traces, error) {
	out, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("make trace exporter: %w", err)
	}
	return newTraces(out, log), nil
}

func newTraces(out sdktrace.SpanExporter, log *slog.Logger) *Traces {
	t := &Traces{dropped: &atomic.Int64{}}
	t.provider = sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(&patient{SpanExporter: out, dropped: t.dropped, log: log}),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", namespace))),
	)
	return t
}

// Tracer makes spans; nil when tracing is off.
func (t *Traces) Tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(tracerName)
}

// Dropped is how many spans no collector took.
func (t *Traces) Dropped() float64 {
	if t == nil {
		return 0
	}
	return float64(t.dropped.Load())
}

// Close sends what is left, for a few seconds at most. What is not taken by then is lost.
func (t *Traces) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send last spans: %w", err)
	}
	return nil
}

// patient is an exporter whose failures stop nobody and fill no log.
type patient struct {
	sdktrace.SpanExporter
	dropped *atomic.Int64
	log     *slog.Logger
	told    sync.Once
}

// ExportSpans implements sdktrace.SpanExporter.
func (p *patient) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := p.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		p.dropped.Add(int64(len(spans)))
		p.told.Do(func() { p.log.Warn("spans are dropped: no collector takes them", "error", err) })
	}
	return nil
}
