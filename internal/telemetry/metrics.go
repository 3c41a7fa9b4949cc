package telemetry

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// namespace is the first word of every metric's name.
const namespace = "fairlead"

// Metrics are the measurements of one server. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	streams  prometheus.Gauge
	panics   prometheus.Counter
	claims   prometheus.Histogram
}

// NewMetrics makes a registry with the metrics of the HTTP door, the Go runtime and the process.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "http", Name: "requests_total",
			Help: "Answered HTTP requests by route and status.",
		}, []string{"method", "route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: "http", Name: "request_seconds",
			Help:    "Time from a request's headers to the end of its answer; streams are not measured.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .02, .04, .1, .25, .5, 1, 2.5, 10},
		}, []string{"method", "route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: "http", Name: "streams",
			Help: "Open event streams.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "http", Name: "panics_total",
			Help: "Requests that ended in a panic.",
		}),
		claims: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "claim_seconds",
			Help:    "Time from the wake that asked for a run, or the end of its wait, to its claim by this node.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .1, .5, 1, 5, 30, 120, 600},
		}),
	}
	m.registry.MustRegister(m.requests, m.latency, m.streams, m.panics, m.claims,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Request records one answered request. route is its pattern, "" when no route matched.
func (m *Metrics) Request(method, route string, status int, took time.Duration) {
	method = boundedMethod(method)
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(method, route).Observe(took.Seconds())
}

// Stream records that a stream was opened (1) or closed (-1).
func (m *Metrics) Stream(delta int) { m.streams.Add(float64(delta)) }

// Claim records how long a run waited for its claim, holds included.
func (m *Metrics) Claim(waited time.Duration) { m.claims.Observe(waited.Seconds()) }

// Panic records a request that ended in a panic.
func (m *Metrics) Panic() { m.panics.Inc() }

// Gauge publishes a number that is read when somebody asks. name gets the namespace in front unless it stands there
// already; two of one name panic.
func (m *Metrics) Gauge(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: bare(name), Help: help}, read))
}

// Counter publishes a number that only grows and is read when somebody asks, like Gauge.
func (m *Metrics) Counter(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: namespace, Name: bare(name), Help: help}, read))
}

// Handler serves the metrics in Prometheus' text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func bare(name string) string { return strings.TrimPrefix(name, namespace+"_") }

// boundedMethod keeps invented methods from making a time series each.
func boundedMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}
