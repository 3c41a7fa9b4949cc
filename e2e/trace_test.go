package e2e

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

// spans is a collector that keeps what it is sent.
type spans struct {
	*httptest.Server
	mu   sync.Mutex
	got  []*traces.Span
	asks int
}

func newSpans(t *testing.T) *spans {
	t.Helper()
	c := &spans{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(body, &sent) != nil {
			http.Error(w, "not spans", http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asks++
		for _, rs := range sent.GetResourceSpans() {
			for _, ss := range rs.GetScopeSpans() {
				c.got = append(c.got, ss.GetSpans()...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// one returns the span whose name begins with a text, of a parent if one is given.
func (c *spans) one(t *testing.T, name string, parent *traces.Span) *traces.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.got, func(s *traces.Span) bool {
		return strings.HasPrefix(s.GetName(), name) && (parent == nil || string(s.GetParentSpanId()) == string(parent.GetSpanId()))
	})
	if i < 0 {
		var names []string
		for _, s := range c.got {
			names = append(names, s.GetName())
		}
		t.Fatalf("no span %q of its parent among %q", name, names)
	}
	if parent != nil && string(c.got[i].GetTraceId()) != string(parent.GetTraceId()) {
		t.Errorf("span %q is in another trace than its parent", name)
	}
	return c.got[i]
}

// TestTraces_FromTheRequestToItsRun: one trace leads from a request through its command to the run, which another process
// works on later, and to the agent's tools.
func TestTraces_FromTheRequestToItsRun(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		c := newSpans(t)
		o := options{db: db, args: []string{"--traces", "otlp"}, env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL}}
		s := start(t, o)
		s.agent("calm", "  - do:\n      - tool: {name: shell, args: {command: 'true'}}\n      - say: done\n")
		s.save(oneStep("calm"))
		must(s.client.PauseAgent(t.Context(), "calm", fairlead.PauseBody{}))(t)
		const theirs = "0af7651916cd43dd8448eb211c80319c"
		task := s.traced(t, "00-"+theirs+"-b7ad6b7169203331-01")
		s.stop()
		s = s.again(o)
		must(s.client.ResumeAgent(t.Context(), "calm", fairlead.PauseBody{}))(t)
		s.at(task, "done")
		s.stop()
		command := c.one(t, "create task", nil)
		if got := hex.EncodeToString(command.GetTraceId()); got != theirs {
			t.Errorf("trace %s, want that of the request", got)
		}
		run := c.one(t, "run", command)
		c.one(t, "tool shell", run)
		c.one(t, "report", run)
		for _, span := range c.got {
			for _, a := range span.GetAttributes() {
				if strings.Contains(a.GetValue().GetStringValue(), "secret title") || strings.Contains(a.GetValue().GetStringValue(), s.token) {
					t.Errorf("span %q says %s", span.GetName(), a)
				}
			}
		}
	})
}

// traced makes a task by a request that belongs to a trace, and returns its id.
func (s *server) traced(t *testing.T, traceparent string) string {
	t.Helper()
	body := strings.NewReader(`{"title": "a secret title", "workflow": "one"}`)
	r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1/tasks", body))(t)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Traceparent", traceparent)
	answer := must(http.DefaultClient.Do(r))(t)
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("create task: %s", answer.Status)
	}
	page := must(s.client.ListTasks(t.Context(), client.TaskQuery{}))(t)
	return page.Items[0].ID
}

// TestTraces_OffByDefault: nothing is sent anywhere, whatever the environment says of collectors; and one that is not there
// stops nobody.
func TestTraces_OffByDefault(t *testing.T) {
	t.Parallel()
	c := newSpans(t)
	s := start(t, options{env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL}})
	s.agent("calm", says)
	s.save(oneStep("calm"))
	s.at(s.task("one").ID, "done")
	s.stop()
	if c.asks != 0 {
		t.Errorf("%d requests came to the collector", c.asks)
	}
	gone := start(t, options{args: []string{"--traces", "otlp"}, env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT=100"}})
	gone.agent("calm", says)
	gone.save(oneStep("calm"))
	gone.at(gone.task("one").ID, "done")
	if code := gone.stop(); code != 0 {
		t.Errorf("exit %d without a collector:\n%s", code, gone.tail())
	}
}
