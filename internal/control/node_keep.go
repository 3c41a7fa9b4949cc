package control

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// ErrEpochDead says that somebody declared the node's epoch dead. Its process trees must be killed before a new epoch
// begins.
var ErrEpochDead = errors.New("the node's epoch is dead")

// Keeping is what a node does about its lease. All members are needed.
type Keeping struct {
	// Boot is a clock that goes on while the machine sleeps; wardens read the same one.
	Boot func() time.Duration
	// Extend hands wardens the instant of Boot at which they kill their trees.
	Extend func(until time.Duration)
	// Cut interrupts every run of the node: the lease is over and the wardens are killing. The epoch may still live, and
	// the runs hand themselves back when the database can be reached.
	Cut func()
}

// nodeBase is what keeping needs of the database; Control has it.
type nodeBase interface {
	renew(ctx context.Context, n Node) (renewal, error)
	bury(ctx context.Context, node string, epoch int64) error
	setClock(ctx context.Context, n Node, offset time.Duration) error
	Recover(ctx context.Context, n Node) error
	DeliverOutbox(ctx context.Context) error
}

// keeper keeps one epoch alive and watches the others.
type keeper struct {
	base  nodeBase
	log   *slog.Logger
	node  Node
	hooks Keeping
	watch watch
	lease lease
	cut   bool // the lease ran out and Cut was called

	sweeping sync.WaitGroup
	sweep    atomic.Bool // a takeover is under way
}

// KeepNode renews the node's epoch every five seconds, watches the others, declares dead what stands still, and takes
// over what dead epochs left behind, until ctx ends; its first renewal is done at once. It returns ErrEpochDead when the
// node's own epoch was declared dead, nil at the end of ctx. It is for databases that several nodes share.
func (c *Control) KeepNode(ctx context.Context, n Node, k Keeping) error {
	kept := &keeper{base: c, log: c.log, node: n, hooks: k}
	defer kept.sweeping.Wait()
	return kept.run(ctx)
}

func (k *keeper) run(ctx context.Context) error {
	type answer struct {
		renewal
		err        error
		sent, came time.Time
		boot       time.Duration
	}
	// A renewal may hang with the database, so it has a goroutine of its own: the lease must be seen to run out meanwhile.
	answers := make(chan answer, 1)
	ask := func() {
		sent, boot := time.Now(), k.hooks.Boot()
		r, err := k.base.renew(ctx, k.node)
		answers <- answer{r, err, sent, time.Now(), boot}
	}
	asking := true
	go ask()
	tick := time.NewTicker(nodeBeat)
	defer tick.Stop()
	for {
		over := k.overdue()
		select {
		case <-ctx.Done():
			if asking {
				<-answers
			}
			over.Stop()
			return nil
		case <-over.C:
			k.cutOff()
		case <-tick.C:
			// After a sleep or a stop of the process the lease may be over before its timer knows.
			if k.lease.over(k.hooks.Boot()) {
				k.cutOff()
			}
			if !asking {
				asking = true
				go ask()
			}
		case a := <-answers:
			asking = false
			if err := k.take(ctx, a.renewal, a.err, a.sent, a.came, a.boot); err != nil {
				over.Stop()
				return err
			}
		}
		over.Stop()
	}
}

// overdue is a timer for the end of the lease; a lease that was never renewed, or was cut off, has none.
func (k *keeper) overdue() *time.Timer {
	if k.lease.until == 0 || k.cut {
		return time.NewTimer(time.Hour)
	}
	return time.NewTimer(max(k.lease.until-k.hooks.Boot(), 0))
}

// cutOff interrupts the node's runs once for each time the lease runs out.
func (k *keeper) cutOff() {
	if k.cut || !k.lease.over(k.hooks.Boot()) {
		return
	}
	k.cut = true
	k.log.Error("the database did not take a renewal for too long: interrupting what runs here", "node", k.node.ID)
	k.hooks.Cut()
}

// take acts on one renewal.
func (k *keeper) take(ctx context.Context, r renewal, err error, sent, came time.Time, boot time.Duration) error {
	if err != nil {
		k.watch.failed()
		if ctx.Err() == nil {
			k.log.Error("renew node", "node", k.node.ID, "error", err)
		}
		return nil
	}
	if !r.alive {
		return ErrEpochDead
	}
	k.lease.renewed(boot)
	if k.cut && !k.lease.over(k.hooks.Boot()) {
		k.cut = false
	}
	k.hooks.Extend(k.lease.until)
	if err := k.base.setClock(ctx, k.node, clockOffset(sent, came, r.clock)); err != nil {
		k.log.Error("tell clock offset", "error", err)
	}
	k.inherit(ctx, k.watch.read(sent, came, r.others))
	return nil
}

// inherit declares epochs dead and takes over what dead ones left, beside the renewals: a long takeover must not cost the
// node its own lease. Whoever declared a death may die before the takeover, so that every node looks each time.
func (k *keeper) inherit(ctx context.Context, dead []beat) {
	if !k.sweep.CompareAndSwap(false, true) {
		return
	}
	k.sweeping.Go(func() {
		defer k.sweep.Store(false)
		for _, d := range dead {
			if err := k.base.bury(ctx, d.node, d.epoch); err != nil {
				k.log.Error("bury node", "node", d.node, "error", err)
			}
		}
		if err := k.base.Recover(ctx, k.node); err != nil && ctx.Err() == nil {
			k.log.Error("take runs over", "error", err)
		}
		if len(dead) == 0 {
			return
		}
		if err := k.base.DeliverOutbox(ctx); err != nil && ctx.Err() == nil {
			k.log.Error("deliver what a dead node left", "error", err)
		}
	})
}
