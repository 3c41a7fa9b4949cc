package app

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/store"
)

// gauges are what the metrics read when they are asked.
func (a *App) gauges(seat *seat) {
	s := &statsReader{app: a}
	a.metrics.Gauge("live_runs", "Runs this node works on now.", seat.live)
	a.holdGauges()
	a.metrics.Gauge("node_deaths", "Nodes that this one has declared dead since its start.", func() float64 { return float64(a.control.NodeDeaths()) })
	a.metrics.Gauge("runs_queued", "Queued runs of all workspaces.", func() float64 { return float64(s.read().Queued) })
	a.metrics.Gauge("runs_due", "Queued runs that are due: they wait for a slot or are held.", func() float64 { return float64(s.read().Due) })
	a.metrics.Gauge("runs_live", "Runs that some node works on.", func() float64 { return float64(s.read().Live) })
	a.metrics.Gauge("runs_retrying", "Queued runs whose last attempt failed.", func() float64 { return float64(s.read().Retrying) })
	a.metrics.Gauge("oldest_due_seconds", "How long ago the oldest due run was asked for; 0 without one.", func() float64 {
		if oldest := s.read().OldestDue; !oldest.IsZero() {
			return time.Since(oldest).Seconds()
		}
		return 0
	})
	a.metrics.Gauge("requests_open", "Open requests to people.", func() float64 { return float64(s.read().OpenRequests) })
	a.metrics.Gauge("outbox_undelivered", "Triggers and webhooks that wait to be delivered.", func() float64 { return float64(s.read().Undelivered) })
}

// statsReader reads the figures once for all gauges of a scrape.
type statsReader struct {
	app *App

	mu    sync.Mutex
	at    time.Time
	stats store.Stats
}

// statsAge is how old the figures of a gauge may be.
const statsAge = time.Second

func (s *statsReader) read() store.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) < statsAge {
		return s.stats
	}
	ctx, cancel := context.WithTimeout(context.Background(), statsAge)
	defer cancel()
	err := s.app.db.Read(ctx, func(tx *store.ReadTx) (err error) {
		s.stats, err = tx.Stats()
		return err
	})
	if err != nil {
		s.app.log.Warn("read figures", "error", err)
	}
	s.at = time.Now()
	return s.stats
}
