package control

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// sharedFloor runs fn on the database that several nodes can share.
func sharedFloor(t *testing.T, fn func(t *testing.T, f *floor)) {
	t.Helper()
	t.Parallel()
	fn(t, newFloor(t, storetest.Postgres(t).Open(t, nil)))
}

// at begins a process of a home, which becomes the node that the floor claims for.
func (f *floor) at(home, start string, slots int) Node {
	f.t.Helper()
	n, err := f.db.BeginEpoch(f.t.Context(), fairlead.Node{ID: "nod_" + home + "_" + start, Host: "host-of-" + home, PID: 1, Slots: slots})
	f.must(err)
	f.node = Node{ID: n.ID, Epoch: n.Epoch}
	return f.node
}

func (f *floor) dies(n Node) {
	f.t.Helper()
	f.must(f.c.bury(f.t.Context(), n.ID, n.Epoch))
}

// works begins the turn in a worktree.
func (j *job) works() *job {
	j.f.t.Helper()
	j.tell(nil, false, Fact{Tree: &TreeReady{}})
	return j.start()
}

func pushed(n string) *CheckpointMade {
	return &CheckpointMade{Ref: "refs/fairlead/checkpoint/asg", Commit: strings.Repeat(n, 40), Head: strings.Repeat("a", 40), Pushed: true}
}

// leaves ends a good turn, and its worktree so.
func (j *job) leaves(c *CheckpointMade) {
	j.f.t.Helper()
	j.tell(&TurnEnd{StopReason: "end_turn"}, true, Fact{Left: &TreeLeft{Checkpoint: c}})
}

func (f *floor) hold(run string) fairlead.Hold {
	f.t.Helper()
	holds, err := f.c.Why(f.t.Context(), mainWorkspace, run)
	f.must(err)
	if len(holds) != 1 || holds[0].Kind != fairlead.HoldWorkspaceOn {
		f.t.Fatalf("got holds %+v, want one for the node that has the worktree", holds)
	}
	return holds[0]
}

func (f *floor) release(run string) error {
	_, err := f.c.ReleaseRun(f.t.Context(), owner(), run, fairlead.OpBody{})
	return err
}

// TestAWorktreeKeepsItsTaskOnItsNode follows a task over the death and the return of the node that has its worktree.
func TestAWorktreeKeepsItsTaskOnItsNode(t *testing.T) {
	sharedFloor(t, func(t *testing.T, f *floor) {
		a := f.at("a", "1", 1)
		task := f.task("stay")
		f.claimed().works().leaves(nil)
		f.agent("ann", "parallel: 4\n")
		b := f.at("b", "1", 4)
		f.comment(owner(), task.ID, "more")
		run := f.queued(task.ID).ID
		f.nothing()
		same(t, "holds while its node is free", f.held(run))
		// Its node works on something else: the run waits for that.
		f.hire(1)
		f.hands.node = a
		other := f.task("stay")
		if got, err := f.start(other.ID, fairlead.StartBody{}); err != nil || !got.Launched {
			t.Fatalf("got %+v, %v", got, err)
		}
		if h := f.hold(run); h.Data["live"] != true || !strings.Contains(h.Text, "host-of-a") {
			t.Errorf("got %+v", h)
		}
		f.dies(a)
		f.must(f.c.Recover(t.Context(), b))
		if h := f.hold(run); h.Data["live"] != false || !strings.Contains(h.Text, "is dead") || !strings.Contains(h.Release, "starts again") {
			t.Errorf("got %+v", h)
		}
		if j := f.claimed(); j.Task.ID == task.ID {
			t.Fatal("another node claimed the work of a dead one's worktree")
		}
		again := f.at("a", "2", 4)
		if j := f.claimed(); j.Run.ID != run {
			t.Errorf("got run %s on the node's return, want %s", j.Run.ID, run)
		} else {
			j.works()
		}
		if got := f.see(task.ID).Worktree; got == nil || got.Node != again.ID {
			t.Errorf("got worktree %+v, want it on the node that came back", got)
		}
	})
}

// TestReleaseFromADeadNode lets work go from a node that does not come back.
func TestReleaseFromADeadNode(t *testing.T) {
	sharedFloor(t, func(t *testing.T, f *floor) {
		a := f.at("a", "1", 4)
		task := f.task("stay")
		j := f.claimed().works()
		j.tell(nil, false, Fact{External: "conversation-on-a"})
		j.leaves(pushed("1"))
		f.comment(owner(), task.ID, "and a second turn")
		j = f.claimed().works()
		j.tell(nil, false, effect("c1", "write"), effect("c2", "read"), effect("c3", ""))
		run := j.Run.ID
		b := f.at("b", "1", 4)
		refused(t, f.release(run), fairlead.CodeConflict) // it is live
		f.dies(a)
		f.must(f.c.Recover(t.Context(), b))
		f.nothing()
		if h := f.hold(run); !strings.Contains(h.Release, "fairlead run release "+run) || h.Data["checkpoint"] == nil {
			t.Errorf("got %+v", h)
		}
		_, err := f.c.ReleaseRun(t.Context(), j.as(), run, fairlead.OpBody{})
		refused(t, err, fairlead.CodeForbidden)
		f.must(f.release(run))
		refused(t, f.release(run), fairlead.CodeConflict)
		record := f.lastRecord(task.ID, fairlead.RecordTreeReleased)
		if !strings.Contains(string(record.Data), `"lost":2`) {
			t.Errorf("got record %s, want the two effects that may have been in the tree", record.Data)
		}
		if lines := f.runEvents(run, fairlead.RunEventReleased); len(lines) != 1 {
			t.Errorf("got %d lines of the release in the run's log", len(lines))
		}
		next := f.claimed()
		if w := next.Task.Worktree; !w.Restore || w.Since != record.Seq || w.Checkpoint.Commit != pushed("1").Commit {
			t.Errorf("got worktree %+v, want it from the pushed checkpoint", w)
		}
		if next.Session.External != "" {
			t.Error("the conversation on the dead node was named")
		}
		if !slices.ContainsFunc(next.Records, func(r fairlead.Record) bool { return r.Seq == record.Seq }) {
			t.Error("the next prompt does not hear of it")
		}
		next.works()
		if w := f.see(task.ID).Worktree; w.Home != "b" || w.Restore || w.Checkpoint == nil {
			t.Errorf("got %+v, want the worktree on the other node", w)
		}
		next.leaves(pushed("2"))
		f.at("a", "2", 4)
		f.comment(owner(), task.ID, "once more")
		f.nothing() // it is b's now
		f.node = b
		if j := f.claimed(); len(j.Records) == 0 || slices.ContainsFunc(j.Records, func(r fairlead.Record) bool { return r.Seq == record.Seq }) {
			t.Error("the release is told again")
		}
	})
}

func effect(call, kind string) Fact {
	data := marshal(map[string]string{"call": call, "tool": "t", "effect": kind})
	return Fact{Record: &Entry{Kind: fairlead.RecordEffectIntent, Data: data}}
}

func (f *floor) lastRecord(task, kind string) (found fairlead.Record) {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) error {
		all, err := tx.ListRecords(task, 0, 1000)
		for _, r := range all {
			if r.Kind == kind {
				found = r
			}
		}
		return err
	})
	if found.Seq == 0 {
		f.t.Fatalf("no record %s", kind)
	}
	return found
}

// TestAWorktreeElsewhereHoldsWhoeverAsks: nobody passes the hold, and nobody lets work go from a node that lives.
func TestAWorktreeElsewhereHoldsWhoeverAsks(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		a := f.at("a", "1", 4)
		task := f.task("stay")
		f.claimed().works().leaves(pushed("1"))
		f.comment(owner(), task.ID, "more")
		run := f.queued(task.ID).ID
		refused(t, f.release(run), fairlead.CodeConflict)
		f.dies(a)
		f.at("b", "1", 4)
		f.hire(1)
		f.nothing()
		_, err := f.start(task.ID, fairlead.StartBody{})
		refused(t, err, fairlead.CodeConflict)
		f.must(f.release(run))
		if got, err := f.start(task.ID, fairlead.StartBody{}); err != nil || !got.Launched {
			t.Errorf("got %+v, %v; want it launched after the release", got, err)
		}
	})
}

// TestWhatCannotBeReleased says why not, to whoever asks and to whoever tries.
func TestWhatCannotBeReleased(t *testing.T) {
	sharedFloor(t, func(t *testing.T, f *floor) {
		f.agent("ann", "parallel: 4\n")
		for _, tc := range []struct {
			name, why string
			left      TreeLeft
			notices   int
		}{
			{"no run has ended", "no run has left a checkpoint yet", TreeLeft{}, 0},
			{"no remote", "the repository has no remote", TreeLeft{Checkpoint: &CheckpointMade{Ref: "r", Commit: "c", Head: "h"}}, 0},
			{"no push", "no checkpoint could be pushed (no route)", TreeLeft{Checkpoint: &CheckpointMade{Ref: "r", Commit: "c", Head: "h", Why: "no route"}}, 1},
		} {
			a := f.at("a", strings.ReplaceAll(tc.name, " ", ""), 4)
			before := f.notices("checkpoint_not_pushed")
			task := f.task("stay")
			f.claimed().works().tell(&TurnEnd{StopReason: "end_turn"}, true, Fact{Left: &tc.left})
			if got := f.notices("checkpoint_not_pushed") - before; got != tc.notices {
				t.Errorf("%s: got %d notices, want %d", tc.name, got, tc.notices)
			}
			f.dies(a)
			f.at("b", strings.ReplaceAll(tc.name, " ", ""), 4)
			f.comment(owner(), task.ID, "more")
			f.nothing()
			run := f.queued(task.ID).ID
			if h := f.hold(run); !strings.Contains(h.Release, tc.why) {
				t.Errorf("%s: the hold's release is %q", tc.name, h.Release)
			}
			err := f.release(run)
			refused(t, err, fairlead.CodeRefused)
			if err != nil && !strings.Contains(err.Error(), tc.why) {
				t.Errorf("%s: got %v", tc.name, err)
			}
			_, err = f.c.CancelRun(t.Context(), owner(), run, fairlead.OpBody{})
			f.must(err)
		}
		free := f.task("stay")
		refused(t, f.release(f.queued(free.ID).ID), fairlead.CodeConflict)
	})
}

// TestAPlainDirectoryStaysWhereItHoldsSomething frees it again when it is empty.
func TestAPlainDirectoryStaysWhereItHoldsSomething(t *testing.T) {
	sharedFloor(t, func(t *testing.T, f *floor) {
		a := f.at("a", "1", 4)
		task := f.task("stay")
		b := f.at("b", "1", 4)
		for _, s := range []struct {
			on    Node
			files bool
			other Node
			tied  bool
		}{{a, true, b, true}, {a, false, b, false}, {b, true, a, true}} {
			f.node = s.on
			f.claimed().start().tell(&TurnEnd{StopReason: "end_turn"}, true, Fact{Left: &TreeLeft{Files: s.files}})
			f.comment(owner(), task.ID, "more")
			f.node = s.other
			if s.tied {
				f.nothing()
			}
		}
	})
}

// TestAPlainDirectoryIsReleasedWithoutItsFiles: there is nothing to go back to, and whoever releases it knows.
func TestAPlainDirectoryIsReleasedWithoutItsFiles(t *testing.T) {
	sharedFloor(t, func(t *testing.T, f *floor) {
		a := f.at("a", "1", 4)
		task := f.task("stay")
		j := f.claimed().start()
		j.tell(nil, false, effect("c1", "write"))
		j.tell(&TurnEnd{StopReason: "end_turn"}, true, Fact{Left: &TreeLeft{Files: true}})
		f.dies(a)
		b := f.at("b", "1", 4)
		f.comment(owner(), task.ID, "more")
		run := f.queued(task.ID).ID
		if h := f.hold(run); !strings.Contains(h.Release, "with an empty directory (fairlead run release "+run) {
			t.Errorf("got %+v", h)
		}
		f.c.releaseAfter = time.Nanosecond // no rule throws it away
		f.must(f.c.Recover(t.Context(), b))
		f.nothing()
		f.must(f.release(run))
		if r := f.lastRecord(task.ID, fairlead.RecordTreeReleased); !strings.Contains(string(r.Data), `"lost":1`) || strings.Contains(string(r.Data), "commit") {
			t.Errorf("got record %s", r.Data)
		}
		next := f.claimed()
		since := next.Task.Worktree.Since
		if next.Task.Worktree.Restore || since == 0 {
			t.Errorf("got %+v", next.Task.Worktree)
		}
		for _, files := range []bool{true, false} { // what was lost stays lost
			next.start().tell(&TurnEnd{StopReason: "end_turn"}, true, Fact{Left: &TreeLeft{Files: files}})
			f.comment(owner(), task.ID, "again")
			if next = f.claimed(); next.Task.Worktree.Since != since || (next.Task.Worktree.Home == "b") != files {
				t.Errorf("files %t: got %+v", files, next.Task.Worktree)
			}
		}
	})
}

// TestAWorktreeThatNobodyWroteInTiesNobody: a reviewer who only read leaves nothing that another node could miss.
func TestAWorktreeThatNobodyWroteInTiesNobody(t *testing.T) {
	sharedFloor(t, func(t *testing.T, f *floor) {
		a := f.at("a", "1", 4)
		task := f.task("stay")
		j := f.claimed().works()
		if got := f.see(task.ID).Worktree; got == nil || got.Home != "a" {
			t.Errorf("got %+v during the run, want it tied", got)
		}
		j.tell(&TurnEnd{StopReason: "end_turn"}, true, Fact{Left: &TreeLeft{Clean: true}})
		f.dies(a)
		f.at("b", "1", 4)
		f.comment(owner(), task.ID, "more")
		next := f.claimed().works()
		next.leaves(pushed("1"))
		f.comment(owner(), task.ID, "more")
		next = f.claimed().works()
		next.tell(&TurnEnd{StopReason: "end_turn"}, true, Fact{Left: &TreeLeft{Clean: true}}) // with a checkpoint it is not
		if got := f.see(task.ID).Worktree; got == nil || got.Home != "b" {
			t.Errorf("got %+v, want it tied", got)
		}
	})
}

// TestALaunchGoesWhereTheWorktreeIs: a person's launch elsewhere waits there, at the head of the queue.
func TestALaunchGoesWhereTheWorktreeIs(t *testing.T) {
	sharedFloor(t, func(t *testing.T, f *floor) {
		a := f.at("a", "1", 4)
		task := f.task("stay")
		f.claimed().works().leaves(nil)
		waiting, err := f.c.CreateTask(t.Context(), asClient(), fairlead.NewTask{Title: "urgent", Workflow: "stay", Priority: fairlead.PriorityUrgent})
		f.must(err)
		f.at("b", "1", 4)
		f.hire(4)
		got, err := f.start(task.ID, fairlead.StartBody{Message: "now"})
		if err != nil || got.Launched || got.Status != fairlead.RunQueued {
			t.Fatalf("got %+v, %v; want it queued", got, err)
		}
		f.node = a
		if j := f.claimed(); j.Run.ID != got.Run {
			t.Errorf("the node began with %s, want the person's run before %s", j.Task.Identifier, waiting.Identifier)
		} else {
			j.works().leaves(nil)
		}
		f.dies(a)
		_, err = f.start(task.ID, fairlead.StartBody{Message: "and now"})
		refused(t, err, fairlead.CodeConflict)
	})
}

// TestAStrandedTaskGivesItsPlaceBack: others go on at a step whose place a dead node's task had.
func TestAStrandedTaskGivesItsPlaceBack(t *testing.T) {
	sharedFloor(t, func(t *testing.T, f *floor) {
		f.save(strings.Replace(stayFlow, "    agent: ann\n    on:", "    agent: ann\n    wip: 1\n    on:", 1))
		f.agent("ann", "parallel: 4\n")
		a := f.at("a", "1", 4)
		first := f.task("stay")
		f.claimed().works()
		second := f.task("stay")
		b := f.at("b", "1", 4)
		f.nothing()
		f.dies(a)
		f.must(f.c.Recover(t.Context(), b))
		if j := f.claimed(); j.Task.ID != second.ID {
			t.Errorf("got %s, want %s", j.Task.Identifier, second.Identifier)
		}
		f.at("a", "2", 4)
		f.nothing() // the place is taken: the first waits for it as all do
		same(t, "holds", f.held(f.queued(first.ID).ID), fairlead.HoldWIP)
	})
}

func TestARemovedTreeTiesNobody(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.at("a", "1", 4)
		task := f.task("stay")
		f.claimed().works().leaves(nil)
		tree := func() read.Tree {
			trees, err := f.c.Trees(t.Context(), []string{task.Identifier, "FL-999"})
			f.must(err)
			if len(trees) != 1 {
				t.Fatalf("got %+v", trees)
			}
			return trees[0]
		}
		if got := tree(); got.Done || got.Home != "a" {
			t.Errorf("got %+v", got)
		}
		_, err := f.c.Archive(t.Context(), owner(), task.ID, fairlead.OpBody{})
		f.must(err)
		if got := tree(); !got.Done {
			t.Errorf("got %+v", got)
		}
		f.must(f.c.TreeRemoved(t.Context(), "b", tree())) // another home's word says nothing
		if got := tree(); got.Home != "a" {
			t.Errorf("got %+v", got)
		}
		f.must(f.c.TreeRemoved(t.Context(), "a", tree()))
		if got := tree(); got.Home != "" || f.see(task.ID).Worktree != nil {
			t.Errorf("got %+v", got)
		}
	})
}

// TestAStoppedRunLeavesItsCheckpoint: what it did before it was told to stop is not less worth.
func TestAStoppedRunLeavesItsCheckpoint(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.at("a", "1", 4)
		task := f.task("stay")
		j := f.claimed().works()
		_, err := f.c.Stop(t.Context(), owner(), task.ID, fairlead.OpBody{})
		f.must(err)
		j.leaves(pushed("3"))
		f.status(j.Run.ID, fairlead.RunCancelled)
		if w := f.see(task.ID).Worktree; w == nil || w.Checkpoint == nil || w.Checkpoint.Commit != pushed("3").Commit {
			t.Errorf("got %+v", w)
		}
	})
}

func TestNodeHome(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"nod_abc_123": "abc", "nod_a_b_123": "a_b", "nod_abc": "abc", "abc": "abc", "": ""} {
		if got := fairlead.NodeHome(id); got != want {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}

// TestReleaseByRule lets go what has waited for a dead node long enough, and nothing else.
func TestReleaseByRule(t *testing.T) {
	t.Parallel()
	clock := newHand()
	f := newFloor(t, storetest.Postgres(t).Open(t, &store.Options{Now: clock.Now}))
	f.agent("ann", "parallel: 4\n")
	a := f.at("a", "1", 4)
	kept := f.task("stay")
	f.claimed().works().leaves(nil) // without a checkpoint
	task := f.task("stay")
	f.claimed().works().leaves(pushed("1"))
	for _, id := range []string{kept.ID, task.ID} {
		f.comment(owner(), id, "more")
	}
	b := f.at("b", "1", 4)
	recovers := func(after time.Duration) {
		f.later(clock, after)
		f.must(f.c.Recover(t.Context(), b))
	}
	f.dies(a)
	f.c.releaseAfter = time.Hour
	recovers(59 * time.Minute)
	f.nothing()
	a = f.at("a", "2", 0) // it was there for a moment
	f.dies(a)
	f.node = b
	recovers(59 * time.Minute)
	f.nothing()
	recovers(time.Minute)
	if j := f.claimed(); j.Task.ID != task.ID || !j.Task.Worktree.Restore {
		t.Errorf("got %+v", j.Task)
	}
	f.nothing()
	if r := f.lastRecord(task.ID, fairlead.RecordTreeReleased); r.Actor.Kind != fairlead.ActorEngine {
		t.Errorf("got actor %s", r.Actor)
	}
}
