package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/workspace"
)

// Queue is what a worker asks of control.
type Queue interface {
	Claim(ctx context.Context, n control.Node) (*control.Claimed, error)
	Report(ctx context.Context, r control.Report) (control.Directive, error)
	Stopping(ctx context.Context, n control.Node) ([]string, error)
	CarriedTo(ctx context.Context, run string) (assignment string, err error)
}

// Trees prepares the directory a task is worked in; workspace.Manager does.
type Trees interface {
	Prepare(ctx context.Context, o workspace.Order) (workspace.Tree, error)
	Leave(ctx context.Context, identifier, name string, confirm func() bool) (workspace.Left, error)
}

// Tools makes the tools of one execution in a directory. release lets go of what they hold; call it after the turn.
type Tools func(dir string, who Authority) (box agent.ToolBox, release func(), err error)

// Deps are what a worker works with. All are needed but Log.
type Deps struct {
	Queue   Queue
	Runtime agent.Runtime
	Trees   Trees
	Tools   Tools
	Log     *slog.Logger // nil = discard
	// Claimed is told how long each claimed run had waited; nil = nobody is.
	Claimed func(waited time.Duration)
	// Tracer makes a span of every run and of its tools; nil = none.
	Tracer trace.Tracer
	// Sessions is the directory in which transcripts of sessions are kept.
	Sessions string
	// Shared says that other nodes work on the same queue: which node has a task's tree is told, and worktrees leave
	// checkpoints.
	Shared bool
}

// Options tune a Worker; nil means the defaults.
type Options struct {
	// Slots is how many runs this node works on at once; default 4.
	Slots int
}

const defaultSlots = 4

// Worker claims runs of one node's epoch and carries them out. It implements [control.Launcher].
type Worker struct {
	Deps
	node control.Node

	mu      sync.Mutex
	free    int
	live    map[string]*drive // by run
	closing bool              // no further claims
	idle    chan struct{}     // closed when closing and nothing is live

	looking sync.Mutex // one look at a time
	running sync.WaitGroup
	ctx     context.Context // ends when the drain is over; every drive stops its agent then
	cancel  context.CancelFunc
}

var _ control.Launcher = (*Worker)(nil)

// New makes a worker of an epoch. It claims nothing before Look is called.
func New(d Deps, node control.Node, o *Options) *Worker {
	w := &Worker{Deps: d, node: node, free: defaultSlots, live: make(map[string]*drive), idle: make(chan struct{})}
	if o != nil && o.Slots > 0 {
		w.free = o.Slots
	}
	if w.Log == nil {
		w.Log = slog.New(slog.DiscardHandler)
	}
	// The worker's work outlives any call; Close ends it.
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// Node is the epoch the worker works in.
func (w *Worker) Node() control.Node { return w.node }

// Reserve takes a slot; false when none is free or the worker is closing.
func (w *Worker) Reserve() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing || w.free == 0 {
		return false
	}
	w.free--
	return true
}

// Release gives a reserved slot back.
func (w *Worker) Release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free++
}

// Launch begins the work on a claimed run in a reserved slot and returns at once.
func (w *Worker) Launch(c *control.Claimed) {
	d := newDrive(w, c)
	ctx, cancel := context.WithCancelCause(w.ctx)
	d.cut = func() { cancel(errCut) }
	w.mu.Lock()
	w.live[c.Run.ID] = d
	w.running.Add(1)
	w.mu.Unlock()
	go func() {
		defer w.running.Done()
		defer cancel(nil)
		d.run(ctx)
		w.done(c.Run.ID)
	}()
}

// errCut is why the context of a drive ended that was interrupted while its worker goes on.
var errCut = errors.New("the node's lease is over")

// Interrupt ends the agents of all live runs and hands the runs back, as cut off by a fault; the worker goes on.
func (w *Worker) Interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.live {
		d.cut()
	}
}

// done frees the slot of a run and looks for the next one.
func (w *Worker) done(run string) {
	w.mu.Lock()
	delete(w.live, run)
	w.free++
	if w.closing && len(w.live) == 0 {
		close(w.idle)
	}
	w.mu.Unlock()
	if err := w.Look(w.ctx); err != nil && w.ctx.Err() == nil {
		w.Log.Error("look for runs", "error", err)
	}
}

// Stop tells a run's drive to end its agent. Unknown runs are another node's.
func (w *Worker) Stop(run string) {
	w.mu.Lock()
	d := w.live[run]
	w.mu.Unlock()
	if d != nil {
		d.tellStop()
	}
}

// Look claims until it misses, and stops what was told to stop. Calls may come from anywhere; they follow each other.
func (w *Worker) Look(ctx context.Context) error {
	w.looking.Lock()
	defer w.looking.Unlock()
	stopping, err := w.Queue.Stopping(ctx, w.node)
	if err != nil {
		return err
	}
	for _, run := range stopping {
		w.Stop(run)
	}
	// Where there is one there are often more: a claim mostly waits for its commit, and several share one.
	if more, err := w.claim(ctx); !more {
		return err
	}
	errs := make([]error, claimers)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for more := true; more; {
				more, errs[i] = w.claim(ctx)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// claimers is how many runs are claimed at once, when there are several.
const claimers = 4

// claim claims a run and launches its agent; more is false when there was none, or no slot for it.
func (w *Worker) claim(ctx context.Context) (more bool, err error) {
	if !w.Reserve() {
		return false, nil
	}
	c, err := w.Queue.Claim(ctx, w.node)
	if err != nil || c == nil {
		w.Release()
		return false, err
	}
	if w.Claimed != nil {
		w.Claimed(c.Run.ClaimedAt.Sub(c.Run.DueAt))
	}
	w.Launch(c)
	return true, nil
}

// Close stops claiming, waits for live runs until ctx ends, then ends their agents and hands the runs back. It returns
// when nothing of this worker is left.
func (w *Worker) Close(ctx context.Context) error {
	w.mu.Lock()
	first := !w.closing
	w.closing = true
	if first && len(w.live) == 0 {
		close(w.idle)
	}
	w.mu.Unlock()
	var late error
	select {
	case <-w.idle:
	case <-ctx.Done():
		late = fmt.Errorf("drain runs: %w", ctx.Err())
	}
	w.cancel()
	w.running.Wait()
	return late
}

// Live returns how many runs are being worked on.
func (w *Worker) Live() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.live)
}
