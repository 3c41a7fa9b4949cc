package river_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/dispatch"
	"github.com/fairlead/fairlead/internal/dispatch/dispatchtest"
	"github.com/fairlead/fairlead/internal/dispatch/river"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// onPostgres runs fn on a database of its own.
func onPostgres(t *testing.T, fn func(t *testing.T, db *store.DB)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if db.Dialect() != "postgres" {
			t.Skip("River's dispatcher is for Postgres")
		}
		fn(t, db)
	})
}

func fresh(t testing.TB, db *store.DB) *river.Dispatcher {
	t.Helper()
	d, err := river.New(t.Context(), db, &river.Options{NoSweep: true, Retry: time.Millisecond, JobRetry: time.Millisecond})
	if err != nil {
		t.Fatalf("make dispatcher: %v", err)
	}
	return d
}

func TestConformance(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *store.DB) {
		dispatchtest.Run(t, db, func(t testing.TB, db *store.DB) dispatch.Dispatcher { return fresh(t, db) })
	})
}

func idle(context.Context) error { return nil }

// TestDutiesHaveOneNodeAndMoveOn: a duty runs on one of two nodes, and on the other when that one is gone.
func TestDutiesHaveOneNodeAndMoveOn(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *store.DB) {
		nodes := [2]*river.Dispatcher{fresh(t, db), fresh(t, db)}
		turns := [2]chan struct{}{}
		for i, d := range nodes {
			turns[i] = make(chan struct{}, 100)
			d.Every(dispatch.Duty{Name: "duty", Every: 20 * time.Millisecond, Run: func(context.Context) error {
				select {
				case turns[i] <- struct{}{}:
				default:
				}
				return nil
			}})
			if err := d.Start(t.Context(), idle, nil); err != nil {
				t.Fatal(err)
			}
		}
		leader := 0
		for range 5 {
			select {
			case <-turns[0]:
			case <-turns[1]:
				leader = 1
			case <-time.After(20 * time.Second):
				t.Fatal("no node took the duty")
			}
		}
		if other := len(turns[1-leader]); other > 0 {
			t.Errorf("the other node had %d turns beside the leader", other)
		}
		if err := nodes[leader].Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-turns[1-leader]:
		case <-time.After(20 * time.Second):
			t.Error("the duty did not move within 20 s")
		}
		if err := nodes[1-leader].Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAJobOutlivesItsNode: it is a row of the transaction, and whoever lives carries it out.
func TestAJobOutlivesItsNode(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *store.DB) {
		asks := fresh(t, db) // never started
		if err := db.Write(t.Context(), func(tx *store.Tx) error { return asks.JobTx(tx, "say", []byte("hello")) }); err != nil {
			t.Fatal(err)
		}
		got, works := make(chan struct{}, 100), fresh(t, db)
		if err := works.Start(t.Context(), idle, map[string]dispatch.Job{"say": func(context.Context, []byte) error {
			got <- struct{}{}
			return nil
		}}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-got:
		case <-time.After(20 * time.Second):
			t.Error("the job of a node that is gone did not run")
		}
		if err := works.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
