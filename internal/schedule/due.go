package schedule

import (
	"math"
	"time"
)

// dues is what came due in a span of time.
type dues struct {
	count  int
	first  time.Time   // of a count above zero
	older  time.Time   // the newest one that newest does not hold
	newest []time.Time // in order
}

// century is where looking backwards ends: twice that often would run over.
const century = 100 * 366 * 24 * time.Hour

// due looks at the occurrences after last and not after now, and holds at most the newest n of them.
func (s Schedule) due(last, now time.Time, n int) dues {
	if s.every > 0 {
		return s.beats(last, now, n)
	}
	// The newest ones are looked for in a span that grows backwards, the others only counted.
	for span := time.Hour; ; span *= 2 {
		from := now.Add(-span)
		if !from.After(last) || span > century {
			from = last
		}
		newest := s.Between(from, now, math.MaxInt)
		if len(newest) <= n && from.After(last) {
			continue
		}
		d := dues{count: s.count(last, from) + len(newest), first: s.Next(last)}
		cut := max(0, len(newest)-n)
		if cut > 0 {
			d.older = newest[cut-1]
		}
		d.newest = newest[cut:]
		return d
	}
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

// count returns how many fires there are after from and not after to.
func (s Schedule) count(from, to time.Time) int {
	n := 0
	for next := s.Next(from); !next.IsZero() && !next.After(to); next = s.Next(from) {
		if day, fires := s.cron.steady(next); day.After(from) && fires > 0 && !day.Add(24*time.Hour-1).After(to) {
			n, from = n+fires, day.Add(24*time.Hour-1)
			continue
		}
		n, from = n+1, next
	}
	return n
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
