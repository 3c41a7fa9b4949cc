package control

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// hands is a worker that only takes what it is given.
type hands struct {
	mu       sync.Mutex
	node     Node
	free     int
	launched []*Claimed
	stopped  []string
	at       []time.Time
}

func (h *hands) Node() Node { return h.node }

func (h *hands) Reserve() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.free == 0 {
		return false
	}
	h.free--
	return true
}

func (h *hands) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free++
}

func (h *hands) Launch(k *Claimed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.launched, h.at = append(h.launched, k), append(h.at, time.Now())
}

func (h *hands) Stop(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = append(h.stopped, run)
}

// hire makes a worker with slots known to the floor.
func (f *floor) hire(slots int) *hands {
	h := &hands{node: f.node, free: slots}
	f.hands = h
	f.c.SetLauncher(h)
	return h
}

func (f *floor) start(task string, body fairlead.StartBody) (fairlead.StartResult, error) {
	return f.c.Start(f.t.Context(), owner(), task, body)
}

func TestR29_FourPeopleStartFourTasksOfOneAgent(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		h := f.hire(10)
		var tasks []fairlead.TaskView
		for range 5 {
			tasks = append(tasks, f.task("stay"))
		}
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				m := asPerson(fmt.Sprintf("p%d", i))
				r, err := f.c.Start(t.Context(), m, tasks[i].ID, fairlead.StartBody{Message: "go"})
				if err != nil || !r.Launched || r.Status != fairlead.RunClaimed {
					t.Errorf("start: %+v, %v", r, err)
				}
			})
		}
		wg.Wait()
		if len(h.launched) != 4 {
			t.Fatalf("launched %d, want 4", len(h.launched))
		}
		for _, k := range h.launched {
			if !k.Run.Direct || len(k.Wakes) != 2 { // the step's own and the person's: the queued run was taken over
				t.Errorf("got run %+v with %d wakes", k.Run, len(k.Wakes))
			}
		}
		f.nothing() // the engine's wake of the same agent waits
		same(t, "holds", f.held(f.queued(tasks[4].ID).ID), fairlead.HoldAgentBusy)
	})
}

func TestE28_StartOfABusyTask(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		h := f.hire(10)
		task := f.task("stay")
		j := f.claimed().start()
		before := f.dump()
		_, err := f.start(task.ID, fairlead.StartBody{Message: "now"})
		e := refused(t, err, fairlead.CodeConflict)
		if e.Reason != fairlead.ReasonBusy || e.Data["holds"] == nil {
			t.Errorf("got %+v, want busy with the holds", e)
		}
		if f.dump() != before {
			t.Error("a refused start changed the database")
		}
		r, err := f.start(task.ID, fairlead.StartBody{Message: "then later", IfBusy: "queue"})
		if err != nil || r.Launched || r.Status != fairlead.RunQueued {
			t.Fatalf("got %+v, %v; want it queued", r, err)
		}
		if h.free != 10 || len(h.launched) != 0 {
			t.Errorf("%d slots free, %d launched; want 10, 0", h.free, len(h.launched))
		}
		j.done()
		k := f.claimed()
		if k.Run.ID != r.Run || !k.Run.Person {
			t.Errorf("got run %+v", k.Run)
		}
		same(t, "comments", k.texts(), "then later")
	})
}

// TestE28_MoveUnderALiveRun: told to stop, the next visit waits for the tree, the late end changes nothing.
func TestE28_MoveUnderALiveRun(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		h := f.hire(10)
		task := f.task("solo")
		f.move(task.ID, "work")
		j := f.claimed().start()
		f.move(task.ID, "idle")
		f.move(task.ID, "work")
		f.status(j.Run.ID, fairlead.RunStopping)
		if !slices.Contains(h.stopped, j.Run.ID) {
			t.Error("the worker was not told")
		}
		q := f.queued(task.ID)
		if kinds := f.held(q.ID); !slices.Contains(kinds, fairlead.HoldCheckout) {
			t.Errorf("held by %v, want checkout", kinds)
		}
		f.nothing()
		if _, err := f.c.Comment(t.Context(), j.as(), task.ID, fairlead.CommentBody{Text: "late"}); !fairlead.IsCode(err, fairlead.CodeForbidden) {
			t.Errorf("a stopped run commented: %v", err)
		}
		if d := j.tell(&TurnEnd{StopReason: "end_turn"}, false); d != StopTree {
			t.Errorf("got directive %v, want StopTree", d)
		}
		if v := f.see(task.ID); v.Step != "work" || v.Visit != 4 {
			t.Errorf("the late end moved the task to %s, visit %d", v.Step, v.Visit)
		}
		j.tell(nil, true)
		f.status(j.Run.ID, fairlead.RunSuperseded)
		if f.claimed().Run.ID != q.ID {
			t.Error("the next visit's run was not claimed")
		}
	})
}

func TestStartSaysWhatItNeeds(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("solo")
		_, err := f.start(task.ID, fairlead.StartBody{})
		refused(t, err, fairlead.CodeRefused) // nobody works at this step
		f.move(task.ID, "work")
		_, err = f.start(task.ID, fairlead.StartBody{})
		refused(t, err, fairlead.CodeConflict) // no worker here
		h := f.hire(0)
		_, err = f.start(task.ID, fairlead.StartBody{})
		refused(t, err, fairlead.CodeConflict) // no slot
		h.free = 1
		_, err = f.start(task.ID, fairlead.StartBody{IfBusy: "perhaps"})
		refused(t, err, fairlead.CodeInvalid)
		_, err = f.c.Start(t.Context(), asClient(), task.ID, fairlead.StartBody{})
		refused(t, err, fairlead.CodeForbidden)
		_, err = f.c.PauseAgent(t.Context(), owner(), "ann", fairlead.PauseBody{Reason: "holiday"})
		f.must(err)
		_, err = f.start(task.ID, fairlead.StartBody{})
		if e := refused(t, err, fairlead.CodeConflict); e.Reason != fairlead.ReasonHeld {
			t.Errorf("got reason %q, want held", e.Reason)
		}
		_, err = f.c.ResumeAgent(t.Context(), owner(), "ann", fairlead.PauseBody{})
		f.must(err)
		op := fairlead.StartBody{Op: "again"}
		first, err := f.c.Start(t.Context(), withOp("again"), task.ID, op)
		f.must(err)
		second, err := f.c.Start(t.Context(), withOp("again"), task.ID, op)
		f.must(err)
		if first != second || !first.Launched || len(h.launched) != 1 || h.free != 0 {
			t.Errorf("got %+v, then %+v; %d launched, %d slots", first, second, len(h.launched), h.free)
		}
	})
}

func withOp(op fairlead.OpID) Meta {
	m := owner()
	m.Op = op
	return m
}

func TestStartAtAnotherNodesLabelIsQueued(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.agent("ann", "labels: [gpu]\n")
		f.hire(1)
		task := f.task("stay")
		r, err := f.start(task.ID, fairlead.StartBody{})
		if err != nil || r.Launched || r.Status != fairlead.RunQueued {
			t.Fatalf("got %+v, %v; want it queued", r, err)
		}
		same(t, "holds", f.held(r.Run), fairlead.HoldNodeLabel)
		f.nothing()
	})
}

func TestR31_StartBehindAThousandQueuedRuns(t *testing.T) {
	t.Parallel()
	storetest.EachWith(t, nil, func(t *testing.T, db *store.DB) {
		f := newFloor(t, db)
		h := f.hire(1000)
		f.fill("stay", 1000)
		const n = 100
		took := make([]time.Duration, 0, n)
		for range n {
			task := f.task("stay")
			began := time.Now()
			r, err := f.start(task.ID, fairlead.StartBody{})
			f.must(err)
			if !r.Launched {
				t.Fatalf("got %+v", r)
			}
			took = append(took, h.at[len(h.at)-1].Sub(began))
		}
		slices.Sort(took)
		t.Logf("start to launch: p50 %v, p99 %v", took[n/2], took[n*99/100])
		if took[n/2] > time.Second {
			t.Errorf("half of the launches took longer than %v", took[n/2])
		}
	})
}
