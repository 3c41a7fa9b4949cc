package control

import (
	"encoding/json"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

func wakeOf(to string) engine.Trigger {
	return engine.Trigger{Kind: engine.KindWake, Payload: map[string]any{"to": to, "reason": "poke"}}
}

// TestR11_AfterARestart goes through the states in which a server may die.
func TestR11_AfterARestart(t *testing.T) {
	states := map[string]struct {
		prepare func(f *floor, task string) string
		want    fairlead.RunStatus
	}{
		"queued":  {func(f *floor, task string) string { return f.queued(task).ID }, fairlead.RunQueued},
		"claimed": {func(f *floor, _ string) string { return f.claimed().Run.ID }, fairlead.RunQueued},
		"running": {func(f *floor, _ string) string { return f.claimed().start().Run.ID }, fairlead.RunQueued},
		"stopping": {func(f *floor, task string) string {
			j := f.claimed().start()
			f.move(task, "other")
			return j.Run.ID
		}, fairlead.RunSuperseded},
		"ended": {func(f *floor, _ string) string {
			j := f.claimed().start()
			j.tell(&TurnEnd{StopReason: "end_turn"}, false)
			return j.Run.ID
		}, fairlead.RunSucceeded},
		"asking": {func(f *floor, _ string) string {
			j := f.claimed().start()
			j.asks()
			return j.Run.ID
		}, fairlead.RunParked},
	}
	t.Parallel()
	for name, state := range states {
		t.Run(name, func(t *testing.T) {
			eachFloor(t, func(t *testing.T, f *floor) {
				task := f.task("stay")
				run := state.prepare(f, task.ID)
				f.restart()
				f.status(run, state.want)
				for _, r := range f.active(task.ID) {
					if r.Status.Live() {
						t.Errorf("run %s is %s without an executor", r.ID, r.Status)
					}
				}
				f.read(func(tx *store.ReadTx) error {
					c, err := tx.CheckoutOf(task.ID)
					if c != nil {
						t.Errorf("the checkout stayed with %s", c.Run)
					}
					return err
				})
				if state.want == fairlead.RunParked {
					f.nothing()
					return
				}
				if state.want != fairlead.RunSucceeded {
					f.claimed().start().done()
				}
				f.nothing()
			})
		})
	}
}

func TestRecoverLeavesLiveNodesAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if db.Dialect() == "sqlite" {
			t.Skip("one process has the home: every earlier epoch is dead")
		}
		f := newFloor(t, db)
		f.agent("ann", "parallel: 2\n")
		f.task("stay")
		j := f.claimed().start()
		first := f.node
		f.node = f.epoch()
		f.must(f.c.Recover(t.Context(), f.node))
		f.status(j.Run.ID, fairlead.RunRunning)
		f.task("stay")
		second := f.claimed()
		if second.Run.Node == j.Run.Node {
			t.Errorf("both runs are on node %s", first.ID)
		}
		j.done()
		second.start().done()
	})
}

func TestReportsOfOthersAreRefused(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.task("stay")
		j := f.claimed().start()
		before := f.session(j.Session.ID)
		for name, r := range map[string]Report{
			"forged claim":  {Run: j.Run.ID, Fence: fairlead.Fence{Number: j.Run.Fence.Number, Claim: "guess"}, Node: f.node},
			"older claim":   {Run: j.Run.ID, Fence: fairlead.Fence{Number: 0}, Node: f.node},
			"another epoch": {Run: j.Run.ID, Fence: j.Run.Fence, Node: Node{ID: f.node.ID, Epoch: f.node.Epoch + 7}},
		} {
			r.Seq, r.End, r.TreeDead = 99, &TurnEnd{StopReason: "end_turn"}, true
			if d, err := f.c.Report(t.Context(), r); err != nil || d != StopTree {
				t.Errorf("%s: got %v, %v; want StopTree", name, d, err)
			}
		}
		f.status(j.Run.ID, fairlead.RunRunning)
		if n := f.audits("report"); n != 3 {
			t.Errorf("got %d audit records, want 3", n)
		}
		if got := f.session(j.Session.ID); got != before {
			t.Errorf("the session changed: %+v", got)
		}
		events, err := f.c.RunEvents(t.Context(), mainWorkspace, j.Run.ID, 0)
		f.must(err)
		refusals := 0
		for _, e := range events.Items {
			if e.Kind == fairlead.RunEventRefused {
				refusals++
			}
		}
		if refusals != 3 {
			t.Errorf("got %d refusals in the run's log, want 3", refusals)
		}
	})
}

// TestReportUnderANewerEpochIsRefused: a node that began anew knows the fence of what it ran before. It is not its own any
// more.
func TestReportUnderANewerEpochIsRefused(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.task("stay")
		j := f.claimed().start()
		d, err := f.c.Report(t.Context(), Report{
			Run: j.Run.ID, Fence: j.Run.Fence, Node: f.epoch(), Seq: 99, End: &TurnEnd{StopReason: "end_turn"}, TreeDead: true,
		})
		if err != nil || d != StopTree {
			t.Errorf("got %v, %v; want StopTree", d, err)
		}
		f.status(j.Run.ID, fairlead.RunRunning)
	})
}

// TestEveryClaimHasItsOwnFence: the number grows with each claim of a run, and the claim's random half is another one.
func TestEveryClaimHasItsOwnFence(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.task("stay")
		first := f.claimed().start()
		first.tell(&TurnEnd{StopReason: "interrupted", Interrupted: true}, true)
		second := f.claimed()
		if second.Run.ID != first.Run.ID || second.Run.Fence.Number <= first.Run.Fence.Number || second.Run.Fence.Claim == first.Run.Fence.Claim {
			t.Errorf("got fence %+v after %+v", second.Run.Fence, first.Run.Fence)
		}
	})
}

// TestADeadEpochClaimsNothing: death is one statement, and that alone fences.
func TestADeadEpochClaimsNothing(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.task("stay")
		j := f.claimed().start()
		f.task("solo")
		other := f.task("solo")
		f.move(other.ID, "work")
		f.must(f.db.Write(t.Context(), func(tx *store.Tx) error { _, err := tx.MarkDead(f.node.ID, f.node.Epoch); return err }))
		if k, err := f.c.Claim(t.Context(), f.node); k != nil {
			t.Errorf("a dead epoch claimed %s (%v)", k.Run.ID, err)
		}
		if d, err := j.report(nil, false, message("late")); err != nil || d != StopTree {
			t.Errorf("a report of a dead epoch: got %v, %v; want StopTree", d, err)
		}
	})
}

func TestAgentsActOnlyUnderTheirFence(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("stay")
		j := f.claimed().start()
		try := func(change func(*Meta)) error {
			m := j.as()
			change(&m)
			_, err := f.c.Comment(t.Context(), m, task.ID, fairlead.CommentBody{Text: "hi"})
			return err
		}
		f.must(try(func(*Meta) {}))
		refused(t, try(func(m *Meta) { m.Fence = nil }), fairlead.CodeForbidden)
		refused(t, try(func(m *Meta) { m.Fence.Claim = "guess" }), fairlead.CodeForbidden)
		refused(t, try(func(m *Meta) { m.Actor.Key = "bob" }), fairlead.CodeForbidden)
		refused(t, try(func(m *Meta) { m.Actor.Run = "run_none" }), fairlead.CodeForbidden)
		j.done()
		refused(t, try(func(*Meta) {}), fairlead.CodeForbidden)
	})
}

func TestDrainedRunIsNoAttemptAndNoInterruption(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("stay")
		for range 5 {
			j := f.claimed().start()
			f.comment(owner(), task.ID, "meanwhile") // its queued run merges with the one that goes back
			j.tell(&TurnEnd{StopReason: "interrupted", Interrupted: true}, true)
			r := f.queued(task.ID)
			if r.ID != j.Run.ID || r.Attempt != 0 || !r.Due {
				t.Fatalf("got %+v", r)
			}
		}
		j := f.claimed()
		if len(j.Wakes) != 6 || len(j.texts()) != 5 || !j.Interrupted {
			t.Errorf("got %d wakes, %d comments, interrupted %v", len(j.Wakes), len(j.texts()), j.Interrupted)
		}
		j.start().done()
		f.nothing()
	})
}

func TestTurnCancelledByNobodyFailed(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("solo")
		f.move(task.ID, "work")
		j := f.claimed().start()
		j.tell(&TurnEnd{StopReason: "unasked"}, true)
		if r := f.status(j.Run.ID, fairlead.RunQueued); r.Attempt != 1 || r.ErrorClass != fairlead.ClassTransient {
			t.Errorf("got attempt %d, class %q", r.Attempt, r.ErrorClass)
		}
		if v := f.see(task.ID); v.Step != "work" {
			t.Errorf("the task moved to %s", v.Step)
		}
	})
}

func TestFailedLaunchFiresAgentErrorOnce(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("solo")
		f.move(task.ID, "work")
		j := f.claimed()
		j.fails(fairlead.ClassConfiguration)
		f.status(j.Run.ID, fairlead.RunDead)
		box, err := f.c.Inbox(t.Context(), mainWorkspace, ownerPerson)
		f.must(err)
		if len(box.Notices) != 1 || box.Notices[0].Kind != "agent_error" {
			t.Errorf("got notices %+v, want one agent_error", box.Notices)
		}
		if s := f.session(j.Session.ID); s.State != fairlead.SessionIdle || s.InFlight != 0 {
			t.Errorf("got session %+v", s)
		}
	})
}

func TestLongValuesAreKeptOutside(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.task("stay")
		j := f.claimed().start()
		long := make([]byte, 200<<10)
		for i := range long {
			long[i] = 'x'
		}
		outcome, err := json.Marshal(map[string]any{"call": "c1", "outcome": "ok", "output": string(long), "input": string(long[:100])})
		f.must(err)
		j.tell(nil, false, Fact{Record: &Entry{Kind: fairlead.RecordEffectOutcome, Data: outcome}})
		f.read(func(tx *store.ReadTx) error {
			records, err := tx.ListRecordsFor(j.Task.ID, j.Run.Assignment, 0)
			if err != nil {
				return err
			}
			// Whoever looks for the call and how it ended finds both; only the long text is cut.
			var c struct {
				Call, Outcome, Output, Input string
				Cut                          map[string]whole
			}
			last := records[len(records)-1]
			if err := unmarshal(last.Data, &c); err != nil {
				return err
			}
			if c.Call != "c1" || c.Outcome != "ok" || c.Input != string(long[:100]) || len(last.Data) > maxText || len(c.Cut) != 1 {
				t.Errorf("got a record of %d bytes with call %q, outcome %q, cuts %v", len(last.Data), c.Call, c.Outcome, c.Cut)
			}
			kept, err := tx.GetBlob(c.Cut["output"].Hash)
			if kept != string(long) || c.Cut["output"].Length != len(long) || len(c.Output) < 2*ends {
				t.Errorf("got %d bytes in the record and %d outside", len(c.Output), len(kept))
			}
			return err
		})
		for _, bad := range []Fact{{}, {Record: &Entry{Kind: "decision", Data: []byte("{}")}}, {Record: &Entry{Kind: "message", Data: []byte("[1")}}} {
			if _, err := j.report(nil, false, bad); !fairlead.IsCode(err, fairlead.CodeInvalid) {
				t.Errorf("got %v, want invalid", err)
			}
		}
	})
}
