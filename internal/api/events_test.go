package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

// listen serves the bench over a real connection and returns its address.
func (b *bench) listen() string {
	b.t.Helper()
	srv := httptest.NewServer(b.server.Handler())
	b.t.Cleanup(func() {
		b.server.open.end()
		srv.Close()
	})
	return srv.URL
}

func (b *bench) client(url string, o *client.Options) *client.Client {
	b.t.Helper()
	c, err := client.New(url, ownerToken, o)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// lines opens a stream and returns its lines.
func (b *bench) lines(ctx context.Context, url string, h head) *bufio.Scanner {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+ownerToken)
	for name, value := range h {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		b.t.Fatalf("%d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	return bufio.NewScanner(resp.Body)
}

// wantLines reads that many lines of a stream.
func wantLines(t *testing.T, s *bufio.Scanner, want ...string) {
	t.Helper()
	var got []string
	for range want {
		if !s.Scan() {
			t.Fatalf("the stream ended after %q: %v", got, s.Err())
		}
		got = append(got, s.Text())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func event(kind fairlead.EventKind, task, run string) fairlead.Event {
	return fairlead.Event{
		Kind: kind, Workspace: "main", Task: task, Run: run, Actor: fairlead.Person("owner"), Version: 3, Visit: 2,
		At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Data: []byte(`{ "a" : 1 }`),
	}
}

func TestStreamOnTheWire(t *testing.T) {
	t.Parallel()
	b := newBench(t, &Options{Heartbeat: 200 * time.Millisecond})
	b.fake.log.add(event("task.created", "tsk_9", ""))
	url := b.listen()
	s := b.lines(t.Context(), url+"/api/v1/events", nil)
	wantLines(t, s, "retry: 1000", "id: ep-1", "")
	b.fake.log.add(event("task.moved", "tsk_9", "run_7"))
	wantLines(t, s,
		"id: ep-2", "event: task.moved",
		`data: {"id":"ep-2","kind":"task.moved","at":"2026-01-02T03:04:05.000006Z","workspace":"main","task":"tsk_9","visit":2,`+
			`"run":"run_7","actor":{"kind":"person","key":"owner"},"version":3,"data":{"a":1}}`, "")
	wantLines(t, s, ":", "")
	b.fake.log.add(fairlead.Event{Kind: "task.moved", Workspace: "side"})
	wantLines(t, s, ":", "", "id: ep-3", "") // what was filtered out is not read again after a cut
}

func TestStreamPlaces(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for range 5 {
		b.fake.log.add(event("task.moved", "tsk_1", ""))
	}
	b.fake.log.prune(2)
	url := b.listen()
	reset := []string{"retry: 1000", "id: ep-5", "event: reset", `data: {"id":"ep-5","kind":"reset"}`, ""}
	for _, tc := range []struct {
		name, query string
		head        head
		want        []string
	}{
		{"after", "?after=ep-3", nil, []string{"retry: 1000", "id: ep-3", "", "id: ep-4", "event: task.moved"}},
		{"last id beats after", "?after=ep-3", head{"Last-Event-ID": "ep-4"}, []string{"retry: 1000", "id: ep-4", "", "id: ep-5"}},
		{"the oldest kept", "?after=ep-2", nil, []string{"retry: 1000", "id: ep-2", "", "id: ep-3"}},
		{"pruned", "?after=ep-1", nil, reset},
		{"another epoch", "", head{"Last-Event-ID": "old-4"}, reset},
		{"above the head", "?after=ep-6", nil, reset},
		{"nonsense", "?after=nonsense", nil, reset},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := b.lines(t.Context(), url+"/api/v1/events"+tc.query, tc.head)
			wantLines(t, s, tc.want...)
		})
	}
	s := b.lines(t.Context(), url+"/api/v1/events?after=ep-1", nil)
	wantLines(t, s, reset...)
	b.fake.log.add(event("task.archived", "tsk_1", ""))
	wantLines(t, s, "id: ep-6", "event: task.archived")
}

func TestTopics(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	id := b.task()
	events := []fairlead.Event{
		event("task.moved", id, ""), event("task.moved", "tsk_other", ""), event("run.queued", id, "run_1"),
		event("run.event_appended", id, "run_1"), event("request.opened", "tsk_other", ""), event("notice.added", "", ""),
		event("workflow.saved", "", ""), event("agent.updated", "", ""), event("run.claimed", "tsk_other", "run_2"),
		{Kind: "task.moved", Workspace: "side", Task: id},
	}
	for topics, want := range map[string]string{
		"":                      "012345678",
		"board":                 "01246 78",
		"inbox":                 "45",
		"runs":                  "278",
		"task:" + id:            "023",
		"task:FL-1":             "023",
		"run:run_1":             "23",
		"inbox,run:run_1":       "2345",
		" inbox , task:FL-1":    "02345",
		"board,run:run_1,inbox": "012345678",
	} {
		filter, err := b.server.topicFilter(t.Context(), "main", topics)
		if err != nil {
			t.Errorf("%s: %v", topics, err)
			continue
		}
		got := ""
		for i := range events {
			if filter(&events[i]) {
				got += fmt.Sprint(i)
			}
		}
		if want = strings.ReplaceAll(want, " ", ""); got != want {
			t.Errorf("%q lets pass %s, want %s", topics, got, want)
		}
	}
}

// A client that is cut at any byte and comes back sees what an uncut one sees, each event once and in order (S10).
func TestS10_CutStreamOverHTTP(t *testing.T) {
	t.Parallel()
	b := newBench(t, &Options{Retry: time.Millisecond})
	proxy := newCuttingProxy(t, strings.TrimPrefix(b.listen(), "http://"))
	const total = 300
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	whole := make(chan []string, 1)
	c := b.client(b.listen(), nil)
	b.fake.log.add(event("task.created", "tsk_0", ""))
	go func() { whole <- collect(t, c.Events(ctx, "ep-1", "board"), total) }()
	go func() {
		for i := range total {
			b.fake.log.add(event("run.event_appended", "tsk_0", "run_1")) // filtered out
			b.fake.log.add(event("task.moved", fmt.Sprint("tsk_", i), ""))
		}
	}()
	cut := collect(t, b.client("http://"+proxy.addr, nil).Events(ctx, "ep-1", "board"), total)
	if diff := cmp.Diff(<-whole, cut); diff != "" {
		t.Error(diff)
	}
	if proxy.cuts() < 3 {
		t.Errorf("the stream was cut %d times only", proxy.cuts())
	}
}

// collect takes n events of a stream.
func collect(t *testing.T, events func(func(client.Event, error) bool), n int) []string {
	var got []string
	for e, err := range events {
		if err != nil {
			t.Error(err)
			break
		}
		if e.Reset {
			t.Error("reset")
		}
		got = append(got, e.ID+" "+e.Task)
		if len(got) == n {
			break
		}
	}
	return got
}

// cuttingProxy passes bytes on and cuts every connection after a random number of them.
type cuttingProxy struct {
	addr  string
	count chan int
	n     int
}

func newCuttingProxy(t *testing.T, target string) *cuttingProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &cuttingProxy{addr: l.Addr().String(), count: make(chan int, 10000)}
	t.Cleanup(func() { _ = l.Close() })
	rnd := rand.New(rand.NewPCG(7, 7))
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			limit := int64(300 + rnd.IntN(12000))
			go p.pass(in, target, limit)
		}
	}()
	return p
}

func (p *cuttingProxy) pass(in net.Conn, target string, limit int64) {
	defer func() { _ = in.Close() }()
	out, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	go func() { _, _ = io.Copy(out, in) }()
	if n, _ := io.CopyN(in, out, limit); n == limit {
		p.count <- 1
	}
}

func (p *cuttingProxy) cuts() int {
	for {
		select {
		case <-p.count:
			p.n++
		default:
			return p.n
		}
	}
}

func TestRunStream(t *testing.T) {
	t.Parallel()
	b := newBench(t, &Options{Heartbeat: time.Hour})
	for range 5 {
		b.fake.appendRunEvent("message")
	}
	url := b.listen()
	s := b.lines(t.Context(), url+"/api/v1/runs/run_1/events?after=1", head{"Accept": "text/event-stream", "Last-Event-ID": "2"})
	wantLines(t, s, "retry: 1000", "")
	for seq := 3; seq <= 5; seq++ {
		wantLines(t, s, fmt.Sprint("id: ", seq), "event: message", fmt.Sprintf(`data: {"run":"run_1","seq":%d,"kind":"message","at":"2026-01-02T03:04:05.000006Z"}`, seq), "")
	}
	b.fake.appendRunEvent("turn_ended")
	wantLines(t, s, "id: 6", "event: turn_ended")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seqs []int64
	for e, err := range b.client(url, nil).FollowRun(ctx, "run_1", 4) {
		if err != nil {
			t.Fatal(err)
		}
		if seqs = append(seqs, e.Seq); e.Kind == "turn_ended" {
			break
		}
	}
	if diff := cmp.Diff([]int64{5, 6}, seqs); diff != "" {
		t.Error(diff)
	}
}

func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, &Options{MaxStreams: 1})
	url := b.listen()
	ctx, cancel := context.WithCancel(t.Context())
	s := b.lines(ctx, url+"/api/v1/events", nil)
	wantLines(t, s, "retry: 1000")
	wantProblem(t, b.send("GET", "/api/v1/events", nil, ""), 429, fairlead.CodeLimited)
	cancel()
	for s.Scan() { // until the connection is gone
	}
	for b.hub.Streams() > 0 {
		<-time.After(time.Millisecond)
	}
}

// A reader that takes nothing is given up, and the writer never waits for it.
func TestSlowReaderIsClosed(t *testing.T) {
	t.Parallel()
	b := newBench(t, &Options{Slow: 50 * time.Millisecond})
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.listen(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4096) // a hint; the test only gets longer without it
	}
	fmt.Fprintf(conn, "GET /api/v1/events?after=ep-0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", ownerToken)
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	big := event("task.updated", "tsk_1", "")
	big.Data = []byte(`"` + strings.Repeat("x", 100_000) + `"`)
	for range 100 {
		b.fake.log.add(big)
	}
	deadline := time.After(time.Minute)
	for b.hub.Streams() > 0 {
		select {
		case <-deadline:
			t.Fatal("the slow reader still holds its stream")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestServeStops(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.server.Serve(ctx, l) }()
	s := b.lines(t.Context(), "http://"+l.Addr().String()+"/api/v1/events", nil)
	wantLines(t, s, "retry: 1000")
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("Serve = %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a stream keeps the server from stopping")
	}
	wantProblem(t, b.send("GET", "/api/v1/events", nil, ""), 503, fairlead.CodeUnavailable)
}
