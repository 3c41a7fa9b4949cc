package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"

	"github.com/fairlead/fairlead"
)

// start begins a server for a scenario on a fresh home and furnishes it with the workflows and agents of the bench.
func (b *bench) start(ctx context.Context, p place, workers int) (*server, error) {
	home, err := b.scratch("home")
	if err != nil {
		return nil, err
	}
	s, err := serve(ctx, b.bin, home, p.url, workers)
	if err != nil {
		return nil, err
	}
	if err := s.furnish(ctx); err != nil {
		_ = s.stop()
		return nil, fmt.Errorf("furnish server: %w", err)
	}
	return s, nil
}

func (s *server) furnish(ctx context.Context) error {
	for _, source := range []string{heldAgent, quickAgent, busyAgent} {
		if _, err := s.client.ApplyAgent(ctx, fairlead.AgentBody{Source: source}); err != nil {
			return err
		}
	}
	if _, err := s.client.PauseAgent(ctx, "bench-held", fairlead.PauseBody{Reason: "measured"}); err != nil {
		return err
	}
	for _, source := range []string{benchFlow, talkFlow, queueFlow} {
		if _, err := s.client.SaveWorkflow(ctx, fairlead.WorkflowBody{Source: source}); err != nil {
			return err
		}
	}
	return nil
}

// create makes n tasks.
func (s *server) create(ctx context.Context, n int, t fairlead.NewTask) (ids []string, err error) {
	for range n {
		v, err := s.client.CreateTask(ctx, t)
		if err != nil {
			return nil, err
		}
		ids = append(ids, v.ID)
	}
	return ids, nil
}

// overHTTP measures op with each number of callers, each on a connection of its own.
func (b *bench) overHTTP(ctx context.Context, s *server, c int, op func(w *wire, caller, n int) error) (Load, error) {
	wires, closeAll, err := s.wires(ctx, c)
	if err != nil {
		return Load{}, err
	}
	defer closeAll()
	before, err := s.cpu()
	if err != nil {
		return Load{}, err
	}
	var done atomic.Int64
	l, err := closedLoop(ctx, c, b.size.bound, func(_ context.Context, caller, n int) error {
		done.Add(1)
		return op(wires[caller], caller, n)
	})
	if err != nil {
		return l, err
	}
	after, err := s.cpu()
	l.CPU = round(float64((after - before).Microseconds()) / 1000 / float64(max(done.Load(), 1)))
	return l, err
}

// createTasks measures the creation of tasks that no agent works on.
func createTasks(ctx context.Context, b *bench, p place) error {
	s, err := b.start(ctx, p, 1)
	if err != nil {
		return err
	}
	defer s.stop() //nolint:errcheck // measured already
	for _, c := range b.size.callers {
		l, err := b.overHTTP(ctx, s, c, func(w *wire, _, n int) error {
			return w.call(http.MethodPost, "/tasks", fairlead.NewTask{Title: fmt.Sprint("Task ", n), Workflow: "bench"}, nil)
		})
		if err != nil {
			return err
		}
		b.add(Result{Name: "create a task", Database: p.name, Callers: c, Load: &l})
	}
	return nil
}

// moveTasks measures moves with the whole path: exit action, end of the visit and of the run that waited there, new
// visit, enter action, new run queued. The agent is paused, so that runs wait and turns cost nothing.
func moveTasks(ctx context.Context, b *bench, p place) error {
	s, err := b.start(ctx, p, 1)
	if err != nil {
		return err
	}
	defer s.stop() //nolint:errcheck // measured already
	for _, c := range b.size.callers {
		tasks, err := s.create(ctx, b.size.moved, fairlead.NewTask{Title: "Moved", Workflow: "bench", Step: "build"})
		if err != nil {
			return err
		}
		l, err := b.overHTTP(ctx, s, c, func(w *wire, caller, n int) error {
			task, step := turnOf(tasks, c, caller, n)
			return w.call(http.MethodPost, "/tasks/"+task+"/move", fairlead.MoveBody{Step: step}, nil)
		})
		if err != nil {
			return err
		}
		r := Result{Name: "move a task, exit to queued run", Database: p.name, Callers: c, Load: &l}
		if c == 8 {
			r.Goals = []Goal{atLeast("per_second", 1800), below("p99_ms", 40)}
		}
		b.add(r)
	}
	return nil
}

// fileOf is the SQLite file of a home.
func fileOf(home string) string { return filepath.Join(home, "fairlead.db") }
