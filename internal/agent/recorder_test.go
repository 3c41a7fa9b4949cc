package agent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
)

func TestA17_CallsAreUpsertsAndEndWithTheirTurn(t *testing.T) {
	t.Parallel()
	s := spool(t, t.TempDir())
	tr := begin(t, s, "x")
	must(t, tr.Prompted(agent.Prompt{ID: "p"}))
	tr.Tool(agent.ToolCall{ID: "a", State: agent.CallRunning}) // an update before the call
	tr.Tool(agent.ToolCall{ID: "a", Name: "edit", Title: "Edit"})
	tr.Tool(agent.ToolCall{ID: "b", Name: "run"})
	tr.Tool(agent.ToolCall{ID: "a", State: agent.CallDone})
	tr.Tool(agent.ToolCall{ID: "a", State: agent.CallRunning, Output: "late"}) // does not open it again
	if open := tr.Snapshot().Open; len(open) != 1 || open[0].ID != "b" || open[0].State != agent.CallPending {
		t.Errorf("got %+v", open)
	}
	tr.TurnEnded(agent.TurnEnd{Reason: agent.EndTurn})
	tr.Tool(agent.ToolCall{ID: "b", State: agent.CallDone}) // outside the turn
	must(t, tr.Exited(agent.Exit{}))
	events := read(t, s, "x", 0)
	if got := kinds(events); got != "started prompted tool_call tool_call tool_call tool_call tool_call tool_call turn_ended tool_call exited" {
		t.Fatalf("got %s", got)
	}
	if e := events[6]; e.Tool.State != agent.CallDone || e.Tool.Output != "late" {
		t.Errorf("got %+v", e.Tool)
	}
	if e := events[7]; e.Tool.ID != "b" || e.Tool.State != agent.CallUnknown {
		t.Errorf("got %+v", e.Tool)
	}
	if e := events[9]; !e.OutOfTurn || e.Tool.State != agent.CallDone {
		t.Errorf("got %+v", e)
	}
}

func TestA18_UsageNeverFalls(t *testing.T) {
	t.Parallel()
	s := spool(t, t.TempDir())
	rapid.Check(t, func(rt *rapid.T) {
		id := agent.ExecutionID(rapid.StringMatching(`[a-z0-9]{20}`).Draw(rt, "id"))
		tr, err := agent.NewRecorder(s, now).Begin(&agent.LaunchSpec{ID: id}, "")
		if err != nil {
			rt.Skip("the id is taken")
		}
		var last agent.Usage
		for range rapid.IntRange(1, 10).Draw(rt, "reports") {
			u := agent.Usage{Input: rapid.Int64Range(-5, 100).Draw(rt, "input"), Output: rapid.Int64Range(-5, 100).Draw(rt, "output")}
			if rapid.Bool().Draw(rt, "priced") {
				c := rapid.Int64Range(-5, 100).Draw(rt, "cost")
				u.Cost = &c
			}
			if rapid.Bool().Draw(rt, "cumulative") {
				tr.SetUsage("m", u, nil)
				if got := tr.Snapshot().Usage; got.Input != max(last.Input, u.Input) {
					rt.Fatalf("got %+v after %+v and the report %+v", got, last, u)
				}
			} else {
				tr.AddUsage("m", u, nil)
			}
			got := tr.Snapshot().Usage
			if got.Input < last.Input || got.Output < last.Output || last.Cost != nil && (got.Cost == nil || *got.Cost < *last.Cost) {
				rt.Fatalf("usage fell from %+v to %+v", last, got)
			}
			last = got
		}
		if err := tr.Exited(agent.Exit{}); err != nil {
			rt.Fatal(err)
		}
	})
}

func TestTurnsAndExits(t *testing.T) {
	t.Parallel()
	s := spool(t, t.TempDir())
	tr := begin(t, s, "x")
	tr.TurnEnded(agent.TurnEnd{Reason: agent.EndTurn}) // there is none
	must(t, tr.Prompted(agent.Prompt{ID: "p"}))
	if err := tr.Prompted(agent.Prompt{ID: "q"}); !fairlead.IsCode(err, fairlead.CodeConflict) {
		t.Errorf("got %v", err)
	}
	if !tr.Stopping(agent.StopBudget) || tr.Stopping(agent.StopPerson) || tr.Reason() != agent.StopBudget {
		t.Error("the first reason stays")
	}
	if x := tr.Snapshot(); x.State != agent.StateStopping {
		t.Errorf("got %s", x.State)
	}
	must(t, tr.Exited(agent.Exit{Code: 143}))
	must(t, tr.Exited(agent.Exit{Code: 1}))
	tr.Text("after")
	tr.Tool(agent.ToolCall{ID: "z"})
	tr.AddUsage("m", agent.Usage{Input: 1}, nil)
	must(t, tr.Err())
	events := read(t, s, "x", 0)
	if got := kinds(events); got != "started prompted turn_ended exited" {
		t.Fatalf("got %s", got)
	}
	if events[2].End.Reason != agent.EndCancelled || events[3].Exit.Reason != agent.StopBudget || events[3].Exit.Code != 143 {
		t.Errorf("got %+v, %+v", events[2].End, events[3].Exit)
	}
}

func TestA14_EventsOutsideATurnReopenNothing(t *testing.T) {
	t.Parallel()
	s := spool(t, t.TempDir())
	tr := begin(t, s, "x")
	tr.Text("early")
	must(t, tr.Prompted(agent.Prompt{ID: "p"}))
	tr.Stalled()
	if !tr.Snapshot().Stalled {
		t.Error("not stalled")
	}
	tr.Text("in")
	tr.TurnEnded(agent.TurnEnd{Reason: agent.EndTurn})
	tr.AddUsage("m", agent.Usage{Input: 3}, nil)
	tr.Text("late")
	if x := tr.Snapshot(); x.State != agent.StateIdle || x.Usage.Input != 3 || x.Stalled {
		t.Errorf("got %+v", x)
	}
	must(t, tr.Exited(agent.Exit{}))
	for _, e := range read(t, s, "x", 0) {
		if want := e.Text == "early" || e.Text == "late" || e.Kind == agent.EventUsage; e.OutOfTurn != want {
			t.Errorf("%s %q: got %v", e.Kind, e.Text, e.OutOfTurn)
		}
	}
}

func TestA13_HugePiecesAreBounded(t *testing.T) {
	t.Parallel()
	s := spool(t, t.TempDir())
	tr := begin(t, s, "x")
	must(t, tr.Prompted(agent.Prompt{ID: "p"}))
	long := strings.Repeat("ä", 1<<20)
	tr.Text(long)
	tr.Notice(long, json.RawMessage(`"`+long+`"`))
	tr.Tool(agent.ToolCall{ID: "a", Output: long, Input: json.RawMessage(`"` + long + `"`)})
	must(t, tr.Exited(agent.Exit{}))
	must(t, tr.Err())
	var sb strings.Builder
	for _, e := range read(t, s, "x", 0) {
		if line, err := json.Marshal(e); err != nil || len(line) > 300<<10 {
			t.Errorf("%s has %d bytes, %v", e.Kind, len(line), err)
		}
		if e.Kind == agent.EventText {
			sb.WriteString(e.Text)
		}
	}
	if sb.String() != long {
		t.Error("text was lost")
	}
}

func TestA13_StreamsAreCoalescedInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := spool(t, dir)
		tr := begin(t, s, "x")
		must(t, tr.Prompted(agent.Prompt{ID: "p"}))
		tr.Thought("a")
		tr.Thought("b")
		tr.Text("c") // another kind lets the first out
		tr.Text("d")
		tr.Tool(agent.ToolCall{ID: "1", State: agent.CallDone})
		tr.Text("e")
		time.Sleep(50 * time.Millisecond)
		tr.Text("f")
		time.Sleep(60 * time.Millisecond)
		tr.Text("g") // the first piece waited long enough
		tr.Text(strings.Repeat("h", 9<<10))
		tr.Text("i")
		must(t, tr.Exited(agent.Exit{}))
		var got []string
		for _, e := range read(t, s, "x", 2) {
			if e.OutOfTurn {
				t.Errorf("%+v is not out of its turn", e)
			}
			got = append(got, string(e.Kind)+" "+strings.ReplaceAll(e.Text, strings.Repeat("h", 9<<10), "H"))
		}
		if want := "thought ab|text cd|tool_call |text ef|text gH|text i|turn_ended |exited "; strings.Join(got, "|") != want {
			t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
		}
	})
}

func TestClipKeepsBothEndsAndCharacters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, limit := rapid.String().Draw(t, "s"), rapid.IntRange(8, 40).Draw(t, "limit")
		got := agent.Clip(s, limit)
		if len(s) <= limit && got != s {
			t.Fatalf("got %q", got)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("got %q of %q", got, s)
		}
	})
}

func FuzzOpenSpoolLine(f *testing.F) {
	f.Add(`{"seq":1,"kind":"started","execution":"x"}`)
	f.Add(`{"seq":2,"kind":"tool_call"}`)
	f.Fuzz(func(t *testing.T, line string) {
		var e agent.Event
		if json.Unmarshal([]byte(line), &e) != nil {
			return
		}
		var x agent.Execution
		x.Apply(&e)
	})
}
