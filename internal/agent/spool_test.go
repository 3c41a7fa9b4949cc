package agent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
)

var epoch = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func now() time.Time { return epoch }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func spool(t *testing.T, dir string) *agent.Spool {
	t.Helper()
	s, err := agent.OpenSpool(dir, epoch.Add(time.Hour))
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func begin(t *testing.T, s *agent.Spool, id agent.ExecutionID) *agent.Track {
	t.Helper()
	tr, err := agent.NewRecorder(s, now).Begin(&agent.LaunchSpec{ID: id, Metadata: map[string]string{"k": "v"}}, "ses")
	must(t, err)
	return tr
}

func read(t *testing.T, s *agent.Spool, id agent.ExecutionID, after agent.Cursor) []agent.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ch, err := s.Subscribe(ctx, id, after)
	must(t, err)
	var out []agent.Event
	for e := range ch {
		out = append(out, e)
	}
	must(t, ctx.Err())
	return out
}

func kinds(events []agent.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Kind))
	}
	return strings.Join(out, " ")
}

func TestR11_KilledProcessLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := spool(t, dir) // never closed before the next opens: as after a kill
	tr := begin(t, first, "x")
	must(t, tr.Prompted(agent.Prompt{ID: "p", Text: "go"}))
	tr.Tool(agent.ToolCall{ID: "c1", Name: "shell", State: agent.CallRunning})
	tr.Tool(agent.ToolCall{ID: "c2", Name: "read", State: agent.CallDone})
	seen := tr.Snapshot().Cursor
	// The kill cut the last line.
	f, err := os.OpenFile(filepath.Join(dir, "x.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"seq":6,"kind":"te`)
	must(t, err)
	must(t, f.Close())

	second := spool(t, dir)
	x, err := second.Get("x")
	must(t, err)
	if x.State != agent.StateExited || !x.Exit.Interrupted || x.End.Reason != agent.EndInterrupted || x.PromptID != "p" || x.Session != "ses" {
		t.Errorf("got %+v", x)
	}
	rest := read(t, second, "x", seen)
	if got := kinds(rest); got != "tool_call turn_ended exited" || rest[0].Tool.ID != "c1" || rest[0].Tool.State != agent.CallUnknown {
		t.Errorf("got %s, %+v", got, rest[0].Tool)
	}
	if rest[2].At != epoch.Add(time.Hour) || rest[2].Metadata["k"] != "v" || rest[2].Seq != seen+3 {
		t.Errorf("got %+v", rest[2])
	}
	third := spool(t, dir)
	if diff := cmp.Diff(read(t, second, "x", 0), read(t, third, "x", 0)); diff != "" {
		t.Errorf("a second start wrote more: %s", diff)
	}
}

func TestKillBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "x.jsonl"), []byte(`{"seq":1,"ki`), 0o600))
	s := spool(t, dir)
	if _, err := s.Get("x"); !fairlead.IsCode(err, fairlead.CodeNotFound) {
		t.Errorf("got %v", err)
	}
	begin(t, s, "x")
}

func TestA13_SlowAndLateReadersMissNothing(t *testing.T) {
	t.Parallel()
	s := spool(t, t.TempDir())
	tr := begin(t, s, "x")
	must(t, tr.Prompted(agent.Prompt{ID: "p"}))
	slow, err := s.Subscribe(t.Context(), "x", 0)
	must(t, err)
	<-slow // and no further: the writer must not care
	const n = 4_000
	for i := range n {
		tr.Notice(fmt.Sprint(i), nil)
	}
	must(t, tr.Exited(agent.Exit{}))
	must(t, tr.Err())
	for _, after := range []agent.Cursor{0, 1, 255, 256, 257, 511, 512, 2_500, n + 2} {
		next := after
		for _, e := range read(t, s, "x", after) {
			if next++; e.Seq != next {
				t.Fatalf("after %d: got %d, want %d", after, e.Seq, next)
			}
		}
		if next != n+4 {
			t.Errorf("after %d: ended at %d", after, next)
		}
	}
	got := 1
	for range slow {
		got++
	}
	if got != n+4 {
		t.Errorf("the slow reader got %d", got)
	}
}

func TestSubscriptionsEndWithContextAndSpool(t *testing.T) {
	t.Parallel()
	s := spool(t, t.TempDir())
	tr := begin(t, s, "x")
	ctx, cancel := context.WithCancel(t.Context())
	one, err := s.Subscribe(ctx, "x", 1)
	must(t, err)
	two, err := s.Subscribe(t.Context(), "x", 1)
	must(t, err)
	cancel()
	if _, ok := <-one; ok {
		t.Error("an event after the cancel")
	}
	must(t, tr.Exited(agent.Exit{}))
	if e := <-two; e.Kind != agent.EventExited {
		t.Errorf("got %+v", e)
	}
	must(t, s.Close())
	if _, err := s.Subscribe(t.Context(), "x", 0); !fairlead.IsCode(err, fairlead.CodeUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestRemoveAndPrune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spool(t, dir)
	live, dead := begin(t, s, "live"), begin(t, s, "dead")
	must(t, dead.Exited(agent.Exit{Code: 1}))
	if err := s.Remove("live"); !fairlead.IsCode(err, fairlead.CodeConflict) {
		t.Errorf("got %v", err)
	}
	if n, err := s.Prune(time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if n, err := s.Prune(time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if _, err := s.Get("dead"); !fairlead.IsCode(err, fairlead.CodeNotFound) {
		t.Errorf("got %v", err)
	}
	must(t, s.Remove("dead"))
	must(t, live.Exited(agent.Exit{}))
}

func TestS5_FullDiskNeverSaysRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spool(t, dir)
	tr := begin(t, s, "x")
	must(t, tr.Prompted(agent.Prompt{ID: "p"}))
	tr.Break()
	tr.Notice("lost", nil)
	if tr.Err() == nil {
		t.Fatal("the failed write went unseen")
	}
	ch, err := s.Subscribe(t.Context(), "x", 0)
	must(t, err)
	if err := tr.Exited(agent.Exit{}); err == nil {
		t.Error("an exit that was not recorded is no success")
	}
	for range ch { // ends without an exited event
	}
	if x, err := s.Get("x"); err != nil || x.State != agent.StateExited {
		t.Errorf("got %+v, %v", x, err)
	}
}
