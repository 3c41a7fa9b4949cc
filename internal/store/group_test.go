package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sqlitelib "modernc.org/sqlite/lib"

	fairlead "github.com/fairlead/fairlead"
)

// bench is a group that a test drives by hand: its batches hold exactly the commands of the test, in their order.
type bench struct {
	t     *testing.T
	db    *DB
	group *group
	// fatal is what Options.Fatal was told.
	fatal []error
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t}
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "f.db"), &Options{Fatal: func(err error) { b.fatal = append(b.fatal, err) }})
	if err != nil {
		t.Fatal(err)
	}
	b.db = db
	b.group = newGroup(db.dialect.(*sqlite), db.signals)
	b.group.in = make(chan *member, 100)
	t.Cleanup(func() {
		if err := errors.Join(b.group.close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// batch commits the commands together and returns what each caller is told.
func (b *bench) batch(commands ...func(*Tx) error) []error {
	errs := make([]error, len(commands))
	var wg sync.WaitGroup
	for i, fn := range commands {
		m := newMember(&command{fn: fn, clock: time.Now})
		b.group.in <- m
		errs[i] = errGone
		wg.Go(func() { errs[i] = outward(b.group.db, b.group.serve(m)) })
	}
	// A batch that is given up leaves those who had not joined to the next one.
	for len(b.group.in) > 0 {
		b.group.batch(<-b.group.in)
	}
	wg.Wait()
	return errs
}

// sqlite runs a statement outside any command.
func (b *bench) sqlite(text string) {
	b.t.Helper()
	if err := b.group.conn.connect(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.group.conn.conn.ExecContext(b.t.Context(), text); err != nil {
		b.t.Fatal(err)
	}
}

// want compares the rows that are there, as another connection sees them.
func (b *bench) want(ids ...string) {
	b.t.Helper()
	var got []string
	err := b.db.Read(b.t.Context(), func(r *ReadTx) error {
		rows, _, err := r.ListNotices("w", true, Page{Limit: 200})
		for _, n := range rows {
			got = append(got, n.ID)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	slices.Sort(got)
	if diff := cmp.Diff(ids, got); diff != "" {
		b.t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// codes says how each command ended: "" for well.
func codes(errs []error) (out []string) {
	for _, err := range errs {
		out = append(out, string(fairlead.ErrorCode(err)))
	}
	return out
}

func (b *bench) wantCodes(errs []error, want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(want, codes(errs)); diff != "" {
		b.t.Errorf("outcomes (-want +got):\n%s%v", diff, errs)
	}
}

// codedError is an error of SQLite as the driver reports it.
type codedError int

func (e codedError) Error() string { return fmt.Sprintf("sqlite error %d", int(e)) }
func (e codedError) Code() int     { return int(e) }

func put(id string) func(*Tx) error { return putLong(id, "") }

func putLong(id, text string) func(*Tx) error {
	return func(tx *Tx) error {
		return tx.InsertNotice(fairlead.Notice{ID: id, Workspace: "w", Kind: "k", Text: text, At: time.UnixMicro(1)})
	}
}

func refuse(id string) func(*Tx) error {
	return func(tx *Tx) error {
		if err := put(id)(tx); err != nil {
			return err
		}
		return fairlead.Errorf(fairlead.CodeRefused, "no")
	}
}

func TestR28_RefusalAndConstraintRollBackAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	calls := 0
	count := func(tx *Tx) error { calls++; return put("c")(tx) }
	errs := b.batch(put("a"), refuse("b"), count, put("a"), put("d"))
	b.wantCodes(errs, "", "refused", "", "conflict", "")
	b.want("a", "c", "d")
	if calls != 1 {
		t.Errorf("a neighbour of refused commands ran %d times, want 1: nothing aborted the batch", calls)
	}
}

func TestR28_CallerTimeoutInsideABatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	m := newMember(&command{clock: time.Now, fn: func(tx *Tx) error {
		cancel() // the caller gives up in mid-command
		return put("a")(tx)
	}})
	b.group.in <- m
	done := make(chan error, 1)
	go func() { done <- b.group.serve(m) }()
	b.group.batch(<-b.group.in)
	if err := <-done; err != nil || ctx.Err() == nil {
		t.Errorf("got %v: a command that has begun is committed whatever its caller's context says", err)
	}
	b.want("a")
	// One that has not begun has no effect.
	err := b.db.Write(ctx, put("b"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want cancelled", err)
	}
	b.want("a")
}

func TestR28_DiskFull(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.wantCodes(b.batch(put("a")), "")
	b.sqlite("PRAGMA max_page_count = 1") // clamped to the size the file has
	long := string(make([]byte, 1<<20))
	errs := b.batch(put("b"), putLong("c", long), refuse("d"), put("e"))
	b.wantCodes(errs, "", "unavailable", "refused", "")
	b.want("a", "b", "e")
	if classOf(b.group.db, errs[1]) != classRefusal || b.group.db.classify(errors.Unwrap(errs[1])) != classFull {
		t.Errorf("got %v, want a full disk", errs[1])
	}
	b.sqlite("PRAGMA max_page_count = 1000000")
	b.wantCodes(b.batch(putLong("c", long)), "")
	b.want("a", "b", "c", "e")
}

// TestR28_FullDiskAtCommit fails COMMIT itself, first of the batch, then of one member that runs alone.
func TestR28_FullDiskAtCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	commits := 0
	b.group.fault = func(point string) error {
		if point == "commit" {
			if commits++; commits == 1 || commits == 3 {
				return codedError(sqlitelib.SQLITE_FULL)
			}
		}
		return nil
	}
	var told []string
	tell := func(id string) func(*Tx) error {
		return func(tx *Tx) error {
			tx.AfterCommit(func() { told = append(told, id) })
			return put(id)(tx)
		}
	}
	errs := b.batch(tell("a"), tell("b"), tell("c"))
	b.wantCodes(errs, "", "unavailable", "")
	b.want("a", "c")
	if len(told) != 0 || len(b.fatal) != 0 {
		t.Errorf("left before or without a commit: %v; fatal %v", told, b.fatal)
	}
}

func TestR28_OtherErrorAbortsTheBatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	calls := map[string]int{}
	counted := func(id string, err error) func(*Tx) error {
		return func(tx *Tx) error {
			calls[id]++
			return errors.Join(put(id)(tx), err)
		}
	}
	plain := errors.New("plain")
	errs := b.batch(counted("a", nil), counted("b", plain), counted("c", nil))
	if errs[0] != nil || !errors.Is(errs[1], plain) || errs[2] != nil {
		t.Errorf("got %v", errs)
	}
	b.want("a", "c")
	// c had not joined when the batch was given up.
	if diff := cmp.Diff(map[string]int{"a": 2, "b": 2, "c": 1}, calls); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// TestR28_TransactionLostInTheMiddle: after some errors SQLite has rolled the whole transaction back by itself. What a
// member swallows must not let later statements commit one by one.
func TestR28_TransactionLostInTheMiddle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := true
	lose := func(tx *Tx) error {
		err := put("b")(tx)
		if first {
			first = false
			b.group.conn.rollback()
		}
		return err
	}
	b.wantCodes(b.batch(put("a"), lose, refuse("x"), put("c")), "", "", "refused", "")
	b.want("a", "b", "c")
}

func TestR28_IOErrorAtCommitEndsTheProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.group.fault = func(point string) error {
		if point == "commit" {
			return codedError(sqlitelib.SQLITE_IOERR_FSYNC)
		}
		return nil
	}
	errs := b.batch(put("a"), refuse("b"))
	b.wantCodes(errs, "unavailable", "unavailable")
	for _, err := range errs {
		if !errors.Is(err, ErrUnknown) {
			t.Errorf("got %v, want unknown", err)
		}
	}
	if len(b.fatal) != 1 {
		t.Errorf("Fatal was called %d times, want 1", len(b.fatal))
	}
	b.group.fault = nil
	if errs := b.batch(put("c")); !errors.Is(errs[0], ErrUnknown) {
		t.Errorf("a write after it: got %v, want unknown", errs[0])
	}
	b.want()
}

// TestGroupEveryPointFails lets each of the group's own statements fail once, at each of its occurrences, and in every
// case compares what was acknowledged with what is there.
func TestGroupEveryPointFails(t *testing.T) {
	t.Parallel()
	for n := 1; n < 20; n++ {
		b := newBench(t)
		seen := 0
		b.group.fault = func(string) error {
			if seen++; seen == n {
				return codedError(sqlitelib.SQLITE_FULL)
			}
			return nil
		}
		want := []string(nil)
		for i, err := range b.batch(put("a"), refuse("b"), put("c")) {
			if err == nil {
				want = append(want, string(rune('a'+i)))
			} else if i == 1 && !fairlead.IsCode(err, fairlead.CodeRefused) && !fairlead.IsCode(err, fairlead.CodeUnavailable) {
				t.Errorf("point %d: refused command got %v", n, err)
			}
		}
		b.group.fault = nil
		b.want(want...)
		b.wantCodes(b.batch(put("z")), "")
	}
}

func TestGroupPanicAndGoexit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	errs := b.batch(put("a"),
		func(tx *Tx) error { _ = put("b")(tx); panic("boom") },
		func(tx *Tx) error { _ = put("c")(tx); runtime.Goexit(); return nil },
		put("d"))
	var p *PanicError
	if errs[0] != nil || !errors.As(errs[1], &p) || p.Value != "boom" || !errors.Is(errs[2], errGone) || errs[3] != nil {
		t.Errorf("got %v", errs)
	}
	b.want("a", "d")
}

func TestGroupBrokenConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.wantCodes(b.batch(put("a")), "")
	b.sqlite("BEGIN") // as a rollback that failed would leave it
	b.wantCodes(b.batch(put("b")), "")
	b.want("a", "b")
}

func TestGroupBatchLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.group.db.options.BatchLimit = 2
	for range 3 {
		m := newMember(&command{fn: func(*Tx) error { return nil }, clock: time.Now})
		b.group.in <- m
		go func() { _ = b.group.serve(m) }()
	}
	b.group.batch(<-b.group.in)
	if n := len(b.group.in); n != 1 {
		t.Errorf("%d commands were left for the next batch, want 1", n)
	}
	b.group.batch(<-b.group.in)
}
