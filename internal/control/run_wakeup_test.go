package control

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/dispatch/local"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// crew is a node that claims whenever it is woken, with the sweep off.
type crew struct {
	*floor
	took chan *job
}

// newCrew starts a node whose look claims until it misses.
func newCrew(t *testing.T, db *store.DB) *crew {
	t.Helper()
	f := newFloor(t, db)
	d := local.New(db, &local.Options{NoSweep: true})
	f.c = New(Deps{DB: db, Dispatch: d}, nil)
	w := &crew{floor: f, took: make(chan *job, 1000)}
	look := func(ctx context.Context) error {
		for {
			k, err := f.c.Claim(ctx, f.node)
			if err != nil || k == nil {
				return err
			}
			w.took <- &job{Claimed: k, f: f}
		}
	}
	f.must(d.Start(t.Context(), look, nil))
	t.Cleanup(func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// patience is how long a test waits for what has to come: long, on a busy machine. Whoever expects the test to fail says
// less.
func patience() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("FAIRLEAD_TEST_PATIENCE")); err == nil && d > 0 {
		return d
	}
	return 30 * time.Second
}

// next waits for a claim that has to come by itself.
func (w *crew) next() *job {
	w.t.Helper()
	select {
	case j := <-w.took:
		return j
	case <-time.After(patience()):
		w.t.Fatal("nobody was woken")
		return nil
	}
}

// quiet reports a claim that nobody should have got. The dispatcher has seen every commit of this test before next
// returns for a later one, so it is called after one.
func (w *crew) quiet() {
	w.t.Helper()
	select {
	case j := <-w.took:
		w.t.Fatalf("run %s of %s was claimed", j.Run.ID, j.Run.Agent)
	default:
	}
}

func TestR1_TriggerToClaim(t *testing.T) {
	t.Parallel()
	storetest.EachWith(t, nil, func(t *testing.T, db *store.DB) {
		w := newCrew(t, db)
		task := w.task("stay")
		w.next().start().done()
		const n = 60
		took := make([]time.Duration, 0, n)
		for i := range n {
			w.comment(owner(), task.ID, fmt.Sprint(i))
			began := time.Now() // the commit is done
			j := w.next()
			took = append(took, time.Since(began))
			j.start().done()
		}
		slices.Sort(took)
		t.Logf("commit to claim: p50 %v, p99 %v", took[n/2], took[n*99/100])
		if took[n/2] > time.Second {
			t.Errorf("half of the claims took longer than %v", took[n/2])
		}
	})
}

const blockFlow = `
workflow: block
name: Block
start: work
steps:
  - key: work
    name: Work
    agent: bob
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      heartbeat: {every: 1h, do: [{queue_run: {to: primary}}]}
  - {key: done, name: Done, terminal: done}
`

// TestR27_FreedByTheTransactionThatFreesIt: nothing polls, so each of these would wait for ever if its end did not wake.
func TestR27_FreedByTheTransactionThatFreesIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newCrew(t, db)
		w.save(blockFlow)
		w.freedAgent(t)
		w.freedCheckout(t)
		w.freedPause(t)
		w.freedBlocker(t)
		w.freedByAWakeThatIsAbsorbed(t)
	})
}

func (w *crew) freedAgent(t *testing.T) {
	w.task("stay")
	first := w.next().start()
	second := w.task("stay")
	same(t, "holds", w.held(w.queued(second.ID).ID), fairlead.HoldAgentBusy)
	w.quiet()
	first.done()
	w.next().start().done()
}

func (w *crew) freedCheckout(t *testing.T) {
	task := w.task("stay")
	j := w.next().start()
	_, err := w.c.UpdateTask(t.Context(), owner(), task.ID, fairlead.TaskPatch{Agent: ptr("bob")})
	w.must(err)
	w.move(task.ID, "other")
	if q := w.queued(task.ID); q.Agent != "bob" {
		t.Fatalf("queued for %s, want bob", q.Agent)
	}
	same(t, "holds", w.held(w.queued(task.ID).ID), fairlead.HoldCheckout)
	w.quiet()
	j.tell(nil, true)
	w.next().start().done()
}

func (w *crew) freedPause(t *testing.T) {
	_, err := w.c.PauseAgent(t.Context(), owner(), "bob", fairlead.PauseBody{})
	w.must(err)
	task := w.task("block")
	same(t, "holds", w.held(w.queued(task.ID).ID), fairlead.HoldAgentPaused)
	w.quiet()
	_, err = w.c.ResumeAgent(t.Context(), owner(), "bob", fairlead.PauseBody{})
	w.must(err)
	w.next().start().done()
}

func (w *crew) freedBlocker(t *testing.T) {
	first := w.task("solo")
	blocked, err := w.c.CreateTask(t.Context(), asClient(), fairlead.NewTask{Title: "b", Workflow: "block", BlockedBy: []string{first.ID}})
	w.must(err)
	same(t, "holds", w.held(w.queued(blocked.ID).ID), fairlead.HoldBlocked)
	w.quiet()
	w.move(first.ID, "done")
	w.next().start().done()
}

// freedByAWakeThatIsAbsorbed: what a person caused passes blockers, also when a queued run takes it up.
func (w *crew) freedByAWakeThatIsAbsorbed(t *testing.T) {
	first := w.task("solo")
	blocked, err := w.c.CreateTask(t.Context(), asClient(), fairlead.NewTask{Title: "b", Workflow: "stay", BlockedBy: []string{first.ID}})
	w.must(err)
	same(t, "holds", w.held(w.queued(blocked.ID).ID), fairlead.HoldBlocked)
	w.quiet()
	w.comment(owner(), blocked.ID, "do it all the same")
	w.next().start().done()
}

// TestTheEndOfACoolDownWakes: the timer's transaction is all that tells anybody.
func TestTheEndOfACoolDownWakes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newCrew(t, db)
		w.agent("ann", "cooldown: 20ms\n")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.c.RunTimers(ctx) }()
		w.task("stay")
		w.task("stay")
		w.next().start().done()
		w.next().start().done()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("timers ended with %v", err)
		}
	})
}

func ptr[T any](v T) *T { return &v }

const brieflyFlow = `
workflow: briefly
name: Briefly
start: idle
steps:
  - {key: idle, name: Idle}
  - key: work
    name: Work
    agent: ann
    settle: 30ms
    on:
      comment: [{queue_run: {to: primary, reason: comment}}]
  - {key: done, name: Done, terminal: done}
`

// TestTimersFireByThemselves: the end of a settle window wakes the node, and nothing polls.
func TestTimersFireByThemselves(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newCrew(t, db)
		w.save(brieflyFlow)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.c.RunTimers(ctx) }()
		task := w.task("briefly")
		w.move(task.ID, "work")
		for range 3 {
			w.comment(asClient(), task.ID, "one")
			w.comment(asClient(), task.ID, "two")
			w.next().start().done()
			for len(w.active(task.ID)) > 0 { // the second comment may have missed the first one's window
				w.next().start().done()
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("timers ended with %v", err)
		}
	})
}
