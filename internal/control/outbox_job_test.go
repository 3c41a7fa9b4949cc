package control

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/dispatch"
	"github.com/fairlead/fairlead/internal/dispatch/river"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// TestDeliveryOutlivesItsNode: a node dies between the commit that left something for a task and its delivery. With
// the sweep off another node delivers it, because the job was in that commit.
func TestDeliveryOutlivesItsNode(t *testing.T) {
	t.Parallel()
	b := storetest.Postgres(t)
	f := newFloor(t, b.Open(t, nil))
	task := f.task("stay")
	dead, heir := newNode(t, b), newNode(t, b)
	delivered := make(chan error, 8)
	jobs := map[string]dispatch.Job{JobDeliver: func(ctx context.Context, args []byte) error {
		err := heir.Deliver(ctx, args)
		delivered <- err
		return err
	}}
	err := dead.db.Write(t.Context(), func(tx *store.Tx) error { // as a command ends whose process is killed at its commit
		w := &work{c: dead, ctx: t.Context(), tx: tx, meta: Meta{Workspace: mainWorkspace, Actor: fairlead.Engine(), Op: "last"}, now: tx.Now()}
		if err := w.post(task.ID, "last-words", fairlead.OutboxRecheck, map[string]any{}); err != nil {
			return err
		}
		return w.handOver()
	})
	f.must(err)
	if n := f.undelivered(task.ID); n != 1 {
		t.Fatalf("%d rows wait, want 1", n)
	}
	f.must(heir.dispatch.Start(t.Context(), func(context.Context) error { return nil }, jobs))
	defer func() { _ = heir.dispatch.Stop(context.WithoutCancel(t.Context())) }()
	bounded, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for f.undelivered(task.ID) > 0 {
		select {
		case err := <-delivered:
			f.must(err)
		case <-bounded.Done():
			t.Fatal("nobody delivered what the dead node had left")
		}
	}
}

// newNode is a node's control over River, with its sweep off and no duty.
func newNode(t *testing.T, b storetest.Backend) *Control {
	t.Helper()
	db := b.Open(t, nil)
	d, err := river.New(t.Context(), db, &river.Options{NoSweep: true})
	if err != nil {
		t.Fatal(err)
	}
	return New(Deps{DB: db, Dispatch: d}, &Options{DeliverByJobs: true})
}

func (f *floor) undelivered(task string) (n int) {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) error {
		rows, err := tx.UndeliveredOutbox(task)
		n = len(rows)
		return err
	})
	return n
}

// jobTaker notes the jobs that commands ask for.
type jobTaker struct {
	dispatch.Dispatcher
	mu   sync.Mutex
	made int
}

func (j *jobTaker) JobTx(*store.Tx, string, []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.made++
	return nil
}

// TestDeliveryJobsAreOnlyForRows: a command that leaves nothing for another task asks for no job.
func TestDeliveryJobsAreOnlyForRows(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		jobs := &jobTaker{Dispatcher: f.c.dispatch}
		f.c.dispatch, f.c.deliverByJobs = jobs, true
		blocker, task := f.task("stay"), f.task("stay")
		jobs.made = 0
		_, err := f.c.Move(t.Context(), owner(), task.ID, fairlead.MoveBody{Step: "other"})
		f.must(err)
		f.comment(owner(), task.ID, "nothing to deliver")
		if jobs.made != 0 {
			t.Errorf("%d jobs for commands without a row", jobs.made)
		}
		_, err = f.c.Move(t.Context(), owner(), blocker.ID, fairlead.MoveBody{Step: "done"})
		f.must(err)
		if jobs.made == 0 {
			t.Error("no job for the end of a task, which others are told of")
		}
	})
}
