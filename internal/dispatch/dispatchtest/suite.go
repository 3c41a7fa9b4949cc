package dispatchtest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/dispatch"
	"github.com/fairlead/fairlead/internal/store"
)

// patience bounds the wait for something that must happen. Nothing waits for it to pass.
const patience = 20 * time.Second

// Factory makes one more node's dispatcher over the database, with every periodic look switched off.
type Factory func(t testing.TB, db *store.DB) dispatch.Dispatcher

// Run checks everything that an implementation promises. db is fresh; nodes share it.
func Run(t *testing.T, db *store.DB, fresh Factory) {
	t.Run("first_look", func(t *testing.T) { firstLook(t, db, fresh) })
	t.Run("committed_wake_is_seen_by_every_node", func(t *testing.T) { committed(t, db, fresh) })
	t.Run("rolled_back_wake_is_seen_by_none", func(t *testing.T) { rolledBack(t, db, fresh) })
	t.Run("node_without_slots_eats_none", func(t *testing.T) { withoutSlots(t, db, fresh) })
	t.Run("wakes_during_a_look_are_one_more", func(t *testing.T) { meanwhile(t, db, fresh) })
	t.Run("failed_look_is_repeated", func(t *testing.T) { failedLook(t, db, fresh) })
	t.Run("jobs", func(t *testing.T) { jobs(t, db, fresh) })
	t.Run("duties", func(t *testing.T) { duties(t, db, fresh) })
	t.Run("stop_waits", func(t *testing.T) { stopWaits(t, db, fresh) })
}

// node is a started dispatcher whose looks can be waited for.
type node struct {
	dispatch.Dispatcher
	looks chan struct{}
}

func start(t *testing.T, db *store.DB, fresh Factory, jobs map[string]dispatch.Job, prepare ...func(dispatch.Dispatcher)) *node {
	t.Helper()
	n := &node{Dispatcher: fresh(t, db), looks: make(chan struct{}, 1000)}
	for _, p := range prepare {
		p(n.Dispatcher)
	}
	look := func(context.Context) error { n.looks <- struct{}{}; return nil }
	if err := n.Start(t.Context(), look, jobs); err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() { stop(t, n) })
	await(t, n.looks, "the first look")
	return n
}

func stop(t *testing.T, d dispatch.Dispatcher) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := d.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
	}
}

// wake commits one wake.
func wake(t *testing.T, db *store.DB, d dispatch.Dispatcher) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *store.Tx) error { d.WakeTx(tx); return nil }); err != nil {
		t.Fatalf("wake: %v", err)
	}
}

// rollBack runs a transaction that ends in a refusal.
func rollBack(t *testing.T, db *store.DB, fn func(*store.Tx)) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		fn(tx)
		return fairlead.Errorf(fairlead.CodeRefused, "rolled back on purpose")
	})
	if !fairlead.IsCode(err, fairlead.CodeRefused) {
		t.Fatalf("got %v, want the refusal", err)
	}
}

func firstLook(t *testing.T, db *store.DB, fresh Factory) { start(t, db, fresh, nil) }

func committed(t *testing.T, db *store.DB, fresh Factory) {
	a, b := start(t, db, fresh, nil), start(t, db, fresh, nil)
	for range 3 {
		wake(t, db, a)
		await(t, a.looks, "the look of the waking node")
		await(t, b.looks, "the look of the other node")
	}
}

// rolledBack allows a look for no reason (a listener that has just connected says "look" too): a wake that is really
// seen although it was rolled back is seen every time.
func rolledBack(t *testing.T, db *store.DB, fresh Factory) {
	a, b := start(t, db, fresh, nil), start(t, db, fresh, nil)
	const tries = 3
	for try := 1; ; try++ {
		rollBack(t, db, func(tx *store.Tx) { a.WakeTx(tx) })
		// A committed wake after it gives a bound to the wait: it must be the only look.
		wake(t, db, a)
		extra := 0
		for _, n := range []*node{a, b} {
			await(t, n.looks, "the look after the commit")
			for ; len(n.looks) > 0; extra++ {
				<-n.looks
			}
		}
		if extra == 0 {
			return
		}
		if try == tries {
			t.Errorf("a rolled-back wake was seen %d times of %d", tries, tries)
			return
		}
	}
}

// withoutSlots has one node that takes nothing, and asks whether another still gets every wake.
func withoutSlots(t *testing.T, db *store.DB, fresh Factory) {
	full, free := start(t, db, fresh, nil), start(t, db, fresh, nil)
	for range 5 {
		wake(t, db, full)
		await(t, full.looks, "the look of the full node")
		await(t, free.looks, "the look of the free node")
	}
}

func meanwhile(t *testing.T, db *store.DB, fresh Factory) {
	d := fresh(t, db)
	began, goOn := make(chan struct{}, 10), make(chan struct{})
	var overlap atomic.Int32
	look := func(ctx context.Context) error {
		if overlap.Add(1) > 1 {
			t.Error("two looks at once")
		}
		defer overlap.Add(-1)
		began <- struct{}{}
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return nil
	}
	if err := d.Start(t.Context(), look, nil); err != nil {
		t.Fatalf("start: %v", err)
	}
	defer stop(t, d)
	await(t, began, "the first look")
	for range 5 {
		wake(t, db, d)
	}
	goOn <- struct{}{}
	await(t, began, "the look for what came meanwhile")
	goOn <- struct{}{}
}

func failedLook(t *testing.T, db *store.DB, fresh Factory) {
	d := fresh(t, db)
	looks := make(chan struct{}, 10)
	var n atomic.Int32
	look := func(context.Context) error {
		looks <- struct{}{}
		if n.Add(1) == 1 {
			return errors.New("database is away")
		}
		return nil
	}
	if err := d.Start(t.Context(), look, nil); err != nil {
		t.Fatalf("start: %v", err)
	}
	defer stop(t, d)
	await(t, looks, "the first look")
	await(t, looks, "the look after the failure")
}

func jobs(t *testing.T, db *store.DB, fresh Factory) {
	got := make(chan string, 10)
	done := make(chan struct{}, 10)
	var failed sync.Once
	n := start(t, db, fresh, map[string]dispatch.Job{
		"say": func(_ context.Context, args []byte) error {
			got <- string(args)
			done <- struct{}{}
			return nil
		},
		"fail_once": func(context.Context, []byte) (err error) {
			failed.Do(func() { err = errors.New("not yet") })
			done <- struct{}{}
			return err
		},
	})
	rollBack(t, db, func(tx *store.Tx) { _ = n.JobTx(tx, "say", []byte("never")) })
	add := func(kind, args string) {
		err := db.Write(t.Context(), func(tx *store.Tx) error { return n.JobTx(tx, kind, []byte(args)) })
		if err != nil {
			t.Fatalf("add job: %v", err)
		}
	}
	add("say", "hello")
	await(t, done, "the job")
	if s := <-got; s != "hello" {
		t.Errorf("got args %q, want hello", s)
	}
	add("fail_once", "")
	await(t, done, "the failing job")
	await(t, done, "its second try")
}

func duties(t *testing.T, db *store.DB, fresh Factory) {
	ran := make(chan struct{}, 100)
	start(t, db, fresh, nil, func(d dispatch.Dispatcher) {
		d.Every(dispatch.Duty{Name: "count", Every: time.Millisecond, Run: func(context.Context) error {
			select {
			case ran <- struct{}{}:
			default:
			}
			return errors.New("an error is one turn missed")
		}})
	})
	await(t, ran, "the first turn of the duty")
	await(t, ran, "the second turn of the duty")
}

func stopWaits(t *testing.T, db *store.DB, fresh Factory) {
	d := fresh(t, db)
	began := make(chan struct{}, 1)
	var ended atomic.Bool
	look := func(ctx context.Context) error {
		began <- struct{}{}
		<-ctx.Done()
		ended.Store(true)
		return nil
	}
	if err := d.Start(t.Context(), look, nil); err != nil {
		t.Fatalf("start: %v", err)
	}
	await(t, began, "the look")
	stop(t, d)
	if !ended.Load() {
		t.Error("stop returned while a look was running")
	}
	if err := d.Start(t.Context(), look, nil); err == nil {
		t.Error("a second start was accepted")
	}
}
