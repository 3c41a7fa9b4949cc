package control

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// Clocks jump: a machine sleeps (the wall clock and Boot leap, monotonic time does not), a zone changes its summer time,
// NTP steps the wall clock either way. Nothing is killed by it, and a schedule catches up once, as its policy says.

// to sets the wall clock, as NTP or the end of a sleep does.
func (f *timed) to(at time.Time) {
	f.clock.mu.Lock()
	defer f.clock.mu.Unlock()
	f.clock.at = at
}

// worked works off what is queued.
func (f *timed) worked() {
	f.t.Helper()
	for j := f.claim(); j != nil; j = f.claim() {
		j.start().done()
	}
}

// TestClockJumps_RoutineOverSummerTime: looked at every half hour over both changes, a routine at an hour that comes never
// or twice fires once a day.
func TestClockJumps_RoutineOverSummerTime(t *testing.T) {
	for name, c := range map[string]struct {
		from time.Time
		want []string
	}{
		"the hour that does not exist": {time.Date(2026, 3, 28, 0, 10, 0, 0, time.UTC), []string{"2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"}},
		"the hour that comes twice":    {time.Date(2026, 10, 24, 0, 10, 0, 0, time.UTC), []string{"2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"}},
	} {
		t.Run(name, func(t *testing.T) {
			eachTimed(t, func(t *testing.T, f *timed) {
				f.to(c.from)
				f.routine("nightly", "cron: 30 2 * * *\nzone: Europe/Berlin\noverlap: allow\nmissed: once")
				for at := c.from; at.Before(c.from.AddDate(0, 0, 3)); at = at.Add(30 * time.Minute) {
					f.to(at)
					f.fire()
				}
				equal(t, "tasks", f.made("nightly"), c.want)
			})
		})
	}
}

// TestClockJumps_RoutineAndNTP: a clock that is set back repeats nothing that was fired, and one that is set forward
// catches up once.
func TestClockJumps_RoutineAndNTP(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.routine("hourly", "every: 1h\noverlap: allow\nmissed: once")
		fires := func(at time.Time, want ...string) {
			t.Helper()
			f.to(at)
			f.fire()
			equal(t, "tasks at "+at.Format(time.TimeOnly), f.made("hourly"), want)
		}
		day := func(hour, minute, second int) time.Time {
			return time.Date(2026, 3, 1, hour, minute, second, 0, time.UTC)
		}
		fires(day(10, 0, 0), "2026-03-01T10:00")
		fires(day(9, 59, 30), "2026-03-01T10:00")
		fires(day(10, 0, 30), "2026-03-01T10:00")
		fires(day(7, 0, 0), "2026-03-01T10:00")
		fires(day(10, 59, 59), "2026-03-01T10:00")
		fires(day(11, 0, 0), "2026-03-01T10:00", "2026-03-01T11:00")
		fires(day(16, 30, 0), "2026-03-01T10:00", "2026-03-01T11:00", "2026-03-01T16:00")
		fires(day(12, 0, 0), "2026-03-01T10:00", "2026-03-01T11:00", "2026-03-01T16:00")
		equal(t, "receipts", f.receipts(fairlead.ScheduleRoutine, "hourly"), map[string]int{"fired/": 2, "skipped/joined": 4, "caught_up/missed": 1})
	})
}

// TestClockJumps_HeartbeatAndSuspend: a machine that slept for five days wakes one agent once; a clock that is set back
// for an hour wakes it for nothing that it was woken for.
func TestClockJumps_HeartbeatAndSuspend(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.save(beatFlow("beat", `every: 1h, missed: once, do: [{queue_run: {to: primary, reason: heartbeat}}]`))
		task := f.task("beat")
		beats := func(at time.Time, want int) {
			t.Helper()
			f.to(at)
			f.fire()
			f.worked()
			equal(t, "beats at "+at.Format(time.DateTime), f.beats(task.ID)["fired"], want)
		}
		noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		beats(noon, 1)
		beats(noon.Add(time.Hour), 2)
		beats(noon.AddDate(0, 0, 5), 3)
		beats(noon.AddDate(0, 0, 5).Add(-time.Hour), 3)
		beats(noon.AddDate(0, 0, 5).Add(59*time.Minute), 3)
		beats(noon.AddDate(0, 0, 5).Add(time.Hour), 4)
		f.nothing()
	})
}

// TestClockJumps_LadderCoolDownAndHold: what waits for a time waits for it on the wall clock: a leap forward frees it
// once, with one attempt; a step back neither frees nor loses it, and a person passes it all the same.
func TestClockJumps_LadderCoolDownAndHold(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		f.agent("ann", "account: one\ncooldown: 1m\n")
		task := f.task("stay")
		f.claimed().start().fails(fairlead.ClassTransient) // in back-off for about 2 m, and cooling down for 1 m
		f.later(clock, -time.Hour)
		f.nothing()
		f.later(clock, time.Hour+50*time.Second)
		f.nothing()
		f.later(clock, 24*time.Hour) // the machine slept
		j := f.claimed()
		if j.Run.Attempt != 1 {
			t.Errorf("got attempt %d, want 1", j.Run.Attempt)
		}
		f.nothing()
		j.start().limited(time.Minute, "slow down")
		f.later(clock, -time.Hour)
		f.nothing()
		f.comment(owner(), task.ID, "well?") // behind a hold not even a person's word helps
		f.nothing()
		f.later(clock, time.Hour+2*time.Minute)
		j = f.claimed()
		if j.Run.Attempt != 1 {
			t.Errorf("got attempt %d after the hold, want 1: a limit is no attempt", j.Run.Attempt)
		}
		j.start().done()
		f.comment(owner(), task.ID, "go on")
		f.later(clock, 2*time.Minute)
		f.claimed().start().fails(fairlead.ClassTransient)
		f.later(clock, -30*time.Minute)
		h := f.hire(1)
		if _, err := f.c.Start(t.Context(), owner(), task.ID, fairlead.StartBody{}); err != nil || len(h.launched) != 1 {
			t.Errorf("a person's launch was held by a clock that was set back: %v", err)
		}
	})
}

// TestClockJumps_ALiveRunOutlivesThem: no wall clock ends a turn: on one machine there is no lease, and a report hours
// later or earlier is as good as any.
func TestClockJumps_ALiveRunOutlivesThem(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		f.task("stay")
		j := f.claimed().start()
		for _, jump := range []time.Duration{72 * time.Hour, -73 * time.Hour, time.Hour} {
			f.later(clock, jump)
			f.must(f.c.Recover(t.Context(), f.node))
			f.status(j.Run.ID, fairlead.RunRunning)
			j.says("still here")
		}
		j.done()
		f.status(j.Run.ID, fairlead.RunSucceeded)
	})
}

// TestClockJumps_TimersAreSeenSoonAfterASleep: the loop sleeps by a clock that stood still while the machine slept. What
// came due meanwhile fires within half a minute, not when the loop had meant to look.
func TestClockJumps_TimersAreSeenSoonAfterASleep(t *testing.T) {
	t.Parallel()
	b := storetest.SQLite(t)
	synctest.Test(t, func(t *testing.T) {
		clock := &leaper{}
		db, err := store.Open(t.Context(), b.URL, &store.Options{Now: clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		f := &timed{floor: newFloor(t, db)}
		f.save(beatFlow("beat", `every: 8h, missed: once, do: [{queue_run: {to: primary}}]`))
		task := f.task("beat")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- f.c.RunTimers(ctx) }()
		time.Sleep(time.Minute)
		if n := len(f.active(task.ID)); n != 0 {
			t.Errorf("got %d runs before any beat", n)
		}
		clock.slept.Store(int64(30 * time.Hour))
		time.Sleep(timerLook + time.Second)
		if n := f.beats(task.ID)["fired"]; n != 1 {
			t.Errorf("got %d beats half a minute after a sleep of 30 h, want the one that is caught up", n)
		}
		cancel()
		f.must(<-ended)
		f.must(db.Close())
	})
}

// leaper is the bubble's clock with the sleep of the machine added.
type leaper struct{ slept atomic.Int64 }

func (l *leaper) Now() time.Time { return time.Now().Add(time.Duration(l.slept.Load())) }

// TestClockJumps_NodesThatSleptKillNobody: the machines of two nodes sleep for an hour together, and each on its own for
// less than anybody notices. Counters and watches stood still with them, so that nobody is declared dead; only wardens,
// whose deadline passed, have killed, and the nodes know it: one cut each.
func TestClockJumps_NodesThatSleptKillNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared(1, 2)
		nodes := []*kept{s.keep(t, 1), s.keep(t, 2)}
		later(17 * time.Second)
		nodes[0].slept.Add(int64(10 * time.Second))
		later(time.Minute)
		if n := nodes[0].cuts.Load(); n != 0 {
			t.Errorf("a sleep of 10 s cut %d times", n)
		}
		for _, k := range nodes {
			k.slept.Add(int64(time.Hour))
		}
		later(time.Minute)
		for i, k := range nodes {
			if n := k.cuts.Load(); n != 1 {
				t.Errorf("node %d: %d cuts after an hour's sleep, want 1", i+1, n)
			}
			if left := time.Duration(k.until.Load()) - time.Hour - time.Duration(k.slept.Load()); left < time.Minute {
				t.Errorf("node %d: the lease was not renewed after the sleep: %v", i+1, left)
			}
		}
		if dead := s.buried(); len(dead) > 0 {
			t.Errorf("got %v declared dead", dead)
		}
		for _, k := range nodes {
			k.cancel()
		}
		synctest.Wait()
	})
}

// TestClockJumps_AStepOfNTPKillsNobody: watches and leases read no wall clock; the node whose clock was stepped stops
// claiming and firing until it is right again.
func TestClockJumps_AStepOfNTPKillsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared(1, 2)
		nodes := []*kept{s.keep(t, 1), s.keep(t, 2)}
		for _, off := range []time.Duration{time.Hour, -time.Hour, 3 * time.Second, 0} {
			later(time.Minute)
			s.set(func() { s.offset[1], s.clock[1] = off, nil })
			later(2 * nodeBeat)
			s.set(func() {
				if len(s.clock[1]) == 0 || slices.Contains(s.clock[1], off == 0) {
					t.Errorf("at an offset of %v the node was told off: %v", off, s.clock[1])
				}
			})
		}
		for _, k := range nodes {
			if n := k.cuts.Load(); n != 0 {
				t.Errorf("%d cuts", n)
			}
			k.cancel()
		}
		if dead := s.buried(); len(dead) > 0 || slices.Contains(s.clock[2], true) {
			t.Errorf("got %v declared dead, the other node's clock told off: %v", dead, s.clock[2])
		}
		synctest.Wait()
	})
}
