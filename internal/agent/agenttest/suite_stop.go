package agenttest

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/agent"
)

// stopped checks the stream of an execution that was stopped in a turn.
func (b *bench) stopped(s *agent.LaunchSpec) {
	b.Helper()
	events := b.all(s.ID, 0)
	b.wellFormed(events, s)
	if got := ends(events); len(got) == 0 || got[len(got)-1].Reason != agent.EndCancelled {
		b.Errorf("got %+v", got)
	}
	if last := events[len(events)-1]; last.Exit.Reason != agent.StopPerson {
		b.Errorf("got exit %+v", last.Exit)
	}
	b.state(s.ID, agent.StateExited)
}

func stopsRunning(b *bench) {
	s := b.spec(Hangs)
	b.launch(s)
	ch, _ := b.subscribe(s.ID, 0)
	b.until(ch, agent.EventText)
	b.state(s.ID, agent.StateRunning)
	done := make(chan struct{})
	for range 3 { // in parallel, and again
		go func() {
			b.stop(s.ID)
			done <- struct{}{}
		}()
	}
	for range 3 {
		<-done
	}
	b.stop(s.ID)
	b.stopped(&s)
}

func stopsInCall(b *bench) {
	s := b.spec(HangsInCall)
	b.launch(s)
	ch, _ := b.subscribe(s.ID, 0)
	b.until(ch, agent.EventToolCall)
	if x := b.state(s.ID, agent.StateRunning); len(x.Open) != 1 {
		b.Errorf("got open calls %+v", x.Open)
	}
	b.stop(s.ID)
	b.stopped(&s)
}

func stopsIdle(b *bench) {
	s := b.spec(Says)
	s.KeepWarm = true
	b.launch(s)
	ch, _ := b.subscribe(s.ID, 0)
	b.until(ch, agent.EventTurnEnded)
	b.stop(s.ID)
	events := b.all(s.ID, 0)
	b.wellFormed(events, &s)
	if got := ends(events); len(got) != 1 || got[0].Reason != agent.EndTurn {
		b.Errorf("the turn before was changed: %+v", got)
	}
}

func stopsExited(b *bench) {
	s := b.spec(Says)
	b.launch(s)
	want := len(b.all(s.ID, 0))
	b.stop(s.ID)
	if got := len(b.all(s.ID, 0)); got != want {
		b.Errorf("a stop after the exit wrote %d events", got-want)
	}
}

// stopsAtOnce stops while the execution is starting, whatever it has come to.
func stopsAtOnce(b *bench) {
	for range 5 {
		s := b.spec(Hangs)
		b.launch(s)
		b.stop(s.ID)
		b.wellFormed(b.all(s.ID, 0), &s)
	}
}

// stopsWithSlowReader: a subscriber that never reads delays neither the stop nor another subscriber.
func stopsWithSlowReader(b *bench) {
	s := b.spec(Hangs)
	b.launch(s)
	slow, _ := b.subscribe(s.ID, 0)
	ch, _ := b.subscribe(s.ID, 0)
	b.until(ch, agent.EventText)
	ctx, cancel := context.WithTimeout(b.ctx, bound)
	defer cancel()
	began := time.Now()
	if err := b.h.Runtime.Stop(ctx, s.ID, agent.StopPerson); err != nil {
		b.Errorf("stop: %v", err)
	}
	if d := time.Since(began); d > bound/2 {
		b.Errorf("the stop took %v", d)
	}
	b.stopped(&s)
	var last agent.Event
	for e := range slow {
		last = e
	}
	if last.Kind != agent.EventExited {
		b.Errorf("the slow reader ended with %s", last.Kind)
	}
}
