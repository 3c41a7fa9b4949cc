package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

// seen is an event of a run with the time it arrived here.
type seen struct {
	client.Event
	at time.Time
}

// follow delivers the events of runs as they arrive, until ctx ends. It returns when the stream stands.
func (s *server) follow(ctx context.Context) (<-chan seen, error) {
	out := make(chan seen, 4096)
	go func() {
		defer close(out)
		for e, err := range s.client.Events(ctx, "", "runs") {
			if err != nil {
				return
			}
			out <- seen{e, time.Now()}
		}
	}()
	// An event of our own shows that the stream has begun: ask until one comes.
	probe, err := s.client.CreateTask(ctx, fairlead.NewTask{Title: "Probe", Workflow: "bench-talk"})
	if err != nil {
		return nil, err
	}
	for range 50 {
		if _, err := s.client.Comment(ctx, probe.ID, fairlead.CommentBody{Text: "hello"}); err != nil {
			return nil, err
		}
		if _, err := await(ctx, out, 200*time.Millisecond, probe.ID, fairlead.EventRunProcessed); err == nil {
			return out, settle(ctx, out)
		}
	}
	return nil, errors.New("the event stream says nothing")
}

// settle drops events until none has come for a while.
func settle(ctx context.Context, events <-chan seen) error {
	for {
		select {
		case _, ok := <-events:
			if !ok {
				return errors.New("the event stream ended")
			}
		case <-time.After(100 * time.Millisecond):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// await waits for an event of a kind on a task.
func await(ctx context.Context, events <-chan seen, patience time.Duration, task string, kind fairlead.EventKind) (seen, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return seen{}, errors.New("the event stream ended")
			}
			if e.Task == task && e.Kind == kind {
				return e, nil
			}
		case <-timer.C:
			return seen{}, fmt.Errorf("no %s on %s within %s", kind, task, patience)
		case <-ctx.Done():
			return seen{}, ctx.Err()
		}
	}
}

// pace is the pause between two comments: the system is idle when one comes.
const pace = 20 * time.Millisecond

// claimLatency measures, on an idle system, how long a comment takes to the claim of the run it queues, as the claim's
// event arrives here: from its answer, when it is durable, and from its sending.
func claimLatency(ctx context.Context, b *bench, p place) error {
	s, err := b.start(ctx, p, 4)
	if err != nil {
		return err
	}
	defer s.stop() //nolint:errcheck // measured already
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := s.follow(ctx)
	if err != nil {
		return err
	}
	task, err := s.client.CreateTask(ctx, fairlead.NewTask{Title: "Talk", Workflow: "bench-talk"})
	if err != nil {
		return err
	}
	w, err := s.wire(ctx)
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // measured already
	var sent, durable []time.Duration
	for n := range b.size.claims {
		time.Sleep(pace)
		at := time.Now()
		if err := w.call(http.MethodPost, "/tasks/"+task.ID+"/comments", fairlead.CommentBody{Text: fmt.Sprint("Comment ", n)}, nil); err != nil {
			return err
		}
		answered := time.Now()
		e, err := await(ctx, events, 10*time.Second, task.ID, fairlead.EventRunClaimed)
		if err != nil {
			return err
		}
		sent, durable = append(sent, e.at.Sub(at)), append(durable, max(e.at.Sub(answered), 0))
		if _, err := await(ctx, events, 10*time.Second, task.ID, fairlead.EventRunProcessed); err != nil {
			return err
		}
	}
	whole, rest := loadOf(sent, 0), loadOf(durable, 0)
	b.add(Result{Name: "comment → claim, idle, from its commit", Database: p.name, Load: &rest, Goals: []Goal{below("p50_ms", 5), below("p99_ms", 25)}})
	b.add(Result{Name: "comment → claim, idle, from its sending", Database: p.name, Load: &whole})
	return nil
}

// launchLatency measures direct launches by a person at a fixed rate, behind runs of the same agent that wait for its
// one slot: from the request to the beginning of the turn, as its event arrives here. Runtime.Launch is called next.
func launchLatency(ctx context.Context, b *bench, p place) error {
	s, err := b.start(ctx, p, 256)
	if err != nil {
		return err
	}
	defer s.stop() //nolint:errcheck // measured already
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := s.follow(ctx)
	if err != nil {
		return err
	}
	if err := s.fillQueue(ctx, events, b.size.queued); err != nil {
		return err
	}
	tasks, err := s.create(ctx, b.size.launches, fairlead.NewTask{Title: "Launched", Workflow: "bench-queue", Step: "idle"})
	if err != nil {
		return err
	}
	if err := settle(ctx, events); err != nil {
		return err
	}
	took, err := s.launch(ctx, tasks, events)
	if err != nil {
		return err
	}
	l := loadOf(took, 0)
	b.add(Result{
		Name: fmt.Sprintf("direct launch, 100/s, behind %d queued runs", b.size.queued), Database: p.name, Load: &l,
		Goals: []Goal{below("p99_ms", 25)}, Note: "from the request to the arrival of the turn's first event",
	})
	return nil
}

// fillQueue occupies the agent's slot and queues n runs behind it.
func (s *server) fillQueue(ctx context.Context, events <-chan seen, n int) error {
	first, err := s.client.CreateTask(ctx, fairlead.NewTask{Title: "occupy the slot", Workflow: "bench-queue"})
	if err != nil {
		return err
	}
	if _, err := await(ctx, events, 10*time.Second, first.ID, fairlead.EventRunStarted); err != nil {
		return err
	}
	_, err = s.create(ctx, n, fairlead.NewTask{Title: "Waits", Workflow: "bench-queue"})
	return err
}

// launchPause is the pause between two launches.
const launchPause = 10 * time.Millisecond

// launch starts every task at the fixed rate, whether the one before is under way or not.
func (s *server) launch(ctx context.Context, tasks []string, events <-chan seen) ([]time.Duration, error) {
	const lanes = 32
	wires, closeAll, err := s.wires(ctx, lanes)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	sent := make(map[string]time.Time, len(tasks))
	failed := make(chan error, len(tasks))
	free := make(chan *wire, lanes)
	for _, w := range wires {
		free <- w
	}
	tick := time.NewTicker(launchPause)
	defer tick.Stop()
	for _, task := range tasks {
		<-tick.C
		w := <-free
		sent[task] = time.Now()
		go func() {
			if err := w.call(http.MethodPost, "/tasks/"+task+"/start", fairlead.StartBody{}, nil); err != nil {
				failed <- err
			}
			free <- w
		}()
	}
	return arrivals(ctx, sent, events, failed)
}

// arrivals waits until every task's turn has begun.
func arrivals(ctx context.Context, sent map[string]time.Time, events <-chan seen, failed <-chan error) (took []time.Duration, err error) {
	for len(took) < len(sent) {
		select {
		case e := <-events:
			if at, ok := sent[e.Task]; ok && e.Kind == fairlead.EventRunStarted {
				took = append(took, e.at.Sub(at))
			}
		case err := <-failed:
			return nil, err
		case <-time.After(20 * time.Second):
			return nil, fmt.Errorf("%d of %d turns began", len(took), len(sent))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return took, nil
}
