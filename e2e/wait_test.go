package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// until looks after every event of the topics until ok says yes. The first look is at once: the stream begins at a place
// that is in no log, so it begins with a reset.
func (s *server) until(what string, topics []string, ok func(ctx context.Context) (bool, error)) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), deadline)
	defer cancel()
	for _, err := range s.client.Events(ctx, "0-0", topics...) {
		if err != nil {
			s.t.Fatalf("wait for %s: %v", what, err)
		}
		done, err := ok(ctx)
		if err != nil {
			s.t.Fatalf("wait for %s: %v", what, err)
		}
		if done {
			return
		}
	}
	s.t.Fatalf("%s did not happen in %v\n%s", what, deadline, s.tail())
}

// await returns the task as soon as ok holds of it.
func (s *server) await(task, what string, ok func(fairlead.TaskView) bool) (t fairlead.TaskView) {
	s.t.Helper()
	defer func() {
		if s.t.Failed() {
			s.t.Logf("the task last seen: step %s, visit %d, state %s, requests %v, holds %v", t.Step, t.Visit, t.State, t.OpenRequests, t.Holds)
		}
	}()
	s.until(what, []string{"task:" + task}, func(ctx context.Context) (bool, error) {
		var err error
		t, err = s.client.GetTask(ctx, task)
		return err == nil && ok(t), err
	})
	return t
}

// at waits until the task stands at a step.
func (s *server) at(task, step string) fairlead.TaskView {
	s.t.Helper()
	return s.await(task, task+" at "+step, func(t fairlead.TaskView) bool { return t.Step == step })
}

// awaitRuns returns the task's runs as soon as ok holds of them.
func (s *server) awaitRuns(task, what string, ok func([]fairlead.RunView) bool) (runs []fairlead.RunView) {
	s.t.Helper()
	s.until(what, []string{"task:" + task}, func(ctx context.Context) (bool, error) {
		var err error
		runs, err = s.client.TaskRuns(ctx, task)
		return err == nil && ok(runs), err
	})
	return runs
}

// awaitRequest returns the task's only open request of a kind as soon as there is one.
func (s *server) awaitRequest(task string, kind fairlead.RequestKind) (r fairlead.RequestView) {
	s.t.Helper()
	s.until("a request "+string(kind), []string{"task:" + task}, func(context.Context) (bool, error) {
		for _, r = range s.requests(task) {
			if r.Kind == kind && r.State == fairlead.RequestOpen {
				return true, nil
			}
		}
		return false, nil
	})
	return r
}

// poll is for what no event tells: files and processes.
func poll(t testing.TB, what string, limit time.Duration, ok func() bool) {
	t.Helper()
	late := time.After(limit)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s did not happen in %v", what, limit)
		}
	}
}
