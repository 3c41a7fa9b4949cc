package policy

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"
)

// Standing is a budget with what was spent in its running period.
type Standing struct {
	Budget Budget
	Span   Span
	Spent  Spend
}

// Percent is how much of the limit is spent, rounded down. Calls without a price are not in it: see [Spend.Text].
func (s *Standing) Percent() int {
	limit := uint64(max(s.Budget.Limit, 1))
	high, low := bits.Mul64(uint64(max(s.Spent.Of(s.Budget.Meter), 0)), 100)
	if high >= limit {
		return math.MaxInt
	}
	percent, _ := bits.Div64(high, low, limit)
	return int(min(percent, math.MaxInt))
}

// Reached reports whether the limit is used up. Money that nobody can count does not use it up; the other meters bind.
func (s *Standing) Reached() bool { return s.Spent.Of(s.Budget.Meter) >= max(s.Budget.Limit, 1) }

// Text says where the budget stands, for people.
func (s *Standing) Text() string {
	return s.Spent.Text(s.Budget.Meter) + " of " + AmountText(s.Budget.Meter, s.Budget.Limit)
}

// Alert is a threshold that was crossed.
type Alert struct {
	Budget     string
	Generation int64
	Threshold  int
	Period     string // Span.Key
	Percent    int
}

// Key is the same for the same threshold of the same limit in the same period, and for no other: under it the alert
// fires once.
func (a Alert) Key() string {
	return a.Budget + "/" + strconv.FormatInt(a.Generation, 10) + "/" + strconv.Itoa(a.Threshold) + "/" + a.Period
}

// Alerts returns the thresholds that are reached and were not told of, lowest first. told reports whether an alert's key
// is known. It looks at the level, not at the step to it: an alert that a crash lost comes with the next look, and a
// raised limit that is nearly spent tells so at once.
func (s *Standing) Alerts(told func(key string) bool) []Alert {
	thresholds := slices.Clone(s.Budget.Alerts)
	if thresholds == nil {
		thresholds = StandardAlerts()
	}
	slices.Sort(thresholds)
	percent := s.Percent()
	var alerts []Alert
	for _, t := range slices.Compact(thresholds) {
		a := Alert{Budget: s.Budget.ID, Generation: s.Budget.Generation, Threshold: t, Period: s.Span.Key, Percent: percent}
		if percent >= t && !told(a.Key()) {
			alerts = append(alerts, a)
		}
	}
	return alerts
}

// CheckPoint is when budgets are looked at.
type CheckPoint string

// The check points.
const (
	CheckEnqueue CheckPoint = "enqueue" // a run is queued: it is, and its hold shows
	CheckClaim   CheckPoint = "claim"   // a node or a person wants to start it
	CheckCall    CheckPoint = "call"    // a model call was recorded, its spending included
)

// Check is what budgets say at a check point. The zero Check lets the work go on.
type Check struct {
	Stops []*Standing // the budgets that stop the work, in the order given
	Hold  bool        // the run stays or goes back to queued, held budget:<id>
	Park  bool        // the live run ends parked
	Ask   []*Standing // one open request for each (budget, generation) of these
}

// CheckBudgets looks at every budget that covers the work. Queued work is held and never parked; a live run parks if a
// budget that stops it asks, else it goes back to queued. Nothing here fails a run or counts as an attempt.
func CheckBudgets(p CheckPoint, standings []*Standing) Check {
	var c Check
	for _, s := range standings {
		if s.Budget.Action == LimitAlert || !s.Reached() {
			continue
		}
		c.Stops = append(c.Stops, s)
		if s.Budget.Action != LimitHold {
			c.Ask = append(c.Ask, s)
		}
	}
	c.Park = p == CheckCall && len(c.Ask) > 0
	c.Hold = len(c.Stops) > 0 && !c.Park
	return c
}

// RollsOver returns when the budget's period ends: a timer then releases its holds and supersedes its request. The zero
// time means never.
func (s *Standing) RollsOver() time.Time { return s.Span.End }
