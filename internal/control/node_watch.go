package control

import "time"

// The rhythm of nodes that share a database.
const (
	// nodeBeat is how often a node raises its counter and reads those of the others.
	nodeBeat = 5 * time.Second
	// watchGap is how far apart two readings may be to say something together. Over a longer gap the database may have
	// been away, and then nobody could raise a counter.
	watchGap = 6 * time.Second
	// watchStill is how long a counter stands still before its epoch counts as dead.
	watchStill = 30 * time.Second
	// leaseTime is how long after the sending of its last good renewal a node's processes live. It is shorter than
	// watchStill: they are dead before anybody takes their work over.
	leaseTime = 20 * time.Second
	// clockTolerance is how far a node's clock may be off the database's before it fires and claims nothing.
	clockTolerance = 2 * time.Second
)

// beat is what one reading says of another epoch.
type beat struct {
	node    string
	epoch   int64
	counter int64
}

// watch tells from readings of counters which epochs are dead. It compares no clocks of different machines: only how
// long a counter stood still on the reader's own monotonic clock. The zero value is a watch that has read nothing.
type watch struct {
	last  time.Time // when the last good reading had come
	since map[int64]sighting
}

// sighting is the first reading of a counter's present value.
type sighting struct {
	counter int64
	at      time.Time // the reading had come by then: the counter stood here no later
}

// failed starts every watch anew: while nobody could read, nobody could beat.
func (w *watch) failed() { w.last, w.since = time.Time{}, nil }

// read takes one good reading, asked for at sent and received at came, and returns who has stood still for too long. The
// time still is counted from the end of the first reading to the begin of this one, so that a slow answer never makes
// it longer than it was.
func (w *watch) read(sent, came time.Time, beats []beat) (dead []beat) {
	if w.last.IsZero() || came.Sub(w.last) > watchGap {
		w.since = nil
	}
	w.last = came
	now := make(map[int64]sighting, len(beats))
	for _, b := range beats {
		s, known := w.since[b.epoch]
		if !known || s.counter != b.counter {
			s = sighting{counter: b.counter, at: came}
		} else if sent.Sub(s.at) >= watchStill {
			dead = append(dead, b)
		}
		now[b.epoch] = s
	}
	w.since = now
	return dead
}

// lease is how long a node may let its processes live. Its instants are those of a clock that goes on while the machine
// sleeps.
type lease struct{ until time.Duration }

// renewed counts from before the renewal was sent: when the database took it is not known, only that it was later.
func (l *lease) renewed(sent time.Duration) { l.until = max(l.until, sent+leaseTime) }

// over reports whether the lease has run out. One that was never renewed is not over: nothing was started under it.
func (l *lease) over(now time.Duration) bool { return l.until > 0 && now >= l.until }

// clockOffset is how far the local clock is ahead of the database's, which answered between sent and came. The answer's
// way is given the benefit of the doubt: half of it counts for the node.
func clockOffset(sent, came, database time.Time) time.Duration {
	way := came.Sub(sent) / 2
	offset := sent.Add(way).Sub(database)
	switch {
	case offset > way:
		return offset - way
	case offset < -way:
		return offset + way
	}
	return 0
}
