package agenttest

import (
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
)

func cursors(b *bench) {
	s := b.spec(Calls)
	b.launch(s)
	want := b.all(s.ID, 0)
	b.wellFormed(want, &s)
	for after := range want {
		got := b.all(s.ID, agent.Cursor(after))
		if diff := cmp.Diff(want[after:], got); diff != "" {
			b.Errorf("after %d: %s", after, diff)
		}
	}
	ch, _ := b.subscribe(s.ID, agent.Cursor(len(want)))
	if e, ok := <-ch; ok {
		b.Errorf("after the last: got %+v", e)
	}
}

func reopens(b *bench) {
	s := b.spec(Calls)
	b.launch(s)
	want := b.all(s.ID, 0)
	before := b.state(s.ID, agent.StateExited)
	b.h.Runtime = b.h.Reopen(b.T)
	for _, after := range []int{0, 1, len(want) / 2, len(want) - 1} {
		if diff := cmp.Diff(want[after:], b.all(s.ID, agent.Cursor(after))); diff != "" {
			b.Errorf("after %d: %s", after, diff)
		}
	}
	if diff := cmp.Diff(before, b.state(s.ID, agent.StateExited)); diff != "" {
		b.Error(diff)
	}
	if err := b.h.Runtime.Stop(b.ctx, s.ID, agent.StopPerson); err != nil {
		b.Errorf("stop of an execution of an earlier process: %v", err)
	}
	if err := b.h.Runtime.Resume(b.ctx, s.ID, s.Prompt); !fairlead.IsCode(err, fairlead.CodeConflict) {
		b.Errorf("resume of one: got %v", orNone(err))
	}
}

// buries: what was running when its process ended says so afterwards, and a subscriber goes on where it stood.
func buries(b *bench) {
	s := b.spec(HangsInCall)
	b.launch(s)
	ch, _ := b.subscribe(s.ID, 0)
	seen := b.until(ch, agent.EventToolCall)
	b.h.Runtime = b.h.Reopen(b.T)
	x := b.state(s.ID, agent.StateExited)
	if x.Exit == nil || x.End == nil || x.End.Reason != agent.EndInterrupted && x.End.Reason != agent.EndCancelled {
		b.Errorf("got %+v", x)
	}
	rest := b.all(s.ID, seen[len(seen)-1].Seq)
	b.wellFormed(slices.Concat(seen, rest), &s)
}

func fails(b *bench) {
	s := b.spec(Fails)
	b.launch(s)
	events := b.all(s.ID, 0)
	b.wellFormed(events, &s)
	got := ends(events)
	if len(got) != 1 || got[0].Reason != agent.EndFailed || got[0].Failure == nil || got[0].Failure.Class != fairlead.ClassTransient || got[0].Failure.Message == "" {
		b.Errorf("got %+v", got)
	}
}

func dies(b *bench) {
	s := b.spec(Dies)
	s.KeepWarm = true
	b.launch(s)
	events := b.all(s.ID, 0)
	b.wellFormed(events, &s)
	if last := events[len(events)-1]; last.Exit.Code != 3 {
		b.Errorf("got exit %+v", last.Exit)
	}
	got := ends(events)
	if len(got) != 1 || got[0].Failure == nil || got[0].Failure.Class != fairlead.ClassTransient {
		b.Errorf("got %+v", got)
	}
}

func usage(b *bench) {
	s := b.spec(Uses)
	b.launch(s)
	events := b.all(s.ID, 0)
	var sum, last agent.Usage
	for _, e := range events {
		if e.Kind != agent.EventUsage {
			continue
		}
		sum = sum.Add(e.Usage.Delta)
		if t := e.Usage.Total; t.Input < last.Input || t.Output < last.Output || t.Calls < last.Calls {
			b.Errorf("usage fell from %+v to %+v", last, t)
		}
		last = e.Usage.Total
	}
	if last.Input != 17 || last.Output != 8 {
		b.Errorf("got %+v", last)
	}
	if diff := cmp.Diff(last, sum); diff != "" {
		b.Errorf("the deltas do not add up: %s", diff)
	}
	if diff := cmp.Diff(last, b.state(s.ID, agent.StateExited).Usage); diff != "" {
		b.Error(diff)
	}
}

func calls(b *bench) {
	s := b.spec(Calls)
	b.launch(s)
	events := b.all(s.ID, 0)
	b.wellFormed(events, &s)
	var named, done bool
	for _, e := range events {
		if e.Kind == agent.EventToolCall {
			named = named || e.Tool.Name != "" && len(e.Tool.Input) > 0
			done = done || e.Tool.State == agent.CallDone
		}
	}
	if !named || !done || text(events) != "done" {
		b.Errorf("got %s, %q", kinds(events), text(events))
	}
}

func unknownTool(b *bench) {
	s := b.spec(Unknown)
	b.launch(s)
	events := b.all(s.ID, 0)
	b.wellFormed(events, &s)
	if got := ends(events); len(got) != 1 || got[0].Reason != agent.EndTurn || text(events) != "done" {
		b.Errorf("got %+v, %q", got, text(events))
	}
}

func asks(b *bench) {
	s := b.spec(Asks)
	b.launch(s)
	events := b.all(s.ID, 0)
	b.wellFormed(events, &s)
	if got := ends(events); len(got) != 1 || got[0].Reason != agent.EndParked {
		b.Errorf("got %+v", got)
	}
}

func thinks(b *bench) {
	s := b.spec(Thinks)
	b.launch(s)
	events := b.all(s.ID, 0)
	if !slices.ContainsFunc(events, func(e agent.Event) bool { return e.Kind == agent.EventThought }) || text(events) != "done" {
		b.Errorf("got %s, %q", kinds(events), text(events))
	}
}
