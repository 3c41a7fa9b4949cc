package telemetry

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

func TestLogger(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		o    *LogOptions
		want []string
		not  []string
	}{
		{"defaults", nil, []string{"level=INFO", "task=FL-1", "(hidden)"}, []string{"quiet", "hunter2"}},
		{"json", &LogOptions{Format: "json"}, []string{`"task":"FL-1"`}, []string{"quiet", "hunter2"}},
		{"debug", &LogOptions{Level: "debug"}, []string{"quiet"}, nil},
		{"error", &LogOptions{Level: "ERROR"}, nil, []string{"moved"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			log, err := NewLogger(&out, tc.o)
			if err != nil {
				t.Fatal(err)
			}
			log.Debug("quiet")
			log.Info("moved", "task", "FL-1", "token", "hunter2")
			for _, want := range tc.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in %s", want, out.String())
				}
			}
			for _, not := range tc.not {
				if strings.Contains(out.String(), not) {
					t.Errorf("%q is in %s", not, out.String())
				}
			}
		})
	}
}

func TestLoggerRefusesUnknownWords(t *testing.T) {
	t.Parallel()
	for _, o := range []*LogOptions{{Level: "loud"}, {Format: "xml"}} {
		if _, err := NewLogger(&bytes.Buffer{}, o); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("NewLogger(%+v) = %v, want invalid", *o, err)
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	m := NewMetrics()
	NewMetrics() // a second server in the process has its own
	m.Request("GET", "/api/v1/tasks/{id}", 200, 3*time.Millisecond)
	m.Request("BREW", "", 405, time.Millisecond)
	m.Stream(1)
	m.Stream(1)
	m.Stream(-1)
	m.Panic()
	m.Gauge("queue_depth", "Queued runs.", func() float64 { return 7 })
	m.Counter("fairlead_streams_behind_total", "Streams that fell behind.", func() float64 { return 2 })
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`fairlead_http_requests_total{method="GET",route="/api/v1/tasks/{id}",status="200"} 1`,
		`fairlead_http_requests_total{method="other",route="",status="405"} 1`,
		`fairlead_http_request_seconds_bucket{method="GET",route="/api/v1/tasks/{id}",le="0.005"} 1`,
		"fairlead_http_streams 1", "fairlead_http_panics_total 1", "fairlead_queue_depth 7",
		"fairlead_streams_behind_total 2", "go_goroutines",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}
