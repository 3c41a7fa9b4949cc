package control

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/catalog"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/dispatch"
	"github.com/fairlead/fairlead/internal/store"
)

// Deps are what control works with; all but Log are needed.
type Deps struct {
	DB       *store.DB
	Dispatch dispatch.Dispatcher
	Log      *slog.Logger // nil = discard
}

// Options tune a Control; nil means the defaults.
type Options struct {
	// Random gives seeds and claim ids; default crypto/rand.
	Random io.Reader
	// Prices says what models cost, by their names, where the provider does not tell. A model without a price is shown as
	// unpriced, never as free.
	Prices map[string]fairlead.Price
	// DeliverByJobs adds a job [JobDeliver] to each command that leaves something for another task, for dispatchers whose
	// jobs outlive their node; whoever starts the dispatcher gives it [Control.Deliver].
	DeliverByJobs bool
	// Tracer makes a span of every command; nil = none.
	Tracer trace.Tracer
	// ReleaseAfter is how long a node is dead before its queued work goes on elsewhere from its last pushed checkpoint
	// without anybody's word; 0 = never.
	ReleaseAfter time.Duration
}

// Control carries out commands. It is safe for concurrent use.
type Control struct {
	db       *store.DB
	dispatch dispatch.Dispatcher
	log      *slog.Logger
	random   io.Reader

	// Reader answers every question; its methods are Control's own.
	*read.Reader

	catalog  *catalog.Catalog
	worker   localWorker
	skewed   atomic.Bool // this node's clock is off: it claims nothing and fires nothing
	skewTold atomic.Bool // the database knows that
	claiming claiming
	tracer   trace.Tracer // nil = nobody traces
	deaths   atomic.Int64 // epochs declared dead here
	prices   map[string]fairlead.Price

	deliverByJobs bool
	releaseAfter  time.Duration
}

// New makes a Control over a database.
func New(d Deps, o *Options) *Control {
	cat := &catalog.Catalog{}
	c := &Control{db: d.DB, dispatch: d.Dispatch, log: d.Log, random: rand.Reader, catalog: cat, Reader: read.New(d.DB, cat)}
	c.Holds = c.runHolds
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if o != nil && o.Random != nil {
		c.random = &lockedReader{r: o.Random}
	}
	if o != nil {
		c.prices, c.deliverByJobs, c.tracer, c.releaseAfter = o.Prices, o.DeliverByJobs, o.Tracer, o.ReleaseAfter
	}
	return c
}

// lockedReader lets many commands share a source of randomness that is not safe for concurrent use.
type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

// background is the context of work that follows a commit and must not die with the caller's request.
func background(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }
