package schedule

import "time"

// dues is what came due in a span of time.
type dues struct {
	count  int
	first  time.Time
	older  time.Time   // the newest one that newest does not hold
	newest []time.Time // in order
}

// due looks at the occurrences after last and not after now, and holds at most the newest n of them.
func (s Schedule) due(last, now time.Time, n int) dues {
	if s.every > 0 {
		return s.beats(last, now, n)
	}
	var d dues
	ring := make([]time.Time, n)
	for t := s.Next(last); !t.IsZero() && !t.After(now); t = s.Next(t) {
		if d.count == 0 {
			d.first = t
		}
		if slot := d.count % n; d.count >= n {
			d.older, ring[slot] = ring[slot], t
		} else {
			ring[slot] = t
		}
		d.count++
	}
	for i := max(0, d.count-n); i < d.count; i++ {
		d.newest = append(d.newest, ring[i%n])
	}
	return d
}

// beats is due for an interval: nothing has to be walked through.
func (s Schedule) beats(last, now time.Time, n int) dues {
	first := s.Next(last)
	if first.IsZero() || first.After(now) {
		return dues{}
	}
	d := dues{count: int(now.Sub(first)/s.every) + 1, first: first}
	for i := max(0, d.count-n); i < d.count; i++ {
		d.newest = append(d.newest, first.Add(time.Duration(i)*s.every))
	}
	if d.count > n {
		d.older = d.newest[0].Add(-s.every)
	}
	return d
}

// skipped makes the receipts of all but the newest from cut on.
func (d dues) skipped(cut int, reason string) []Receipt {
	var receipts []Receipt
	single := d.newest[:cut]
	folded, until := d.count-len(d.newest), d.older
	if over := len(single) - MaxReceipts; over > 0 {
		folded, until, single = folded+over, single[over-1], single[over:]
	}
	if folded > 0 {
		receipts = append(receipts, Receipt{At: d.first, Until: until, Count: folded, Outcome: OutcomeSkipped, Reason: reason})
	}
	for _, at := range single {
		receipts = append(receipts, Receipt{At: at, Until: at, Count: 1, Outcome: OutcomeSkipped, Reason: reason})
	}
	return receipts
}
