package control

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// hand is a clock that a test moves.
type hand struct {
	mu sync.Mutex
	at time.Time
}

func newHand() *hand { return &hand{at: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)} }

// Now moves on a little with each look, so that what comes later is later.
func (h *hand) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(time.Microsecond)
	return h.at
}

func (h *hand) add(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

// eachClockedFloor is eachFloor with time in the test's hand.
func eachClockedFloor(t *testing.T, fn func(t *testing.T, f *floor, clock *hand)) {
	t.Helper()
	t.Parallel()
	// The databases are tried side by side, each with a clock of its own.
	storetest.Backends(t, func(t *testing.T, b storetest.Backend) {
		clock := newHand()
		fn(t, newFloor(t, b.Open(t, &store.Options{RunTwice: true, Now: clock.Now})), clock)
	})
}

func TestR2_FiftyClaimsOfOneRun(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.task("stay")
		var wg sync.WaitGroup
		got := make(chan *Claimed, 50)
		for range 50 {
			wg.Go(func() {
				k, err := f.c.Claim(t.Context(), f.node)
				if err != nil {
					t.Errorf("claim: %v", err)
				}
				got <- k
			})
		}
		wg.Wait()
		close(got)
		won := 0
		for k := range got {
			if k != nil {
				won++
				if k.Run.Attempt != 0 {
					t.Errorf("a miss counted as an attempt")
				}
			}
		}
		if won != 1 {
			t.Errorf("%d claims won, want 1", won)
		}
	})
}

func TestR3_TwoTasksOfOneAgentBothRun(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		a, b := f.task("stay"), f.task("stay")
		first := f.claimed()
		f.nothing() // parallel 1: one after the other
		same(t, "holds", f.held(f.queued(b.ID).ID), fairlead.HoldAgentBusy)
		first.start().done()
		second := f.claimed()
		if first.Task.ID != a.ID || second.Task.ID != b.ID {
			t.Errorf("worked on %s and %s, want %s and %s", first.Task.ID, second.Task.ID, a.ID, b.ID)
		}
	})
}

func TestR4_CommentsWhileBusyAreOneRun(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("stay")
		other := f.claimed() // the agent is busy with the first turn
		other.start()
		for i := range 5 {
			f.comment(owner(), task.ID, fmt.Sprintf("c%d", i))
		}
		q := f.queued(task.ID)
		if q.Absorbed != 4 {
			t.Errorf("got %d absorbed wakes, want 4", q.Absorbed)
		}
		other.done()
		j := f.claimed()
		if len(j.Wakes) != 5 {
			t.Errorf("got %d wakes, want 5", len(j.Wakes))
		}
		same(t, "comments", j.texts(), "c0", "c1", "c2", "c3", "c4")
		j.start()
		f.comment(owner(), task.ID, "c5")
		j.done()
		further := f.claimed()
		same(t, "comments", further.texts(), "c5")
		further.start().done()
		f.nothing()
	})
}

const settleFlow = `
workflow: settle
name: Settle
start: idle
steps:
  - {key: idle, name: Idle}
  - key: work
    name: Work
    agent: ann
    settle: 5s
    on:
      comment: [{queue_run: {to: primary, reason: comment}}]
  - {key: done, name: Done, terminal: done}
`

func asClient() Meta {
	return Meta{Workspace: mainWorkspace, Actor: fairlead.Actor{Kind: fairlead.ActorClient, Key: "tracker"}}
}

func TestR4_SettleMakesABurstOneTurn(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		f.save(settleFlow)
		task := f.task("settle")
		f.move(task.ID, "work")
		for i := range 3 {
			f.comment(asClient(), task.ID, fmt.Sprintf("c%d", i))
		}
		q := f.queued(task.ID)
		same(t, "holds", f.held(q.ID), fairlead.HoldDue)
		f.nothing()
		if n, err := f.c.FireDue(t.Context()); err != nil || n != 0 {
			t.Errorf("fired %d timers (%v) before their time", n, err)
		}
		clock.add(time.Hour)
		f.comment(asClient(), task.ID, "c3")
		f.comment(asClient(), task.ID, "c4")
		f.nothing() // due is a fact that a timer writes; no claim looks at a clock
		if n, err := f.c.FireDue(t.Context()); err != nil || n != 1 {
			t.Errorf("fired %d timers (%v), want 1", n, err)
		}
		if n, err := f.c.FireDue(t.Context()); err != nil || n != 0 {
			t.Errorf("fired %d timers (%v) a second time", n, err)
		}
		j := f.claimed()
		if j.Run.ID != q.ID || len(j.Wakes) != 5 {
			t.Errorf("got run %s with %d wakes, want %s with 5", j.Run.ID, len(j.Wakes), q.ID)
		}
		same(t, "comments", j.texts(), "c0", "c1", "c2", "c3", "c4")
	})
}

func TestPersonEndsSettle(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, _ *hand) {
		f.save(settleFlow)
		task := f.task("settle")
		f.move(task.ID, "work")
		f.comment(asClient(), task.ID, "c0")
		low := f.queued(task.ID)
		f.comment(owner(), task.ID, "now")
		high := f.queued(task.ID)
		if !high.Due || !high.Person || high.Priority <= low.Priority || high.ID != low.ID {
			t.Errorf("got %+v after %+v: want it due, a person's, higher", high, low)
		}
		if next, err := f.c.NextDue(t.Context()); err != nil || !next.IsZero() {
			t.Errorf("a timer is left for %v (%v)", next, err)
		}
		if j := f.claimed(); len(j.Wakes) != 2 {
			t.Errorf("got %d wakes, want 2", len(j.Wakes))
		}
	})
}

const keyFlow = `
workflow: keyed
name: Keyed
start: work
steps:
  - key: work
    name: Work
    agent: ann
    on:
      manual: {poke: [{queue_run: {to: primary, reason: poke, key: k1}}]}
  - {key: done, name: Done, terminal: done}
`

func TestR5_KeyOfAWake(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(keyFlow)
		tasks := make([]fairlead.TaskView, 8)
		for i := range tasks {
			tasks[i] = f.task("keyed")
		}
		poke := func(task string) {
			_, err := f.c.Trigger(t.Context(), owner(), task, fairlead.TriggerBody{Kind: fairlead.TriggerManual, Key: "poke"}, false)
			if err != nil {
				t.Errorf("poke: %v", err)
			}
		}
		var wg sync.WaitGroup
		for _, task := range tasks { // a key counts per agent, whatever the task
			wg.Go(func() { poke(task.ID) })
		}
		wg.Wait()
		first := f.claimed()
		first.start().done()
		f.nothing()
		poke(first.Task.ID)
		f.nothing()
		f.read(func(tx *store.ReadTx) error {
			id, err := tx.KeyRun(mainWorkspace, "ann", "k1")
			if id != first.Run.ID {
				t.Errorf("the key names run %s, want the first, %s", id, first.Run.ID)
			}
			return err
		})
		f.must(f.db.Write(t.Context(), func(tx *store.Tx) error { _, err := tx.PruneKeys(tx.Now().Add(time.Hour)); return err }))
		poke(first.Task.ID)
		if second := f.claimed(); second.Run.ID == first.Run.ID {
			t.Error("after the prune the first run came back")
		}
	})
}

func TestE15_CommentStormLosesNone(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("stay")
		f.claimed().start().done()
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				if _, err := f.c.Comment(t.Context(), owner(), task.ID, fairlead.CommentBody{Text: fmt.Sprint(i)}); err != nil {
					t.Errorf("comment: %v", err)
				}
			})
		}
		wg.Wait()
		j := f.claimed()
		if len(j.Wakes) != 40 || len(j.texts()) != 40 {
			t.Errorf("got %d wakes and %d comments, want 40 each", len(j.Wakes), len(j.texts()))
		}
		j.start()
		f.comment(j.as(), task.ID, "my own") // wakes everybody but its author
		j.done()
		f.nothing()
	})
}

func TestR36_CommentFollowsTheSessionToAnotherStep(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("stay")
		f.claimed().start().done()
		f.comment(owner(), task.ID, "look at this")
		old := f.queued(task.ID)
		f.move(task.ID, "other")
		f.status(old.ID, fairlead.RunSuperseded)
		j := f.claimed()
		same(t, "comments", j.texts(), "look at this")
		j.start().done()
		f.nothing()
	})
}
