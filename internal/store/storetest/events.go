package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// readEvents waits until n events have positions and returns all.
func readEvents(t testing.TB, db *store.DB, n int) []fairlead.Event {
	t.Helper()
	s := db.Signals()
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		events := drain(t, db, 0)
		if len(events) >= n {
			return events
		}
		select {
		case <-s.C(store.TopicEvents):
		case <-ctx.Done():
			t.Fatalf("got %d events, want %d", len(events), n)
		}
	}
}

// drain reads everything behind a position.
func drain(t testing.TB, db *store.DB, from int64) (all []fairlead.Event) {
	t.Helper()
	for {
		events, upTo, err := db.EventsAfter(t.Context(), from, 7, store.EventFilter{})
		if err != nil {
			t.Fatalf("events after %d: %v", from, err)
		}
		all = append(all, events...)
		if upTo == from {
			return all
		}
		from = upTo
	}
}

// denseEvents lets two nodes' writers and readers loose on one log. Every reader must see 1, 2, 3 … and, per task, the
// order in which the task's commands were committed.
func denseEvents(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	nodes := []*store.DB{db}
	if b.Name == "postgres" { // a SQLite home has one process
		nodes = append(nodes, b.Open(t, nil), b.Open(t, nil))
	}
	taskIDs := []string{"T1", "T2", "T3"}
	fill(t, db, taskIDs...)
	const writers, each = 8, 25
	total := 0
	for i := range each {
		total += 1 + i%3
	}
	total *= writers

	var work sync.WaitGroup
	for g := range writers {
		work.Go(func() {
			for i := range each {
				if err := emit(t.Context(), nodes[g%len(nodes)], taskIDs[(g+i)%3], 1+i%3, i%5 == 4); err != nil {
					t.Errorf("writer: %v", err)
				}
			}
		})
	}
	var readers sync.WaitGroup
	for g := range 4 {
		readers.Go(func() { follow(t, nodes[g%len(nodes)], total, g%2 == 0) })
	}
	work.Wait()
	readers.Wait()
	if epoch, head, err := db.Head(t.Context()); err != nil || head != int64(total) || epoch == "" {
		t.Errorf("head is %d of %q, want %d (%v)", head, epoch, total, err)
	}
}

// emit raises the task's sequence n times, with an event each; a refused try before it must leave no trace.
func emit(ctx context.Context, db *store.DB, task string, n int, refuseFirst bool) error {
	fn := func(refuse bool) error {
		return db.Write(ctx, func(tx *store.Tx) error {
			row, err := tx.LockTask(task)
			if err != nil {
				return err
			}
			for range n {
				row.RecordSeq++
				tx.Emit(fairlead.Event{Kind: fairlead.EventTaskUpdated, Workspace: "w", Task: task, Version: row.RecordSeq, Actor: fairlead.Engine()})
			}
			if err := tx.SaveTask(row, row.Version); err != nil {
				return err
			}
			if refuse {
				return fairlead.Errorf(fairlead.CodeRefused, "no")
			}
			return nil
		})
	}
	if refuseFirst {
		if err := fn(true); !fairlead.IsCode(err, fairlead.CodeRefused) {
			return fmt.Errorf("refused try: %w", err)
		}
	}
	return fn(false)
}

// follow reads as a stream does, from signal to signal; a restless one forgets what it has and begins anew half-way.
func follow(t *testing.T, db *store.DB, total int, restless bool) {
	s := db.Signals()
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var position int64
	last := map[string]int64{}
	for position < int64(total) {
		events, upTo, err := db.EventsAfter(ctx, position, 10, store.EventFilter{})
		if err != nil {
			t.Errorf("reader: %v", err)
			return
		}
		for _, e := range events {
			if e.Position != position+1 || e.Version != last[e.Task]+1 {
				t.Errorf("reader at %d (%s at %d) got %d (%d): not dense, or not in the order of commits", position, e.Task, last[e.Task], e.Position, e.Version)
				return
			}
			position = e.Position
			last[e.Task] = e.Version
		}
		if restless && position > int64(total/2) {
			restless, position, last = false, 0, map[string]int64{}
			continue
		}
		if upTo > position || len(events) > 0 {
			continue
		}
		select {
		case <-s.C(store.TopicEvents):
		case <-ctx.Done():
			t.Errorf("reader waits at %d of %d", position, total)
			return
		}
	}
}

func filterEvents(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	e := fairlead.Event{
		Kind: fairlead.EventRunQueued, Workspace: "w", Task: "T1", Visit: 2, Run: "R1", Actor: fairlead.Actor{Kind: fairlead.ActorAgent, Key: "a", Assignment: "asg", Run: "R1"},
		Version: 3, Data: json.RawMessage(`{"a":1}`), At: at,
	}
	write(t, db, func(tx *store.Tx) error {
		tx.Emit(e, fairlead.Event{Kind: fairlead.EventTaskMoved, Workspace: "v", Task: "T2", At: at}, fairlead.Event{Kind: fairlead.EventRunClaimed, Workspace: "w", Task: "T2", At: at})
		return nil
	})
	all := readEvents(t, db, 3)
	e.Position = 1
	if diff := cmp.Diff(e, all[0]); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	cases := map[string]struct {
		f    store.EventFilter
		want []int64
	}{
		"all":       {store.EventFilter{}, []int64{1, 2, 3}},
		"workspace": {store.EventFilter{Workspace: "w"}, []int64{1, 3}},
		"task":      {store.EventFilter{Task: "T2"}, []int64{2, 3}},
		"run":       {store.EventFilter{Run: "R1"}, []int64{1}},
		"family":    {store.EventFilter{Topics: []string{"run"}}, []int64{1, 3}},
		"kind":      {store.EventFilter{Topics: []string{"task.moved", "run.claimed"}}, []int64{2, 3}},
		"nothing":   {store.EventFilter{Task: "none"}, nil},
	}
	for name, c := range cases {
		events, upTo, err := db.EventsAfter(t.Context(), 0, 100, c.f)
		var got []int64
		for _, e := range events {
			got = append(got, e.Position)
		}
		if err != nil || !cmp.Equal(got, c.want) || upTo != 3 {
			t.Errorf("%s: got %v up to %d (%v), want %v up to 3", name, got, upTo, err, c.want)
		}
	}
	if p, ok := db.ParseEventID(db.EventID(2)); !ok || p != 2 {
		t.Errorf("own id is read as %d, %v", p, ok)
	}
	for _, id := range []string{"other-2", db.LogEpoch() + "-x", db.LogEpoch() + "--1", "2", ""} {
		if _, ok := db.ParseEventID(id); ok {
			t.Errorf("id %q is taken for one of this log", id)
		}
	}
	write(t, db, func(tx *store.Tx) error { _, err := tx.ForgetEvents(at.Add(time.Hour), 1000); return err })
	if left := drain(t, db, 0); len(left) != 1 || left[0].Position != 3 {
		t.Errorf("after pruning everything got %v, want the newest alone", left)
	}
}

func signals(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	listeners := []*store.Signals{db.Signals()}
	if b.Name == "postgres" {
		listeners = append(listeners, b.Open(t, nil).Signals())
	}
	wait := func(topic store.Topic) {
		t.Helper()
		for i, l := range listeners {
			select {
			case <-l.C(topic):
			case <-time.After(20 * time.Second):
				t.Fatalf("listener %d heard nothing of topic %d", i, topic)
			}
		}
	}
	for _, topic := range []store.Topic{store.TopicRuns, store.TopicTimers, store.TopicOutbox} {
		write(t, db, func(tx *store.Tx) error { tx.Wake(topic); return nil })
		wait(topic)
	}
	write(t, db, func(tx *store.Tx) error { tx.Emit(fairlead.Event{Kind: fairlead.EventTaskUpdated}); return nil })
	wait(store.TopicEvents)
	gone := db.Signals()
	gone.Close()
	if b.Name == "sqlite" { // elsewhere a connection's first look may still be under way
		_ = db.Write(t.Context(), func(tx *store.Tx) error { tx.Wake(store.TopicRuns); return fairlead.Errorf(fairlead.CodeRefused, "no") })
		select {
		case <-listeners[0].C(store.TopicRuns):
			t.Error("a refused command woke somebody")
		default:
		}
	}
}
