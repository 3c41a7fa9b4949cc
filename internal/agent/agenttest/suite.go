package agenttest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
)

// Run checks an adapter against the port. open makes a fresh harness for each test.
func Run(t *testing.T, open func(t *testing.T) *Harness) {
	for name, f := range map[string]func(*bench){
		"Launch": launches, "Refusals": refusals, "Resume": resumes, "SessionGoesOn": sessionGoesOn, "Cursor": cursors,
		"Reopen": reopens, "ReopenAfterCrash": buries, "StopRunning": stopsRunning, "StopIdle": stopsIdle, "StopExited": stopsExited,
		"StopInCall": stopsInCall, "StopWithSlowReader": stopsWithSlowReader, "StopAtOnce": stopsAtOnce,
		"Fails": fails, "Dies": dies, "Usage": usage, "Calls": calls, "UnknownTool": unknownTool, "Asks": asks, "Thinks": thinks,
		"SetMCPMode": modes,
	} {
		t.Run("A21_"+name, func(t *testing.T) {
			t.Parallel()
			f(&bench{T: t, h: open(t), ctx: t.Context()})
		})
	}
}

func launches(b *bench) {
	s := b.spec(Says)
	ref := b.launch(s)
	events := b.all(s.ID, 0)
	b.wellFormed(events, &s)
	if got := text(events); got != "hello world" {
		b.Errorf("got text %q", got)
	}
	if got := ends(events); len(got) != 1 || got[0].Reason != agent.EndTurn || got[0].Failure != nil {
		b.Errorf("got ends %+v", got)
	}
	if last := events[len(events)-1]; last.Exit.Code != 0 || last.Exit.Reason != "" || last.Session == "" {
		b.Errorf("got exit %+v, session %q", last.Exit, last.Session)
	}
	if ref.Session != "" && ref.Session != events[len(events)-1].Session {
		b.Errorf("launch named session %q, the events %q", ref.Session, events[len(events)-1].Session)
	}
	x := b.state(s.ID, agent.StateExited)
	if x.Turn != 1 || x.PromptID != s.Prompt.ID || x.End == nil || x.Cursor != agent.Cursor(len(events)) {
		b.Errorf("got %+v", x)
	}
}

// wellFormed checks what holds for every complete stream from 0.
func (b *bench) wellFormed(events []agent.Event, s *agent.LaunchSpec) {
	b.Helper()
	open, turn := false, 0
	calls := map[string]agent.CallState{}
	for i, e := range events {
		if e.Seq != agent.Cursor(i+1) || e.Execution != s.ID || e.At.IsZero() {
			b.Errorf("event %d is not numbered, named or timed: %+v", i, e)
		}
		if diff := cmp.Diff(s.Metadata, e.Metadata); diff != "" {
			b.Errorf("%s: metadata: %s", e.Kind, diff)
		}
		switch e.Kind {
		case agent.EventStarted:
			if i != 0 {
				b.Errorf("started is event %d", i)
			}
		case agent.EventPrompted:
			if open {
				b.Error("a turn began in a turn")
			}
			open, turn = true, turn+1
		case agent.EventTurnEnded:
			for id, st := range calls {
				if !st.Terminal() {
					b.Errorf("call %s is %s at the end of its turn", id, st)
				}
			}
			if !open || (e.End.Failure != nil) != (e.End.Reason == agent.EndFailed || e.End.Reason == agent.EndLimit || e.End.Reason == agent.EndRefusal) {
				b.Errorf("a turn that was open=%v ended with %+v", open, e.End)
			}
			open = false
		case agent.EventToolCall:
			if calls[e.Tool.ID].Terminal() && calls[e.Tool.ID] != e.Tool.State {
				b.Errorf("call %s went from %s to %s", e.Tool.ID, calls[e.Tool.ID], e.Tool.State)
			}
			calls[e.Tool.ID] = e.Tool.State
		case agent.EventExited:
			if i != len(events)-1 || open {
				b.Errorf("exited is event %d of %d, turn open: %v", i+1, len(events), open)
			}
		}
		if e.Turn != turn {
			b.Errorf("%s bears turn %d, want %d", e.Kind, e.Turn, turn)
		}
		if !e.OutOfTurn && e.Kind == agent.EventText && !open {
			b.Errorf("text outside a turn is not marked")
		}
	}
	if len(events) > 0 && events[0].Kind != agent.EventStarted {
		b.Errorf("the first event is %s", events[0].Kind)
	}
}

func refusals(b *bench) {
	s := b.spec(Says)
	b.launch(s)
	b.all(s.ID, 0)
	_, err := b.h.Runtime.Launch(b.ctx, s)
	if !fairlead.IsCode(err, fairlead.CodeConflict) {
		b.Errorf("launch of a known id: got %v", orNone(err))
	}
	for _, mutate := range []func(*agent.LaunchSpec){
		func(s *agent.LaunchSpec) { s.ID = "../x" }, func(s *agent.LaunchSpec) { s.Workspace = "relative" },
		func(s *agent.LaunchSpec) { s.Executor = "moon" },
	} {
		bad := b.spec(Says)
		mutate(&bad)
		if _, err := b.h.Runtime.Launch(b.ctx, bad); err == nil {
			b.Errorf("launched %+v", bad)
		}
	}
	if _, err := b.h.Runtime.GetExecution(b.ctx, "nobody"); !fairlead.IsCode(err, fairlead.CodeNotFound) {
		b.Errorf("get of nobody: got %v", orNone(err))
	}
	if err := b.h.Runtime.Stop(b.ctx, "nobody", agent.StopPerson); !fairlead.IsCode(err, fairlead.CodeNotFound) {
		b.Errorf("stop of nobody: got %v", orNone(err))
	}
	if err := b.h.Runtime.Resume(b.ctx, "nobody", s.Prompt); !fairlead.IsCode(err, fairlead.CodeNotFound) {
		b.Errorf("resume of nobody: got %v", orNone(err))
	}
	if _, err := b.h.Runtime.SubscribeEvents(b.ctx, "nobody", 0); !fairlead.IsCode(err, fairlead.CodeNotFound) {
		b.Errorf("subscribe to nobody: got %v", orNone(err))
	}
	if _, err := b.h.Runtime.SubscribeEvents(b.ctx, s.ID, 1000); !fairlead.IsCode(err, fairlead.CodeStale) {
		b.Errorf("subscribe above the head: got %v", orNone(err))
	}
}

func resumes(b *bench) {
	s := b.spec(Says)
	s.KeepWarm = true
	b.launch(s)
	ch, _ := b.subscribe(s.ID, 0)
	first := b.until(ch, agent.EventTurnEnded)
	b.state(s.ID, agent.StateIdle)
	p := b.spec(Says).Prompt
	if err := b.h.Runtime.Resume(b.ctx, s.ID, p); err != nil {
		b.Fatalf("resume: %v", err)
	}
	second := b.until(ch, agent.EventTurnEnded)
	if first[len(first)-1].Session != second[len(second)-1].Session || second[len(second)-1].Turn != 2 || second[len(second)-1].PromptID != p.ID {
		b.Errorf("the second turn is not in the session: %+v", second[len(second)-1])
	}
	if got := text(second); got != "hello world" {
		b.Errorf("got %q", got)
	}
	hang := b.spec(Hangs).Prompt
	if err := b.h.Runtime.Resume(b.ctx, s.ID, hang); err != nil {
		b.Fatalf("resume: %v", err)
	}
	b.until(ch, agent.EventText)
	if err := b.h.Runtime.Resume(b.ctx, s.ID, p); !fairlead.IsCode(err, fairlead.CodeConflict) {
		b.Errorf("resume in a turn: got %v", orNone(err))
	}
	b.stop(s.ID)
	if err := b.h.Runtime.Resume(b.ctx, s.ID, p); !fairlead.IsCode(err, fairlead.CodeConflict) {
		b.Errorf("resume of a stopped execution: got %v", orNone(err))
	}
	b.wellFormed(b.all(s.ID, 0), &s)
}

func sessionGoesOn(b *bench) {
	s := b.spec(Says)
	b.launch(s)
	events := b.all(s.ID, 0)
	next := b.spec(Says)
	next.Session = events[len(events)-1].Session
	b.launch(next)
	events = b.all(next.ID, 0)
	if got := events[len(events)-1].Session; got != next.Session {
		b.Errorf("got session %q, want %q", got, next.Session)
	}
	if got := text(events); got != "hello world" {
		b.Errorf("got %q: what was said before is not said again", got)
	}
}

func modes(b *bench) {
	s := b.spec(Hangs)
	b.launch(s)
	for _, m := range []agent.MCPMode{agent.MCPOff, agent.MCPRead, agent.MCPFull} {
		if err := b.h.Runtime.SetMCPMode(b.ctx, s.ID, m); err != nil {
			b.Errorf("%s: %v", m, err)
		}
	}
	b.stop(s.ID)
	if err := b.h.Runtime.SetMCPMode(b.ctx, s.ID, agent.MCPOff); !fairlead.IsCode(err, fairlead.CodeConflict) {
		b.Errorf("after the exit: got %v", orNone(err))
	}
}
