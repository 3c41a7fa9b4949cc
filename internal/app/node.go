package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/worker"
	"github.com/fairlead/fairlead/internal/workspace"
)

// seat holds the worker of the node's present epoch. On a database that nodes share, epochs come and go in one process.
type seat struct {
	app     *App
	trees   *workspace.Manager
	now     atomic.Pointer[worker.Worker]
	leaving atomic.Bool // a drain has begun: no further epoch
}

// sit begins an epoch and makes its worker the one that claims and launches.
func (s *seat) sit(ctx context.Context) error {
	node, err := s.app.begin(ctx)
	if err != nil {
		return err
	}
	w := s.app.worker(node, s.trees)
	s.now.Store(w)
	s.app.control.SetLauncher(w)
	return nil
}

// look is what the dispatcher calls at each wake.
func (s *seat) look(ctx context.Context) error { return s.now.Load().Look(ctx) }

// live is how many runs this node works on now.
func (s *seat) live() float64 { return float64(s.now.Load().Live()) }

// keep holds the node's lease on a shared database until ctx ends. A node that was declared dead kills its trees and
// begins anew.
func (s *seat) keep(ctx context.Context) error {
	for {
		w := s.now.Load()
		err := s.app.control.KeepNode(ctx, w.Node(), control.Keeping{
			Boot: workspace.BootTime, Extend: s.app.launcher.SetDeadline,
			Cut: func() { s.now.Load().Interrupt() },
		})
		if !errors.Is(err, control.ErrEpochDead) {
			return err
		}
		s.app.log.Error("this node was declared dead: killing what it runs and beginning anew", "node", w.Node().ID)
		s.abandon(ctx, w)
		if s.leaving.Load() {
			return nil
		}
		if err := s.anew(ctx); err != nil {
			return err
		}
	}
}

// abandon ends a dead epoch: first its trees, by force, then its worker, whose last reports are refused.
func (s *seat) abandon(ctx context.Context, w *worker.Worker) {
	s.app.control.SetLauncher(nil)
	if _, err := s.app.launcher.Reap(context.WithoutCancel(ctx), nil); err != nil {
		s.app.log.Error("kill the trees of a dead epoch", "error", err)
	}
	over, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cancel()
	if err := w.Close(over); err != nil {
		s.app.log.Warn("runs were taken over", "error", err)
	}
	s.app.launcher.SetDeadline(0)
}

// anew begins the next epoch, as soon as the database lets it.
func (s *seat) anew(ctx context.Context) error {
	for {
		err := s.sit(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			if err := s.look(ctx); err != nil {
				s.app.log.Error("look for work", "error", err)
			}
			return nil
		}
		s.app.log.Error("begin a new epoch", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(anewPause):
		}
	}
}

// anewPause is the wait before a new epoch is tried again.
const anewPause = 2 * time.Second

// leave tells other nodes of a shared database that this one has ended in good order.
func (s *seat) leave() error {
	if s.app.db.Dialect() == sqlite {
		return nil // the next start buries this one
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := s.app.control.Leave(ctx, s.now.Load().Node()); err != nil {
		return fmt.Errorf("leave the other nodes: %w", err)
	}
	return nil
}

// leaveTime bounds the farewell: without it the others find out in half a minute.
const leaveTime = 5 * time.Second

// sqlite is the dialect of a database that one process has for itself.
const sqlite = "sqlite"
