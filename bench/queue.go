package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/dispatch/local"
	"github.com/fairlead/fairlead/internal/store"
)

// queue is control in this process with agents that nobody runs: what is measured is the queue and not an agent.
type queue struct {
	db      *store.DB
	control *control.Control
	looks   *local.Dispatcher
	node    control.Node
	agents  int
}

func (q *queue) claim(ctx context.Context) (*control.Claimed, error) {
	return q.control.Claim(ctx, q.node)
}

// agentFlow is worked by one agent. A turn leaves the task where it is.
const agentFlow = `
workflow: queue%[1]d
name: Queue
start: idle
steps:
  - key: idle
    name: Idle
    agent: hand%[1]d
    on:
      comment: [{queue_run: {to: primary, reason: comment}}]
  - key: work
    name: Work
    agent: hand%[1]d
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
  - {key: done, name: Done, terminal: done}
`

// openQueue opens the database of a place and begins an epoch. Nothing polls: a wake that is lost is never made good.
func openQueue(ctx context.Context, url string) (*queue, error) {
	db, err := store.Open(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	q := &queue{db: db, looks: local.New(db, &local.Options{NoSweep: true})}
	q.control = control.New(control.Deps{DB: db, Dispatch: q.looks}, nil)
	n, err := db.BeginEpoch(ctx, fairlead.Node{ID: "nod_" + strings.ToLower(rand.Text()), Host: "bench", Slots: 1000})
	if err != nil {
		return nil, joinClose(err, db)
	}
	q.node = control.Node{ID: n.ID, Epoch: n.Epoch}
	return q, nil
}

// furnishedQueue is openQueue on an empty database, with agents of one slot each and a workflow for each of them.
func (b *bench) furnishedQueue(ctx context.Context, p place, agents int) (*queue, error) {
	url := p.url
	if url == "" {
		dir, err := b.scratch("queue")
		if err != nil {
			return nil, err
		}
		url = filepath.Join(dir, "fairlead.db")
	}
	q, err := openQueue(ctx, url)
	if err != nil {
		return nil, err
	}
	q.agents = agents
	if err := q.furnish(ctx); err != nil {
		return nil, joinClose(err, q.db)
	}
	return q, nil
}

func (q *queue) furnish(ctx context.Context) error {
	if err := q.control.Setup(ctx, control.SetupOptions{OwnerToken: "flt_bench", Home: "bench"}); err != nil {
		return err
	}
	for i := range q.agents {
		agent := fairlead.AgentBody{Source: fmt.Sprintf("agent: hand%d\nadapter: script\nscript:\n  - do: [{say: yes}]\n", i)}
		if _, err := q.control.ApplyAgent(ctx, benchOwner, agent); err != nil {
			return err
		}
		if _, err := q.control.SaveWorkflow(ctx, benchOwner, fairlead.WorkflowBody{Source: fmt.Sprintf(agentFlow, i)}); err != nil {
			return err
		}
	}
	return nil
}

// add makes tasks at a step, spread over the agents, by several callers. It returns their ids.
func (q *queue) add(ctx context.Context, callers, n int, step string) ([]string, error) {
	ids := make([]string, n)
	err := inParallel(callers, n, func(i int) error {
		t, err := q.control.CreateTask(ctx, benchOwner, fairlead.NewTask{
			Title: fmt.Sprint("Task ", i), Workflow: fmt.Sprint("queue", i%q.agents), Step: step,
		})
		ids[i] = t.ID
		return err
	})
	return ids, err
}

// inParallel does n things by several callers; the first error ends it.
func inParallel(callers, n int, do func(i int) error) error {
	var next atomic.Int64
	var first atomic.Pointer[error]
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && first.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					first.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	all.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}

// turn does what a worker tells of a claimed run: the turn begins, and it ends with a message and a dead tree.
func (q *queue) turn(ctx context.Context, k *control.Claimed) error {
	r := control.Report{Run: k.Run.ID, Fence: k.Run.Fence, Node: q.node, Claimed: k.Run, Seq: 1, Facts: []control.Fact{
		{Execution: "exe_" + k.Run.ID}, {Turn: &control.TurnStarted{Through: k.Through, Prompt: "work"}},
	}}
	if _, err := q.control.Report(ctx, r); err != nil {
		return err
	}
	r.Seq, r.Facts = 2, []control.Fact{{Record: &control.Entry{Kind: fairlead.RecordMessage, Data: []byte(`{"text":"yes"}`)}}}
	r.End, r.TreeDead = &control.TurnEnd{StopReason: "end_turn"}, true
	d, err := q.control.Report(ctx, r)
	if err == nil && d != control.StopTree {
		err = fmt.Errorf("the end of run %s was answered %d", k.Run.ID, d)
	}
	return err
}

// workOff claims and completes until n runs are done, by several workers. A worker that misses while others are busy looks
// again when one of them is done: the queue is empty only when nobody is.
func (q *queue) workOff(ctx context.Context, workers, n int) error {
	_, err := q.work(ctx, workers, func(done int64) (bool, error) { return done >= int64(n), nil })
	return err
}

// drain does so until no run is queued, whoever has done them, and returns how many it did.
func (q *queue) drain(ctx context.Context, workers int) (int64, error) {
	return q.work(ctx, workers, func(int64) (bool, error) {
		queued, err := q.control.ListRuns(ctx, benchOwner.Workspace, control.RunQuery{Status: string(fairlead.RunQueued), Limit: 1})
		return err == nil && len(queued.Items) == 0, err
	})
}

// work claims and completes; empty says, after a miss, whether that was all.
func (q *queue) work(ctx context.Context, workers int, empty func(done int64) (bool, error)) (int64, error) {
	var done atomic.Int64
	freed := make(chan struct{}, workers)
	err := inParallel(workers, workers, func(int) error {
		for {
			k, err := q.claim(ctx)
			if err != nil {
				return err
			}
			if k == nil {
				if all, err := empty(done.Load()); err != nil || all {
					return err
				}
				select {
				case <-freed:
				case <-time.After(5 * time.Millisecond): // another node works too
				case <-ctx.Done():
					return ctx.Err()
				}
				continue
			}
			if err := q.turn(ctx, k); err != nil {
				return err
			}
			done.Add(1)
			select {
			case freed <- struct{}{}:
			default:
			}
		}
	})
	return done.Load(), err
}
