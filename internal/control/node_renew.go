package control

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// renewal is what one renewal brought home.
type renewal struct {
	alive  bool      // false: somebody declared the epoch dead
	others []beat    // live epochs of other starts
	clock  time.Time // the database's
}

// renew raises the node's counter and reads those of the others, in one transaction.
func (c *Control) renew(ctx context.Context, n Node) (r renewal, err error) {
	err = c.db.Write(ctx, func(tx *store.Tx) error {
		r = renewal{}
		var err error
		// The clock comes first: what follows may wait for locks.
		if r.clock, err = tx.Clock(); err != nil {
			return err
		}
		if r.alive, err = tx.Beat(n.ID, n.Epoch); err != nil {
			return err
		}
		live, err := tx.LiveNodes()
		for _, l := range live {
			if l.Epoch != n.Epoch {
				r.others = append(r.others, beat{node: l.ID, epoch: l.Epoch, counter: l.Counter})
			}
		}
		return err
	})
	if err != nil {
		return r, fmt.Errorf("renew node: %w", err)
	}
	return r, nil
}

// bury declares an epoch dead, in one statement that alone fences it. Its runs are taken over afterwards, each in a
// transaction of its own, by whatever node comes first.
func (c *Control) bury(ctx context.Context, node string, epoch int64) error {
	dead := false
	err := c.db.Write(ctx, func(tx *store.Tx) (err error) {
		dead, err = tx.MarkDead(node, epoch)
		c.dispatch.WakeTx(tx)
		return err
	})
	if err != nil {
		return fmt.Errorf("declare node dead: %w", err)
	}
	if dead {
		c.deaths.Add(1)
		c.log.Warn("declared a node dead: its counter stood still", "node", node, "epoch", epoch)
	}
	return nil
}

// Leave ends an epoch in good order, after its last run was handed back: nobody has to watch it die.
func (c *Control) Leave(ctx context.Context, n Node) error {
	err := c.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.MarkDead(n.ID, n.Epoch)
		c.dispatch.WakeTx(tx)
		return err
	})
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	return nil
}

// NodeDeaths is how many epochs this process has declared dead.
func (c *Control) NodeDeaths() int64 { return c.deaths.Load() }

// setClock notes how far the node's clock is off. Beyond the tolerance nothing is claimed and no timer fires here until
// it agrees again; people hear of it once.
func (c *Control) setClock(ctx context.Context, n Node, offset time.Duration) error {
	off := offset.Abs() > clockTolerance
	c.skewed.Store(off)
	if c.skewTold.Load() == off {
		return nil
	}
	var err error
	if off {
		c.log.Error("the clock of this node is off: it claims nothing and fires no timer", "offset", offset)
		err = c.tellClock(ctx, n, offset)
	} else {
		c.log.Info("the clock of this node is right again")
		err = c.db.Write(ctx, func(tx *store.Tx) error {
			c.dispatch.WakeTx(tx)
			tx.Wake(store.TopicTimers)
			return tx.SetClockOff(n.ID, 0)
		})
	}
	if err == nil { // or the next renewal tells it
		c.skewTold.Store(off)
	}
	return err
}

// tellClock leaves a notice in the inbox.
func (c *Control) tellClock(ctx context.Context, n Node, offset time.Duration) error {
	way := "ahead of"
	if offset < 0 {
		way = "behind"
	}
	text := fmt.Sprintf("The clock of the node %s is %v %s the database's. It claims nothing and fires no timer until this is mended.",
		n.ID, offset.Abs().Round(time.Millisecond), way)
	return c.act(ctx, Meta{Workspace: mainWorkspace, Actor: fairlead.Engine()}, func(w *work) error {
		notice := fairlead.Notice{
			ID: w.id(fairlead.PrefixNotice), Workspace: mainWorkspace, Kind: noticeClock, Text: text, At: w.tx.Now(),
			Data: map[string]any{"node": n.ID, "offset_ms": offset.Milliseconds()},
		}
		if err := w.tx.InsertNotice(notice); err != nil {
			return err
		}
		if err := w.tx.SetClockOff(n.ID, offset); err != nil {
			return err
		}
		w.emit(fairlead.Event{
			Kind: fairlead.EventNoticeAdded, Actor: fairlead.Engine(),
			Data: marshal(map[string]any{"id": notice.ID, "kind": notice.Kind, "text": notice.Text}),
		})
		return nil
	})
}

// noticeClock tells that a node's clock is off.
const noticeClock = "clock_offset"
