package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// The channels of Postgres. A notification on fairlead_events is either "appended", for the sequencers, or "head", for
// readers; one on fairlead_wake carries topics, that of new events for the sequencers among them.
const (
	channelEvents = "fairlead_events"
	channelWake   = "fairlead_wake"
	appended      = "appended"
	headMoved     = "head"
)

var stmtNotify = define("notify", `SELECT {{notify}}`)

// notify broadcasts, inside the transaction, what its commit makes worth a look.
func notify(r *ReadTx, topics Topic) error {
	channel, payload := channelWake, topics.encode()
	switch topics {
	case 0:
		return nil
	case TopicEvents:
		channel, payload = channelEvents, appended
	}
	return r.later(stmtNotify, channel, payload)
}

// listen turns notifications into signals. After every (re)connection everybody looks: what was said meanwhile is lost.
func (d *postgres) listen(ctx context.Context) {
	const longest = 5 * time.Second
	pause := 100 * time.Millisecond
	for ctx.Err() == nil {
		connected := d.listenOnce(ctx)
		if connected {
			pause = 100 * time.Millisecond
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, longest)
	}
}

// listenOnce listens on a connection of its own until that breaks, and reports whether it came to stand.
func (d *postgres) listenOnce(ctx context.Context) (connected bool) {
	conn, err := pgx.ConnectConfig(ctx, d.config.Copy())
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, channel := range []string{channelEvents, channelWake} {
		if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
			return false
		}
	}
	d.look()
	d.signals.raise(topicAll)
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return true
		}
		switch {
		case n.Channel == channelWake:
			topics := decodeTopic(n.Payload)
			if topics&TopicEvents != 0 { // they have no positions yet: readers see them later
				d.look()
			}
			d.signals.raise(topics &^ TopicEvents)
		case n.Payload == headMoved:
			d.signals.raise(TopicEvents)
		default:
			d.look()
		}
	}
}
