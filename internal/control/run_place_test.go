package control

import (
	"slices"
	"sync"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// wipFlow limits work at two steps that feed each other.
const wipFlow = `
workflow: narrow
name: Narrow
start: a
steps:
  - key: a
    name: A
    agent: ann
    wip: 2
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      turn_complete: [{move: {to: b}}]
      children_completed: [{queue_run: {to: primary}}]
  - key: b
    name: B
    agent: bob
    wip: 1
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      manual: {back: [{move: {to: a}}]}
  - {key: done, name: Done, terminal: done}
`

func TestE21_WIPHoldsWorkNotCards(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.agent("ann", "parallel: 10\n")
		f.agent("bob", "parallel: 10\n")
		f.save(wipFlow)
		var tasks []fairlead.TaskView
		for i := range 5 {
			p := fairlead.PriorityMedium
			if i == 4 {
				p = fairlead.PriorityUrgent
			}
			v, err := f.c.CreateTask(t.Context(), asClient(), fairlead.NewTask{Title: "t", Workflow: "narrow", Priority: p})
			f.must(err)
			tasks = append(tasks, v)
		}
		first, second := f.claimed(), f.claimed()
		if first.Task.ID != tasks[4].ID || second.Task.ID != tasks[0].ID {
			t.Errorf("the urgent one and then the first were not first")
		}
		f.nothing()
		for i, want := range map[int]int{1: 1, 2: 2, 3: 3} {
			holds, err := f.c.Why(t.Context(), mainWorkspace, f.queued(tasks[i].ID).ID)
			f.must(err)
			if len(holds) != 1 || holds[0].Kind != fairlead.HoldWIP || holds[0].Data["place"] != want {
				t.Errorf("task %d: got holds %+v, want wip with place %d", i, holds, want)
			}
		}
		first.start().done() // moves on to b, which has a place of its own
		inB := f.claimed()
		if inB.Task.ID != first.Task.ID && inB.Run.Step != "a" {
			t.Errorf("got %s at %s", inB.Task.ID, inB.Run.Step)
		}
		f.drain(inB, second)
	})
}

// drain works off everything that can be claimed, and checks that it ends.
func (f *floor) drain(live ...*job) {
	f.t.Helper()
	for _, j := range live {
		j.start().done()
	}
	for range 1000 {
		j := f.claim()
		if j == nil {
			return
		}
		j.start().done()
	}
	f.t.Fatal("draining does not end")
}

// TestAFullStepTakesNoMore: a claim that was let through before the step filled up gets no place.
func TestAFullStepTakesNoMore(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.agent("ann", "parallel: 10\n")
		f.save(wipFlow)
		f.task("narrow")
		f.task("narrow")
		late := f.task("narrow")
		f.claimed()
		f.claimed()
		err := f.c.act(t.Context(), owner(), func(w *work) error {
			if err := w.lock(late.ID); err != nil {
				return err
			}
			runs, err := w.tx.ActiveRuns(late.ID)
			if err != nil {
				return err
			}
			if ok, err := w.takePlace(&runs[0], false); ok || err != nil {
				t.Errorf("a third task got a place at a step that has two: %v, %v", ok, err)
			}
			return nil
		})
		f.must(err)
	})
}

func TestE21_TwoFullStepsThatFeedEachOther(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.agent("ann", "parallel: 10\n")
		f.agent("bob", "parallel: 10\n")
		f.save(wipFlow)
		var tasks []fairlead.TaskView
		for range 6 {
			tasks = append(tasks, f.task("narrow"))
		}
		f.drain()
		for _, task := range tasks {
			_, err := f.c.Trigger(t.Context(), owner(), task.ID, fairlead.TriggerBody{Kind: fairlead.TriggerManual, Key: "back"}, false)
			f.must(err)
		}
		f.drain()
		for _, task := range tasks {
			if v := f.see(task.ID); v.Step != "b" || len(f.active(task.ID)) != 0 {
				t.Errorf("a task was left at %s with %d runs", v.Step, len(f.active(task.ID)))
			}
		}
		f.noPlaces("narrow", "a", "b")
	})
}

func (f *floor) noPlaces(workflow string, steps ...string) {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) error {
		for _, step := range steps {
			places, err := tx.PlacesOf(mainWorkspace, workflow, step)
			if err != nil || len(places) > 0 {
				f.t.Errorf("places of %s: %v, %v; want none", step, places, err)
			}
		}
		return nil
	})
}

const oneFlow = `
workflow: one
name: One
start: work
steps:
  - key: work
    name: Work
    wip: 1
    agent: ann
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      children_completed: [{queue_run: {to: primary, reason: children_completed}}]
      turn_complete: [{move: {to: done, if: "children.open == 0"}}]
  - {key: done, name: Done, terminal: done}
`

func TestR39_TwoAgentsAndOnePlace(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(oneFlow)
		f.task("one")
		_, err := f.c.CreateTask(t.Context(), owner(), fairlead.NewTask{Title: "b", Workflow: "one", Agent: "bob"})
		f.must(err)
		var wg sync.WaitGroup
		var mu sync.Mutex
		var won []*Claimed
		for range 8 {
			wg.Go(func() {
				k, err := f.c.Claim(t.Context(), f.node)
				if err != nil {
					t.Errorf("claim: %v", err)
				}
				if k != nil {
					mu.Lock()
					defer mu.Unlock()
					won = append(won, k)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Fatalf("%d runs work at a step with one place", len(won))
		}
		j := &job{Claimed: won[0], f: f}
		j.start().done()
		f.claimed().start().done()
		f.noPlaces("one", "work")
	})
}

func TestR39_ParentInItsOwnFullStep(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(oneFlow)
		parent := f.task("one")
		j := f.claimed().start()
		_, err := f.c.CreateTask(t.Context(), owner(), fairlead.NewTask{Title: "child", Workflow: "one", Parent: parent.ID})
		f.must(err)
		f.nothing() // the parent has the place
		j.done()
		child := f.claimed()
		if child.Task.Parent != parent.ID {
			t.Fatalf("claimed %s, want the child", child.Task.ID)
		}
		child.start().done()
		f.claimed().start().done()
		if v := f.see(parent.ID); v.Step != "done" {
			t.Errorf("the parent stands at %s", v.Step)
		}
		f.noPlaces("one", "work")
	})
}

// TestPlaceIsNotKeptByWhatWaits: a task whose next run is blocked gives its place to the task it waits for.
func TestPlaceIsNotKeptByWhatWaits(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(oneFlow)
		first, err := f.c.CreateTask(t.Context(), asClient(), fairlead.NewTask{Title: "a", Workflow: "one"})
		f.must(err)
		j := f.claimed().start()
		second, err := f.c.CreateTask(t.Context(), asClient(), fairlead.NewTask{Title: "b", Workflow: "one", Agent: "bob"})
		f.must(err)
		_, err = f.c.AddBlocker(t.Context(), owner(), first.ID, fairlead.BlockerBody{BlockedBy: second.ID})
		f.must(err)
		j.fails(fairlead.ClassTransient)
		next := f.claimed()
		if next.Task.ID != second.ID {
			t.Errorf("got %s, want %s", next.Task.ID, second.ID)
		}
		if kinds := f.held(next.Run.ID); slices.Contains(kinds, fairlead.HoldWIP) {
			t.Errorf("held by %v", kinds)
		}
	})
}
