package hub

import (
	"slices"

	"github.com/fairlead/fairlead"
)

// ring holds the newest events, oldest first, without gaps: everything behind position from up to head is in it.
// Readers keep what they got: published events are never changed, and the backing array is replaced, not reused.
type ring struct {
	size   int
	from   int64
	head   int64
	events []fairlead.Event
}

// restart empties the ring at a position.
func (r *ring) restart(at int64) { r.from, r.head, r.events = at, at, nil }

// add appends events of the log that was read up to upTo. At most twice the ring's size is held before the older half
// is dropped, so that an append is rarely a copy.
func (r *ring) add(events []fairlead.Event, upTo int64) {
	r.events = append(r.events, events...)
	r.head = upTo
	if extra := len(r.events) - r.size; extra > r.size {
		r.from = r.events[extra-1].Position
		r.events = slices.Clone(r.events[extra:])
	}
}

// after returns at most limit events behind position and the position reached; ok is false when the ring no longer
// holds them all.
func (r *ring) after(position int64, limit int) (events []fairlead.Event, upTo int64, ok bool) {
	if position < r.from {
		return nil, position, false
	}
	if position >= r.head {
		return nil, position, true
	}
	i, found := slices.BinarySearchFunc(r.events, position, func(e fairlead.Event, p int64) int {
		switch {
		case e.Position < p:
			return -1
		case e.Position > p:
			return 1
		}
		return 0
	})
	if found {
		i++
	}
	events = r.events[i:]
	if len(events) > limit {
		events = events[:limit]
		return slices.Clip(events), events[limit-1].Position, true
	}
	return slices.Clip(events), r.head, true
}
