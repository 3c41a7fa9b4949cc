package dispatch

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/store"
)

// Dispatcher is the port. Its methods are safe for concurrent use; Start is called at most once, and Stop ends what
// Start began.
type Dispatcher interface {
	// WakeTx asks every node to look for work once the transaction is committed.
	WakeTx(tx *store.Tx)

	// JobTx asks for a background job once the transaction is committed. A job runs at least once while some node lives
	// and may run again after a failure. Whoever must not lose it keeps the fact in a table and sweeps that.
	JobTx(tx *store.Tx, kind string, args []byte) error

	// Every adds a periodic duty; call it before Start. Among all nodes one carries it out at a time.
	Every(d Duty)

	// Start begins to deliver and returns. look is called first of all and after every wake; it claims until it
	// misses, and returns. Calls of look do not overlap: wakes that come meanwhile are one further call. The end of ctx
	// ends delivery like Stop.
	Start(ctx context.Context, look func(context.Context) error, jobs map[string]Job) error

	// Stop ends delivery and waits until no call is running; ctx bounds the wait. Without a Start it does nothing.
	Stop(ctx context.Context) error
}

// Job carries out one background job. An error means: again later.
type Job func(ctx context.Context, args []byte) error

// Duty is something to be done again and again.
type Duty struct {
	Name  string
	Every time.Duration // between two runs, and before the first
	Run   func(context.Context) error
}
