package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// at is a time that survives the database: whole microseconds, UTC.
var at = time.Date(2026, 3, 1, 12, 0, 0, 123_000, time.UTC)

// notice is the simplest row of its own.
func notice(id string) fairlead.Notice {
	return fairlead.Notice{ID: id, Workspace: "w", Kind: "test", Text: id, At: at}
}

// noticeIDs returns what is there, sorted.
func noticeIDs(t testing.TB, db *store.DB) []string {
	t.Helper()
	var ids []string
	read(t, db, func(r *store.ReadTx) error {
		ids = nil
		p := store.Page{Limit: 200}
		for {
			page, next, err := r.ListNotices("w", true, p)
			if err != nil {
				return err
			}
			for _, n := range page {
				ids = append(ids, n.ID)
			}
			if next == "" {
				return nil
			}
			p.Cursor = next
		}
	})
	slices.Sort(ids)
	return ids
}

func durable(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	write(t, db, func(tx *store.Tx) error { return tx.InsertNotice(notice("a")) })
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := noticeIDs(t, b.Open(t, nil)), []string{"a"}; !cmp.Equal(got, want) {
		t.Errorf("after reopening got %v, want %v", got, want)
	}
}

func leavesNothing(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	refusal := fairlead.Errorf(fairlead.CodeRefused, "no")
	plain := errors.New("plain")
	for _, want := range []error{refusal, plain} {
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			if err := tx.InsertNotice(notice("a")); err != nil {
				return err
			}
			tx.Emit(fairlead.Event{Kind: fairlead.EventNoticeAdded, Workspace: "w"})
			return want
		})
		if !errors.Is(err, want) {
			t.Errorf("got error %v, want %v", err, want)
		}
	}
	if got := noticeIDs(t, db); len(got) > 0 {
		t.Errorf("rows of refused commands: %v", got)
	}
	// A later event would be given the positions of undone ones, or leave a gap, if they had kept any.
	write(t, db, func(tx *store.Tx) error {
		tx.Emit(fairlead.Event{Kind: fairlead.EventNoticeAdded, Workspace: "w"})
		return nil
	})
	if got := readEvents(t, db, 1); got[0].Position != 1 {
		t.Errorf("first event has position %d, want 1", got[0].Position)
	}
}

func failedStatement(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	write(t, db, func(tx *store.Tx) error { return tx.InsertNotice(notice("a")) })
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		if err := tx.InsertNotice(notice("b")); err != nil {
			return err
		}
		_ = tx.InsertNotice(notice("a")) // swallowed
		_ = tx.InsertNotice(notice("c"))
		return nil
	})
	if !db.IsConstraint(err) || !fairlead.IsCode(err, fairlead.CodeConflict) {
		t.Errorf("got %v, want a constraint error", err)
	}
	err = db.Write(t.Context(), func(tx *store.Tx) error {
		_ = tx.InsertNotice(notice("a"))
		if _, err := tx.LoadNotice("b"); err == nil {
			t.Error("a read after a failed statement was answered")
		}
		return fairlead.Errorf(fairlead.CodeInvalid, "no")
	})
	if !db.IsConstraint(err) {
		t.Errorf("got %v, want a constraint error whatever the command says", err)
	}
	if got, want := noticeIDs(t, db), []string{"a"}; !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func runsTwice(t *testing.T, b Backend) {
	db := b.Open(t, &store.Options{RunTwice: true})
	calls, after := 0, 0
	write(t, db, func(tx *store.Tx) error {
		calls++
		tx.AfterCommit(func() { after++ })
		tx.Emit(fairlead.Event{Kind: fairlead.EventNoticeAdded, Workspace: "w"})
		return tx.InsertNotice(notice(fmt.Sprint("run", calls)))
	})
	if calls != 2 || after != 1 {
		t.Errorf("function ran %d times and %d after-commit calls were made, want 2 and 1", calls, after)
	}
	if got, want := noticeIDs(t, db), []string{"run2"}; !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := readEvents(t, db, 1); len(got) != 1 {
		t.Errorf("got %d events, want 1", len(got))
	}
}

func leavesAfterCommit(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	seen := -1
	write(t, db, func(tx *store.Tx) error {
		tx.AfterCommit(func() { seen = len(noticeIDs(t, db)) })
		return tx.InsertNotice(notice("a"))
	})
	if seen != 1 {
		t.Errorf("after the commit %d rows were visible, want 1", seen)
	}
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		tx.AfterCommit(func() { seen = 99 })
		return fairlead.Errorf(fairlead.CodeRefused, "no")
	})
	if err == nil || seen == 99 {
		t.Errorf("a refused command left something: %v, %d", err, seen)
	}
}

func panics(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	var wg sync.WaitGroup
	var good atomic.Int64
	for i := range 40 {
		wg.Go(func() {
			err := db.Write(t.Context(), func(tx *store.Tx) error {
				if err := tx.InsertNotice(notice(fmt.Sprintf("n%02d", i))); err != nil {
					return err
				}
				if i%4 == 0 {
					panic("boom")
				}
				return nil
			})
			var p *store.PanicError
			switch panicked := errors.As(err, &p); {
			case i%4 == 0 && (!panicked || !fairlead.IsCode(err, fairlead.CodeInternal) || !strings.Contains(string(p.Stack), "storetest")):
				t.Errorf("command %d: got %v, want its panic", i, err)
			case i%4 != 0 && err != nil:
				t.Errorf("command %d: %v", i, err)
			case err == nil:
				good.Add(1)
			}
		})
	}
	wg.Wait()
	if got := noticeIDs(t, db); len(got) != int(good.Load()) {
		t.Errorf("got %d rows, want %d", len(got), good.Load())
	}
}

// acknowledgedOnly runs commands that end in every way at the same time, also with callers that give up, and compares
// what was acknowledged with what is there.
func acknowledgedOnly(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	write(t, db, func(tx *store.Tx) error { return tx.InsertNotice(notice("taken")) })
	seed := rand.Uint64() //nolint:gosec // printed, to run the same again
	t.Logf("seed %d", seed)
	var mu sync.Mutex
	acknowledged := []string{"taken"}
	var wg sync.WaitGroup
	for g := range 16 {
		rng := rand.New(rand.NewPCG(seed, uint64(g))) //nolint:gosec // of the printed seed
		wg.Go(func() {
			for i := range 20 {
				id, how := fmt.Sprintf("%02d-%02d", g, i), rng.IntN(7)
				ctx, cancel := context.Background(), func() {}
				if how == 5 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(2000))*time.Microsecond)
				}
				err := db.Write(ctx, func(tx *store.Tx) error { return endIn(tx, how, id) })
				cancel()
				if err == nil {
					mu.Lock()
					acknowledged = append(acknowledged, id)
					mu.Unlock()
				} else if how >= 6 || how == 0 {
					t.Errorf("command %s (%d): %v", id, how, err)
				}
			}
		})
	}
	wg.Wait()
	slices.Sort(acknowledged)
	if diff := cmp.Diff(acknowledged, noticeIDs(t, db)); diff != "" {
		t.Errorf("acknowledged (-) and stored (+) differ:\n%s", diff)
	}
}

// endIn writes a row and ends in one of the ways a command can.
func endIn(tx *store.Tx, how int, id string) error {
	if err := tx.InsertNotice(notice(id)); err != nil {
		return err
	}
	switch how {
	case 1:
		return fairlead.Errorf(fairlead.CodeRefused, "no")
	case 2:
		return tx.InsertNotice(notice("taken"))
	case 3:
		return errors.New("plain")
	case 4:
		panic("boom")
	}
	return nil
}

func lockOrder(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1", "T2")
	cases := map[string]struct {
		run  func(tx *store.Tx)
		want bool
	}{
		"task then workspace": {func(tx *store.Tx) { _, _ = tx.LockTask("T1"); _ = tx.LockWorkspace("w") }, true},
		"two tasks":           {func(tx *store.Tx) { _, _ = tx.LockTask("T1"); _, _ = tx.LockTask("T2") }, true},
		"one task twice":      {func(tx *store.Tx) { _, _ = tx.LockTask("T1"); _, _ = tx.LockTask("T1") }, false},
		"agents backwards": {func(tx *store.Tx) {
			_, _ = tx.LockAgents("w", "coder")
			_, _ = tx.LockAgents("w", "ada")
		}, true},
		"agents in any order at once": {func(tx *store.Tx) { _, _ = tx.LockAgents("w", "coder", "ada", "coder") }, false},
		"runs then agents":            {func(tx *store.Tx) { _, _ = tx.LockRuns("r"); _, _ = tx.LockAgents("w", "ada") }, true},
		"operation after the task": {func(tx *store.Tx) {
			_, _ = tx.LockTask("T1")
			_, _ = tx.Op("w", "person:anna", "o", "", fairlead.Seed{})
		}, true},
		"two operations": {func(tx *store.Tx) {
			_, _ = tx.Op("w", "person:anna", "o1", "", fairlead.Seed{})
			_, _ = tx.Op("w", "person:anna", "o2", "", fairlead.Seed{})
		}, true},
		"outbox operation under the task's lock": {func(tx *store.Tx) {
			_, _ = tx.Op("w", "person:anna", "o3", "", fairlead.Seed{})
			_, _ = tx.LockTask("T1")
			_, _ = tx.Op("w", fairlead.Engine().OpScope(), "o4", "", fairlead.Seed{})
			_, _ = tx.Op("w", fairlead.Engine().OpScope(), "o5", "", fairlead.Seed{})
		}, false},
	}
	for name, c := range cases {
		err := db.Write(t.Context(), func(tx *store.Tx) error { c.run(tx); return nil })
		var p *store.PanicError
		if got := errors.As(err, &p); got != c.want {
			t.Errorf("%s: panicked %v, want %v (%v)", name, got, c.want, err)
		}
	}
}

// locksSerialise counts in a way that loses counts without the lock.
func locksSerialise(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1")
	const n = 40
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			err := db.Write(t.Context(), func(tx *store.Tx) error {
				row, err := tx.LockTask("T1")
				if err != nil {
					return err
				}
				row.RecordSeq++
				return tx.SaveTask(row, row.Version)
			})
			if err != nil {
				t.Errorf("write: %v", err)
			}
		})
	}
	wg.Wait()
	read(t, db, func(r *store.ReadTx) error {
		row, err := r.LoadTask("T1")
		if err == nil && (row.RecordSeq != n || row.Version != n+1) {
			t.Errorf("got sequence %d and version %d, want %d and %d", row.RecordSeq, row.Version, n, n+1)
		}
		return err
	})
}

// operationsOnce sends the same command many times at once: one takes effect, all get its result.
func operationsOnce(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	seed := fairlead.Seed{1, 2, 3}
	command := func(i int) (result string, effect bool, err error) {
		err = db.Write(t.Context(), func(tx *store.Tx) error {
			effect = false
			prev, err := tx.Op("w", "person:anna", "op1", "print", seed)
			if err != nil {
				return err
			}
			if prev != nil {
				if prev.Fingerprint != "print" || prev.Seed != seed || prev.Status != 201 {
					t.Errorf("recorded operation is %+v", prev)
				}
				result = string(prev.Result)
				return nil
			}
			effect = true
			result = fmt.Sprintf(`{"by":%d}`, i)
			if err := tx.InsertNotice(notice("effect")); err != nil {
				return err
			}
			return tx.PutResult("w", "person:anna", "op1", 201, []byte(result))
		})
		return result, effect, err
	}
	const n = 32
	var wg sync.WaitGroup
	var effects atomic.Int64
	results := make([]string, n)
	for i := range n {
		wg.Go(func() {
			result, effect, err := command(i)
			if err != nil {
				t.Errorf("command %d: %v", i, err)
			}
			if effect {
				effects.Add(1)
			}
			results[i] = result
		})
	}
	wg.Wait()
	if effects.Load() != 1 || len(slices.Compact(results)) != 1 {
		t.Errorf("%d effects and results %v, want one and one", effects.Load(), slices.Compact(results))
	}
	// A refusal is not remembered: the id is free again.
	for _, want := range []bool{true, false} {
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			prev, err := tx.Op("w", "person:anna", "op2", "p", seed)
			if err != nil || prev != nil {
				return errors.Join(err, errors.New("remembered"))
			}
			if want {
				return fairlead.Errorf(fairlead.CodeRefused, "no")
			}
			return nil
		})
		if (err != nil) != want || (want && !fairlead.IsCode(err, fairlead.CodeRefused)) {
			t.Errorf("got %v, want refused=%v", err, want)
		}
	}
	if _, _, err := command(n); err != nil {
		t.Error(err)
	}
	_ = db.Close()
	db = b.Open(t, nil)
	if result, effect, err := command(n + 1); err != nil || effect || result != results[0] {
		t.Errorf("after reopening got %q, effect %v, %v; want %q", result, effect, err, results[0])
	}
}

func slowReader(t *testing.T, b Backend) {
	db := b.Open(t, &store.Options{ReadLimit: 50 * time.Millisecond})
	err := db.Read(t.Context(), func(r *store.ReadTx) error {
		if _, err := r.Head(); err != nil {
			return err
		}
		for {
			if _, err := r.Head(); err != nil {
				return err
			}
		}
	})
	if !fairlead.IsCode(err, fairlead.CodeUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
	// The connection is as good as new; a busy machine may need more than one short read to show it.
	for deadline := time.Now().Add(20 * time.Second); ; {
		err := db.Read(t.Context(), func(r *store.ReadTx) error { _, err := r.Head(); return err })
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("read after the one that was cut off: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Read(ctx, func(*store.ReadTx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the caller's own cancellation", err)
	}
}

func closed(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Errorf("close: %v", err)
	}
	err := db.Write(t.Context(), func(*store.Tx) error { return nil })
	if !errors.Is(err, store.ErrClosed) || !fairlead.IsCode(err, fairlead.CodeUnavailable) {
		t.Errorf("write got %v, want closed", err)
	}
	if err := db.Read(t.Context(), func(*store.ReadTx) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("read got %v, want closed", err)
	}
}

// fill makes workspace w, agents ada and coder, and tasks with the ids.
func fill(t testing.TB, db *store.DB, tasks ...string) {
	t.Helper()
	write(t, db, func(tx *store.Tx) error {
		if _, err := tx.InsertWorkspace(&fairlead.Workspace{Key: "w", Name: "W", Prefix: "FL", CreatedAt: at}); err != nil {
			return err
		}
		for _, key := range []string{"ada", "coder"} {
			if err := tx.UpsertAgent(&fairlead.AgentProfile{Workspace: "w", Key: key, Adapter: "script"}); err != nil {
				return err
			}
		}
		for i, id := range tasks {
			if err := tx.InsertTask(plainTask(id, int64(i+1))); err != nil {
				return err
			}
		}
		return nil
	})
}

func plainTask(id string, number int64) *store.TaskRow {
	return &store.TaskRow{Task: fairlead.Task{
		ID: id, Workspace: "w", Number: number, Identifier: fmt.Sprintf("FL-%d", number), Workflow: "kanban", WorkflowVersion: 1, Step: "todo",
		Visit: 1, Round: 1, Title: "Task " + id, Priority: fairlead.PriorityMedium, Position: float64(number), Origin: fairlead.OriginManual,
		Creator: fairlead.Person("anna"), CancelledBlocker: fairlead.CancelledResolves, MovedAt: at, CreatedAt: at, UpdatedAt: at, Version: 1,
	}, Entered: true}
}
