package control

import (
	"testing"
	"time"
)

// reading is one entry of a watch's day: when it came, and the counters it held. A nil map is a failed reading.
type reading struct {
	at       time.Duration
	counters map[int64]int64
}

// every lists readings of an even rhythm.
func every(step, from, to time.Duration, counters func(time.Duration) map[int64]int64) (all []reading) {
	for at := from; at <= to; at += step {
		all = append(all, reading{at, counters(at)})
	}
	return all
}

// still is a counter that never moves.
func still(time.Duration) map[int64]int64 { return map[int64]int64{7: 1} }

// gone is a reading that failed.
func gone(time.Duration) map[int64]int64 { return nil }

// beating moves with each five seconds.
func beating(at time.Duration) map[int64]int64 { return map[int64]int64{7: int64(at / nodeBeat)} }

// TestR42_OnlyACounterThatStandsStillUnderOnesEyesIsDead goes through the days of a watch. Death is declared at the first
// reading at or after the time said, never before; -1 is never.
func TestR42_OnlyACounterThatStandsStillUnderOnesEyesIsDead(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, c := range map[string]struct {
		day  []reading
		want time.Duration
	}{
		"stands still":                     {every(5*s, 0, 60*s, still), 30 * s},
		"beats (R9: for hours)":            {every(5*s, 0, 3*time.Hour, beating), -1},
		"beats, read seldom":               {every(6*s, 0, 10*time.Minute, beating), -1},
		"database away for 40 s":           {append(append(every(5*s, 0, 20*s, beating), every(5*s, 25*s, 60*s, gone)...), every(5*s, 65*s, 120*s, func(at time.Duration) map[int64]int64 { return beating(at - 40*s) })...), -1},
		"still before and after a failure": {append(append(every(5*s, 0, 25*s, still), every(5*s, 30*s, 30*s, gone)...), every(5*s, 35*s, 60*s, still)...), -1},
		"dies after a failure":             {append(append(every(5*s, 0, 25*s, still), every(5*s, 30*s, 30*s, gone)...), every(5*s, 35*s, 90*s, still)...), 65 * s},
		"the reader slept":                 {append(every(5*s, 0, 25*s, still), every(5*s, 125*s, 150*s, still)...), -1},
		"readings 7 s apart say nothing":   {every(7*s, 0, 10*time.Minute, still), -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := time.Duration(-1)
			var w watch
			start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
			for _, r := range c.day {
				if r.counters == nil {
					w.failed()
					continue
				}
				var beats []beat
				for epoch, n := range r.counters {
					beats = append(beats, beat{epoch: epoch, counter: n})
				}
				if dead := w.read(start.Add(r.at), start.Add(r.at), beats); len(dead) > 0 {
					got = r.at
					break
				}
			}
			if got != c.want {
				t.Errorf("got death at %v, want %v", got, c.want)
			}
		})
	}
}

// TestR42_ASlowAnswerMakesNobodyOlder: what is known of a counter begins with the end of a reading and ends with the
// begin of another.
func TestR42_ASlowAnswerMakesNobodyOlder(t *testing.T) {
	t.Parallel()
	var w watch
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	slow := time.Second
	for i := range 7 { // the last one ends 31 s after the first began, and began 29 s after the first had ended
		sent := at.Add(time.Duration(i) * nodeBeat)
		if dead := w.read(sent, sent.Add(slow), []beat{{epoch: 7, counter: 1}}); len(dead) > 0 {
			t.Fatalf("declared dead at reading %d, 29 s of which were seen", i)
		}
	}
	sent := at.Add(7 * nodeBeat)
	if dead := w.read(sent, sent.Add(slow), []beat{{epoch: 7, counter: 1}}); len(dead) != 1 {
		t.Error("34 s still were not enough")
	}
}

func TestR42_OneWatchTellsManyApart(t *testing.T) {
	t.Parallel()
	var w watch
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range 7 {
		now := at.Add(time.Duration(i) * nodeBeat)
		beats := []beat{{epoch: 1, counter: int64(i)}, {epoch: 2, counter: 5}, {epoch: 3, counter: int64(i / 3)}}
		dead := w.read(now, now, beats)
		if i < 6 && len(dead) > 0 || i == 6 && (len(dead) != 1 || dead[0].epoch != 2) {
			t.Errorf("reading %d: got %+v dead, want epoch 2 alone and at the seventh", i, dead)
		}
	}
}

func TestR10_TheLeaseIsOverBeforeAnybodyMayTakeOver(t *testing.T) {
	t.Parallel()
	if leaseTime >= watchStill-nodeBeat {
		t.Errorf("a lease of %v leaves wardens no time to kill before a takeover after %v", leaseTime, watchStill)
	}
	var l lease
	if l.over(time.Hour) {
		t.Error("a lease that was never renewed is over")
	}
	l.renewed(100 * time.Second)
	if l.over(120*time.Second-1) || !l.over(120*time.Second) {
		t.Errorf("got a lease until %v, want 20 s after the renewal was sent", l.until)
	}
	l.renewed(90 * time.Second)
	if l.until != 120*time.Second {
		t.Errorf("an older renewal shortened the lease to %v", l.until)
	}
}

func TestR40_OffsetGivesTheAnswersWayTheBenefitOfTheDoubt(t *testing.T) {
	t.Parallel()
	sent := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		way      time.Duration
		database time.Duration // after sent, on the database's clock
		want     time.Duration
	}{
		"alike":                           {0, 0, 0},
		"80 ms ahead":                     {0, -80 * time.Millisecond, 80 * time.Millisecond},
		"one hour ahead":                  {0, -time.Hour, time.Hour},
		"one hour behind":                 {0, time.Hour, -time.Hour},
		"a slow answer hides a small one": {3 * time.Second, 0, 0},
		"and not a great one":             {2 * time.Second, 10 * time.Second, -8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := clockOffset(sent, sent.Add(c.way), sent.Add(c.database)); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
