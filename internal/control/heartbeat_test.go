package control

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// timed is a floor whose time is in the test's hand.
type timed struct {
	*floor
	clock *hand
}

// eachTimed runs fn on both databases, each with a clock of its own; the clock stands at 2026-03-01 09:00 UTC.
func eachTimed(t *testing.T, fn func(t *testing.T, f *timed)) {
	t.Helper()
	t.Parallel()
	storetest.Backends(t, func(t *testing.T, b storetest.Backend) {
		clock := newHand()
		fn(t, &timed{floor: newFloor(t, b.Open(t, &store.Options{RunTwice: true, Now: clock.Now})), clock: clock})
	})
}

// until moves time on to a reading of the clock on a day of March 2026, as a server that is down lets it pass.
func (f *timed) until(day, hour, minute int) {
	f.clock.mu.Lock()
	defer f.clock.mu.Unlock()
	f.clock.at = time.Date(2026, 3, day, hour, minute, 0, 0, time.UTC)
}

// fire fires what is due; all of it must work.
func (f *timed) fire() int {
	f.t.Helper()
	n, err := f.c.FireDue(f.t.Context())
	f.must(err)
	return n
}

// beats sums up a task's heartbeats by outcome.
func (f *timed) beats(task string) map[string]int {
	f.t.Helper()
	got := map[string]int{}
	f.read(func(tx *store.ReadTx) error {
		days, err := tx.ListBeats(task)
		for _, d := range days {
			got[d.Outcome] += d.Count
		}
		return err
	})
	return got
}

// receipts sums up the receipts of a schedule as outcome/reason.
func (f *timed) receipts(kind, ref string) map[string]int {
	f.t.Helper()
	got := map[string]int{}
	f.read(func(tx *store.ReadTx) error {
		all, _, err := tx.ListReceipts(mainWorkspace, kind, ref, store.Page{Limit: 200})
		for _, r := range all {
			got[r.Outcome+"/"+r.Reason] += r.Count
		}
		return err
	})
	return got
}

func (f *timed) timer(task string) *fairlead.Timer {
	f.t.Helper()
	var found *fairlead.Timer
	f.read(func(tx *store.ReadTx) error {
		timers, err := tx.TimersOf(task)
		for _, t := range timers {
			if t.Kind == fairlead.TimerHeartbeat {
				found = &t
			}
		}
		return err
	})
	return found
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// beatFlow looks at its task every hour, if a label asks for it, and has a step without a heartbeat.
func beatFlow(key, rule string) string {
	return `
workflow: ` + key + `
name: Beat
start: watch
steps:
  - key: watch
    name: Watch
    agent: ann
    on:
      heartbeat: {` + rule + `}
  - {key: rest, name: Rest}
  - {key: done, name: Done, terminal: done}
`
}

// TestR17_HeartbeatOnlyIfFalse: a condition that does not hold costs a counter: no run, no record, no change of the task.
func TestR17_HeartbeatOnlyIfFalse(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.save(beatFlow("beat", `every: 1h, only_if: "children.open > 0", do: [{queue_run: {to: primary}}]`))
		task := f.task("beat")
		for hour := 10; hour < 24; hour++ {
			f.until(1, hour, 0)
			if n := f.fire(); n != 1 {
				t.Fatalf("at %d h fired %d timers, want 1", hour, n)
			}
		}
		f.until(2, 0, 0)
		f.fire()
		equal(t, "active runs", len(f.active(task.ID)), 0)
		equal(t, "beats", f.beats(task.ID), map[string]int{"only_if": 15})
		f.read(func(tx *store.ReadTx) error {
			days, err := tx.ListBeats(task.ID)
			equal(t, "counters", days, []fairlead.BeatCount{
				{Task: task.ID, Step: "watch", Day: "2026-03-02", Outcome: "only_if", Count: 1},
				{Task: task.ID, Step: "watch", Day: "2026-03-01", Outcome: "only_if", Count: 14},
			})
			return err
		})
		after := f.see(task.ID)
		equal(t, "version", after.Version, task.Version)
		equal(t, "receipts", f.receipts(fairlead.ScheduleHeartbeat, task.ID), map[string]int{})

		_, err := f.c.CreateTask(t.Context(), owner(), fairlead.NewTask{Title: "child", Workflow: "stay", Parent: task.ID})
		f.must(err)
		f.until(2, 1, 0)
		f.fire()
		run := f.queued(task.ID)
		if run.Agent != "ann" || run.Reason != "heartbeat" || run.Person {
			t.Errorf("run %+v, want ann's for the heartbeat", run)
		}
		equal(t, "beats", f.beats(task.ID), map[string]int{"only_if": 15, "fired": 1})
	})
}

// TestR15_HeartbeatMissed: the server was down across five beats; the policies make up for none, one or three of them,
// each with a receipt, and the wake says for how many it stands.
func TestR15_HeartbeatMissed(t *testing.T) {
	for policy, want := range map[string]struct {
		fired    int
		missed   float64 // in the payload of the first wake
		receipts map[string]int
	}{
		"skip":   {0, 0, map[string]int{"skipped/missed": 5}},
		"once":   {1, 4, map[string]int{"skipped/joined": 4, "caught_up/missed": 1}},
		"all(3)": {3, 2, map[string]int{"skipped/over_max": 2, "caught_up/missed": 3}},
	} {
		t.Run(policy, func(t *testing.T) {
			eachTimed(t, func(t *testing.T, f *timed) {
				f.save(beatFlow("beat", `every: 1h, missed: "`+policy+`", do: [{fan_out: {role: reviewer}}, {queue_run: {to: primary}}]`))
				task := f.task("beat")
				f.until(1, 14, 30)
				f.fire()
				counts := map[string]int{}
				if want.fired > 0 {
					counts["fired"] = want.fired
				}
				equal(t, "beats", f.beats(task.ID), counts)
				equal(t, "receipts", f.receipts(fairlead.ScheduleHeartbeat, task.ID), want.receipts)
				equal(t, "next", f.timer(task.ID).DueAt, time.Date(2026, 3, 1, 15, 0, 0, 0, time.UTC))
				if want.fired == 0 {
					equal(t, "active runs", len(f.active(task.ID)), 0)
					return
				}
				run := f.queued(task.ID)
				equal(t, "absorbed", run.Absorbed, want.fired-1)
				f.read(func(tx *store.ReadTx) error {
					wakes, err := tx.ListWakes(run.ID)
					if err == nil {
						equal(t, "missed", wakes[0].Payload["missed"], any(want.missed))
					}
					return err
				})
				if again := f.fire(); again != 0 {
					t.Errorf("fired %d timers again", again)
				}
			})
		})
	}
}

// TestHeartbeatFollowsTheVisit: the timer is set with the visit and goes with it, a repin sets it anew, and two looks at
// the same due time fire once.
func TestHeartbeatFollowsTheVisit(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.save(beatFlow("beat", `cron: "30 9 * * *", zone: Europe/Berlin, do: [{queue_run: {to: primary}}]`))
		task := f.task("beat")
		equal(t, "due", f.timer(task.ID).DueAt, time.Date(2026, 3, 2, 8, 30, 0, 0, time.UTC))
		f.move(task.ID, "rest")
		if f.timer(task.ID) != nil {
			t.Error("a step without a heartbeat has a timer")
		}
		f.move(task.ID, "watch")
		f.save(beatFlow("beat", `every: 2h, do: [{queue_run: {to: primary}}]`))
		equal(t, "pinned", f.timer(task.ID).DueAt, time.Date(2026, 3, 2, 8, 30, 0, 0, time.UTC))
		_, err := f.c.Repin(t.Context(), owner(), task.ID, fairlead.RepinBody{})
		f.must(err)
		equal(t, "repinned", f.timer(task.ID).DueAt, time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC))

		f.until(1, 10, 0)
		timer := *f.timer(task.ID)
		for i, err := range together(4, func(int) error { _, err := f.c.fireTimer(t.Context(), timer); return err }) {
			if err != nil {
				t.Errorf("look %d: %v", i, err)
			}
		}
		equal(t, "beats", f.beats(task.ID), map[string]int{"fired": 1})
		f.move(task.ID, "done")
		if f.timer(task.ID) != nil {
			t.Error("a task that has ended has a timer")
		}
	})
}

// TestHeartbeatHeldUp: while the agent is paused, or the run of the beat before waits, further beats add nothing; one
// receipt tells of all of them.
func TestHeartbeatHeldUp(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.save(beatFlow("beat", `every: 1h, do: [{queue_run: {to: primary}}]`))
		task := f.task("beat")
		_, err := f.c.PauseAgent(t.Context(), owner(), "ann", fairlead.PauseBody{})
		f.must(err)
		for hour := 10; hour < 13; hour++ {
			f.until(1, hour, 0)
			f.fire()
		}
		equal(t, "active runs", len(f.active(task.ID)), 0)
		_, err = f.c.ResumeAgent(t.Context(), owner(), "ann", fairlead.PauseBody{})
		f.must(err)
		for hour := 13; hour < 16; hour++ {
			f.until(1, hour, 0)
			f.fire()
		}
		equal(t, "absorbed", f.queued(task.ID).Absorbed, 0)
		equal(t, "receipts", f.receipts(fairlead.ScheduleHeartbeat, task.ID), map[string]int{"skipped/paused": 3, "skipped/queued": 2})
		f.read(func(tx *store.ReadTx) error {
			all, _, err := tx.ListReceipts(mainWorkspace, fairlead.ScheduleHeartbeat, task.ID, store.Page{})
			equal(t, "number of receipts", len(all), 2)
			return err
		})
	})
}

// TestHeartbeatMovesOn: a beat may move its task; what comes after it in the same look fires for nobody.
func TestHeartbeatMovesOn(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.save(beatFlow("beat", `every: 1h, missed: all, do: [{move: {to: rest, if: "payload.missed == 0"}}]`))
		task := f.task("beat")
		f.until(1, 13, 30)
		f.fire()
		equal(t, "step", f.see(task.ID).Step, "rest")
		equal(t, "beats", f.beats(task.ID), map[string]int{"fired": 1})
		if f.timer(task.ID) != nil {
			t.Error("the timer outlived its visit")
		}
	})
}
