package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/agent/script"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/config"
	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/dispatch"
	"github.com/fairlead/fairlead/internal/hub"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/telemetry"
	"github.com/fairlead/fairlead/internal/worker"
	"github.com/fairlead/fairlead/internal/workspace"
)

// Options are what a process gives to its server beside the settings.
type Options struct {
	Log *slog.Logger // nil = discard
	// Ready is called with the address once the server answers; nil = nobody is told.
	Ready func(addr string)
	// NoSweep switches the sweep of the dispatcher off, for tests that show that nothing depends on it.
	NoSweep bool
}

// App is a server that is put together but not running.
type App struct {
	cfg      *config.Config
	opts     Options
	log      *slog.Logger
	home     *home
	lock     *store.HomeLock // nil where the store holds it
	db       *store.DB
	control  *control.Control
	dispatch dispatch.Dispatcher
	launcher *workspace.Launcher
	spool    *agent.Spool
	script   *script.Adapter
	metrics  *telemetry.Metrics
	traces   *telemetry.Traces // nil = off
	listener net.Listener
}

// New opens the home and the database, takes the home's lock and the address, and wires everything. Nothing runs yet.
// A second server on a SQLite home is refused here.
func New(ctx context.Context, cfg *config.Config, o *Options) (a *App, err error) {
	a = &App{cfg: cfg, log: slog.New(slog.DiscardHandler), metrics: telemetry.NewMetrics()}
	if o != nil {
		a.opts = *o
	}
	if a.opts.Log != nil {
		a.log = a.opts.Log
	}
	made := a
	defer func() {
		if err != nil {
			err = errors.Join(err, made.close())
		}
	}()
	if a.home, err = openHome(cfg.Home); err != nil {
		return nil, err
	}
	if a.db, err = store.Open(ctx, cfg.Database, &store.Options{Exclusive: true}); err != nil {
		return nil, err
	}
	// On SQLite the store holds this lock. Nodes of one database each need a home: what a start finds running in its
	// home it kills.
	if a.db.Dialect() != sqlite {
		if a.lock, err = store.LockHome(cfg.Home); err != nil {
			return nil, err
		}
	}
	if a.dispatch, err = a.dispatcher(ctx); err != nil {
		return nil, err
	}
	if cfg.Traces {
		if a.traces, err = telemetry.NewTraces(ctx, a.log); err != nil {
			return nil, err
		}
	}
	a.metrics.Gauge("spans_dropped", "Spans that no collector took.", a.traces.Dropped)
	a.control = control.New(control.Deps{DB: a.db, Dispatch: a.dispatch, Log: a.log}, &control.Options{
		Prices: prices(cfg.Prices), DeliverByJobs: a.db.Dialect() != sqlite, Tracer: a.traces.Tracer(),
		ReleaseAfter: cfg.Release,
	})
	a.launcher = workspace.NewLauncher(a.home.mark, nil)
	if err := a.agents(); err != nil {
		return nil, err
	}
	if a.listener, err = net.Listen("tcp", cfg.Addr); err != nil {
		return nil, &fairlead.Error{
			Code: fairlead.CodeUnavailable, Op: "listen", Message: "cannot listen on " + cfg.Addr, Err: err,
			Hint: "another program may hold the address; choose another one with --addr",
		}
	}
	return a, nil
}

// agents makes the adapters of the runtime port.
func (a *App) agents() (err error) {
	if a.spool, err = agent.OpenSpool(a.home.path(executionsDir), time.Now()); err != nil {
		return fmt.Errorf("open spool: %w", err)
	}
	if a.script, err = script.New(agent.NewRecorder(a.spool, time.Now), a.home.path(sessionsDir)); err != nil {
		return err
	}
	return nil
}

// Control is the server's control, for a program that embeds it.
func (a *App) Control() *control.Control { return a.control }

// Addr is the address the server listens on.
func (a *App) Addr() string { return a.listener.Addr().String() }

// Token is the owner's token of this home.
func (a *App) Token() string { return a.home.token }

// Run serves until ctx ends, then drains: it stops claiming, waits for live runs up to the drain time, hands back what
// is left, and closes. The end of ctx is no error.
func (a *App) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, a.close()) }()
	trees, err := a.trees()
	if err != nil {
		return err
	}
	seat := &seat{app: a, trees: trees}
	if err := seat.sit(ctx); err != nil {
		return err
	}
	defer a.control.SetLauncher(nil)
	// What serves ends only after the drain: a run that drains still reports, and people may still ask.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	group, serving := errgroup.WithContext(serving)
	a.serve(serving, group, seat)
	if err := a.dispatch.Start(serving, seat.look, map[string]dispatch.Job{control.JobDeliver: a.control.Deliver}); err != nil {
		return err
	}
	if a.opts.Ready != nil {
		a.opts.Ready(a.Addr())
	}
	select {
	case <-ctx.Done():
	case <-serving.Done():
	}
	seat.leaving.Store(true)
	late := a.drain(seat.now.Load())
	stop()
	return errors.Join(group.Wait(), late, seat.leave())
}

// drain is the first phase of a stop.
func (a *App) drain(w *worker.Worker) error {
	bounded, cancel := context.WithTimeout(context.Background(), a.cfg.Drain)
	defer cancel()
	a.log.Info("draining", "live_runs", w.Live(), "for", a.cfg.Drain)
	stopped := a.dispatch.Stop(bounded)
	if err := w.Close(bounded); err != nil {
		a.log.Warn("runs handed back", "error", err)
	}
	return stopped
}

// begin makes this start an epoch: the trees of earlier starts are dead before anything may be claimed, and what ran
// under them is interrupted.
func (a *App) begin(ctx context.Context) (control.Node, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if found, err := a.launcher.Reap(ctx, nil); err != nil {
		return control.Node{}, fmt.Errorf("reap processes of an earlier start: %w", err)
	} else if found > 0 {
		a.log.Info("reaped processes of an earlier start", "count", found)
	}
	setup := control.SetupOptions{OwnerToken: a.home.token, Home: a.home.mark, Adapter: bestAdapter}
	if err := a.control.Setup(ctx, setup); err != nil {
		return control.Node{}, fmt.Errorf("set up: %w", err)
	}
	// The home's lock is held, so whatever ran in it before is dead, wherever its database is.
	if err := a.db.BuryEpochs(ctx, nodePrefix(a.home.mark)); err != nil {
		return control.Node{}, fmt.Errorf("bury earlier epochs: %w", err)
	}
	id, err := newNodeID(a.home.mark)
	if err != nil {
		return control.Node{}, err
	}
	n, err := a.db.BeginEpoch(ctx, fairlead.Node{ID: id, Host: host, PID: os.Getpid(), Labels: a.cfg.Labels, Slots: a.cfg.Workers})
	if err != nil {
		return control.Node{}, fmt.Errorf("begin epoch: %w", err)
	}
	node := control.Node{ID: n.ID, Epoch: n.Epoch, Labels: a.cfg.Labels}
	if err := a.control.Recover(ctx, node); err != nil {
		return node, fmt.Errorf("recover runs: %w", err)
	}
	if err := a.control.DeliverOutbox(ctx); err != nil {
		return node, err
	}
	return node, nil
}

// trees opens the directories tasks are worked in. What a killed server left half-made is swept.
func (a *App) trees() (*workspace.Manager, error) {
	trees, err := workspace.NewManager(a.home.path(worktreesDir), nil)
	if err != nil {
		return nil, err
	}
	if _, err := trees.SweepScratch(); err != nil {
		return nil, fmt.Errorf("sweep scratch trees: %w", err)
	}
	return trees, nil
}

func (a *App) worker(node control.Node, trees *workspace.Manager) *worker.Worker {
	return worker.New(worker.Deps{
		Queue: a.control, Runtime: agent.NewRegistry(map[string]agent.Runtime{"auto": noAgent{}, "script": a.script}), Trees: trees, Tools: a.tools, Log: a.log,
		Sessions: a.home.path(sessionsDir), Claimed: a.metrics.Claim, Tracer: a.traces.Tracer(),
		Shared: a.db.Dialect() != sqlite,
	}, node, &worker.Options{Slots: a.cfg.Workers})
}

// serve starts what answers and what keeps time.
func (a *App) serve(ctx context.Context, group *errgroup.Group, seat *seat) {
	signals := a.db.Signals()
	events := hub.New(eventLog{a.db}, signals.C(store.TopicEvents), &hub.Options{Log: a.log})
	deps := api.DepsOf(a.control, events)
	deps.Observer, deps.Metrics = a.metrics, a.metrics.Handler()
	deps.Ready = func(ctx context.Context) error {
		return a.db.Read(ctx, func(r *store.ReadTx) error {
			_, err := r.Head()
			return err
		})
	}
	a.gauges(seat)
	server := api.New(deps, &api.Options{Addr: a.cfg.Addr, Hosts: a.cfg.Hosts, Log: a.log, Tracer: a.traces.Tracer()})
	group.Go(func() error {
		defer signals.Close()
		return events.Run(ctx)
	})
	group.Go(func() error { return server.Serve(ctx, a.listener) })
	group.Go(func() error { return a.control.RunTimers(ctx) })
	if a.db.Dialect() != sqlite {
		group.Go(func() error { return seat.keep(ctx) })
	}
	group.Go(func() error { return a.pruneWire(ctx) })
	group.Go(func() error { return a.notify(ctx) })
	group.Go(func() error { return a.janitor(ctx, events, seat.trees) })
}

// close lets go of everything that New took.
func (a *App) close() error {
	var errs []error
	if a.script != nil {
		a.script.Close()
	}
	if a.spool != nil {
		errs = append(errs, a.spool.Close())
	}
	if a.listener != nil {
		if err := a.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	if err := a.traces.Close(); err != nil {
		a.log.Warn("stop tracing", "error", err) // nothing that was acknowledged is lost with it
	}
	errs = append(errs, a.lock.Release())
	return errors.Join(errs...)
}
