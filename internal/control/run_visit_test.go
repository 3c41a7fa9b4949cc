package control

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// reviewFlow has two agents that vote.
const reviewFlow = `
workflow: review
name: Review
start: idle
steps:
  - {key: idle, name: Idle}
  - key: review
    name: Review
    agent: ann
    participants:
      - {role: reviewer, agent: bob, decision_required: true}
      - {role: reviewer, agent: cid, decision_required: true}
    on:
      enter: [{fan_out: {role: reviewer, reason: review}}]
      decision:
        - move: {to: work, if: 'quorum("reviewer", "any_reject")'}
        - move: {to: done, if: 'quorum("reviewer", "all_approve")'}
      agent_error: [{inbox_item: {kind: agent_error, text: "failed"}}]
  - key: work
    name: Work
    agent: ann
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
  - {key: done, name: Done, terminal: done}
`

func (f *floor) review() fairlead.TaskView {
	f.t.Helper()
	f.agent("cid", "")
	f.save(reviewFlow)
	task := f.task("review")
	f.move(task.ID, "review")
	return task
}

func (j *job) votes(verdict, note string) {
	j.f.t.Helper()
	_, err := j.f.c.Decide(j.f.t.Context(), j.as(), j.Task.ID, fairlead.DecisionBody{Verdict: verdict, Note: note})
	j.f.must(err)
}

func TestR8_TwoReviewersOneAfterTheOther(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.review()
		first := f.claimed().start()
		if first.Seat == nil || first.Seat.Role != fairlead.RoleReviewer {
			t.Errorf("got seat %+v", first.Seat)
		}
		f.nothing() // they share the task's tree
		first.votes("approve", "")
		first.done()
		second := f.claimed().start()
		if second.Run.Attempt != 0 || second.Run.Agent == first.Run.Agent {
			t.Errorf("got %+v", second.Run)
		}
		if n := len(second.Records); n == 0 {
			t.Error("the second reviewer does not hear of the first one's verdict")
		}
		second.votes("approve", "")
		second.done()
		f.nothing()
	})
}

func TestE39_LastVotersRunEndsSucceeded(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.review()
		j := f.claimed().start()
		j.votes("reject", "tests are missing")
		if v := f.see(task.ID); v.Step != "work" {
			t.Fatalf("the task stands at %s", v.Step)
		}
		f.status(j.Run.ID, fairlead.RunRunning)
		f.nothing() // the next step's run waits for the tree
		if d := j.tell(nil, false, message("as I said")); d != ParkAfterTurn {
			t.Errorf("got directive %v, want ParkAfterTurn", d)
		}
		j.done()
		f.status(j.Run.ID, fairlead.RunSucceeded)
		rework := f.claimed()
		if rework.Run.Agent != "ann" || rework.Step.Key != "work" {
			t.Errorf("got %+v", rework.Run)
		}
		if !slices.ContainsFunc(rework.Records, func(r fairlead.Record) bool { return r.Kind == fairlead.RecordDecision }) {
			t.Error("the rework does not hear of the verdict")
		}
	})
}

func TestReviewerWithoutVerdictFailed(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		task := f.review()
		j := f.claimed().start()
		for range 4 {
			j.done()
			f.status(j.Run.ID, fairlead.RunQueued)
			f.later(clock, 3*time.Hour)
			j = f.claimed().start()
		}
		j.done()
		if r := f.status(j.Run.ID, fairlead.RunDead); r.ErrorClass != fairlead.ClassEmpty {
			t.Errorf("got class %q, want empty", r.ErrorClass)
		}
		box, err := f.c.Inbox(t.Context(), mainWorkspace, ownerPerson)
		f.must(err)
		if len(box.Notices) != 1 || box.Notices[0].Kind != "agent_error" || box.Notices[0].Task != task.ID {
			t.Errorf("got notices %+v, want one agent_error", box.Notices)
		}
	})
}

// startFlow is a kanban whose card moves when its agent begins.
const startFlow = `
workflow: begins
name: Begins
start: todo
steps:
  - key: todo
    name: Todo
    agent: ann
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      turn_start: [{move: {to: doing}}]
  - key: doing
    name: Doing
    agent: ann
    wip: 1
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
      turn_complete: [{move: {to: done}}]
  - {key: done, name: Done, terminal: done}
`

func TestE37_TurnStartCarriesTheTurn(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(startFlow)
		task := f.task("begins")
		j := f.claimed()
		old := j.Run.Assignment
		if d := j.tell(nil, false, Fact{Turn: &TurnStarted{Through: j.Through, Prompt: "work"}}); d != Continue {
			t.Errorf("got directive %v, want Continue", d)
		}
		if v := f.see(task.ID); v.Step != "doing" || v.Visit != 2 {
			t.Fatalf("the card stands at %s", v.Step)
		}
		r := f.status(j.Run.ID, fairlead.RunRunning)
		if r.Assignment == old || r.Visit != 2 || r.Step != "doing" || r.Session != j.Session.ID {
			t.Errorf("got run %+v", r)
		}
		if n := len(f.active(task.ID)); n != 1 {
			t.Errorf("got %d active runs: the new step's wake was not absorbed", n)
		}
		j.seq-- // the worker did not hear the answer and says it again
		if d := j.tell(nil, false, Fact{Turn: &TurnStarted{Through: j.Through, Prompt: "work"}}); d != Continue {
			t.Errorf("got directive %v, want Continue", d)
		}
		f.comment(owner(), task.ID, "meanwhile") // not in this turn's prompt: one further run
		j.says("done")
		j.done()
		if r := f.run(j.Run.ID); r.Outcome != fairlead.OutcomeCompleted {
			t.Errorf("got %s, %s", r.Status, r.Outcome)
		}
		if v := f.see(task.ID); v.Step != "done" {
			t.Errorf("the card stands at %s", v.Step)
		}
		f.noPlaces("begins", "doing")
	})
}

func TestE38_TheAnswersTurnCompletes(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("solo")
		f.move(task.ID, "work")
		j := f.claimed().start()
		id := j.asks()
		j.done()
		if v := f.see(task.ID); v.Step != "work" {
			t.Fatalf("a turn with an open question moved the task to %s", v.Step)
		}
		f.nothing()
		f.answer(id, fairlead.Answer{Text: "the second"})
		next := f.claimed()
		if len(next.Answers) != 1 || next.Answers[0].Answer.Text != "the second" || next.Wakes[0].Reason != reasonAnswer {
			t.Errorf("got answers %+v, wakes %+v", next.Answers, next.Wakes)
		}
		next.start().done()
		if v := f.see(task.ID); v.Step != "done" {
			t.Errorf("the answer's turn left the task at %s", v.Step)
		}
	})
}

func TestR26_AnswerBeforeTheAskingTurnEnds(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("solo")
		f.move(task.ID, "work")
		j := f.claimed().start()
		id := j.asks()
		f.answer(id, fairlead.Answer{Text: "yes"})
		f.nothing() // one execution of a session at any time
		j.tell(&TurnEnd{StopReason: "end_turn"}, false)
		f.nothing() // its process may still live
		j.tell(nil, true)
		f.status(j.Run.ID, fairlead.RunParked)
		if v := f.see(task.ID); v.Step != "work" {
			t.Fatalf("an answer nobody heard completed the step: %s", v.Step)
		}
		next := f.claimed()
		if len(next.Answers) != 1 || len(next.Wakes) != 1 {
			t.Errorf("got %d answers, %d wakes; want 1, 1", len(next.Answers), len(next.Wakes))
		}
		next.start().done()
		f.nothing()
	})
}

const signalFlow = `
workflow: signal
name: Signal
start: work
steps:
  - key: work
    name: Work
    agent: ann
    complete: signal
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
      turn_complete: [{move: {to: done}}]
  - {key: done, name: Done, terminal: done}
`

func TestE22_SignalCountsThoughTheTurnFails(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(signalFlow)
		task := f.task("signal")
		j := f.claimed().start()
		_, err := f.c.StepComplete(t.Context(), j.as(), "all done")
		f.must(err)
		j.fails(fairlead.ClassLimited)
		if r := f.status(j.Run.ID, fairlead.RunSucceeded); r.Outcome != fairlead.OutcomeCompleted || r.ErrorClass != fairlead.ClassLimited {
			t.Errorf("got %+v", r)
		}
		if v := f.see(task.ID); v.Step != "done" || v.Visit != 2 {
			t.Errorf("the task stands at %s, visit %d", v.Step, v.Visit)
		}
	})
}

func TestE23_NoSignalNoAdvance(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(signalFlow)
		task := f.task("signal")
		for i := range 2 {
			j := f.claimed().start()
			j.done()
			if r := f.status(j.Run.ID, fairlead.RunSucceeded); r.Outcome != fairlead.OutcomeYielded {
				t.Errorf("turn %d: got outcome %q, want yielded", i, r.Outcome)
			}
			f.comment(owner(), task.ID, "go on")
		}
		box, err := f.c.Inbox(t.Context(), mainWorkspace, ownerPerson)
		f.must(err)
		if len(box.Notices) != 1 || box.Notices[0].Kind != "no_signal" {
			t.Errorf("got notices %+v, want one no_signal", box.Notices)
		}
		if v := f.see(task.ID); v.Step != "work" {
			t.Errorf("the task stands at %s", v.Step)
		}
	})
}

func TestE25_OwnMoveIsDecidedWhenTheTurnEnds(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		task := f.task("stay")
		j := f.claimed().start()
		out, err := f.c.Move(t.Context(), j.as(), task.ID, fairlead.MoveBody{Step: "other", Note: "over to you"})
		f.must(err)
		if out.Moved {
			t.Error("the task moved in mid-turn")
		}
		j.done()
		f.status(j.Run.ID, fairlead.RunSucceeded)
		if v := f.see(task.ID); v.Step != "other" {
			t.Errorf("the task stands at %s", v.Step)
		}
	})
}

func TestR24_PersonsWakePassesTheQueue(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.fill("stay", 50)
		task, err := f.c.CreateTask(t.Context(), owner(), fairlead.NewTask{Title: "mine", Workflow: "solo", Step: "work"})
		f.must(err)
		f.comment(owner(), task.ID, "now please")
		if j := f.claimed(); j.Task.ID != task.ID {
			t.Errorf("claimed %s, want the person's", j.Task.ID)
		}
	})
}

// TestR24_APersonsWakeRaisesAQueuedRun: also when it is absorbed by a run that others had queued.
func TestR24_APersonsWakeRaisesAQueuedRun(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.fill("stay", 5)
		task, err := f.c.CreateTask(t.Context(), asClient(), fairlead.NewTask{Title: "last", Workflow: "stay"})
		f.must(err)
		f.comment(owner(), task.ID, "now please")
		if j := f.claimed(); j.Task.ID != task.ID || j.Run.Absorbed != 1 {
			t.Errorf("claimed %s, which has absorbed %d wakes; want the one a person waits for", j.Task.ID, j.Run.Absorbed)
		}
	})
}

// TestHeldRunsDoNotHideFreeOnes: whatever stands before it in the queue, a free run is found.
func TestHeldRunsDoNotHideFreeOnes(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		first := f.task("solo")
		for i := range 40 {
			_, err := f.c.CreateTask(t.Context(), asClient(), fairlead.NewTask{
				Title: fmt.Sprint(i), Workflow: "stay", BlockedBy: []string{first.ID}, Priority: fairlead.PriorityUrgent,
			})
			f.must(err)
		}
		free, err := f.c.CreateTask(t.Context(), asClient(), fairlead.NewTask{Title: "free", Workflow: "stay"})
		f.must(err)
		if j := f.claimed(); j.Task.ID != free.ID {
			t.Errorf("claimed %s, want the free one", j.Task.ID)
		}
	})
}

func TestSessionsOfAnEndedTurnAreIdle(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.task("stay")
		j := f.claimed().start()
		f.restart()
		if s := f.session(j.Session.ID); s.State != fairlead.SessionIdle || s.Execution != "" {
			t.Errorf("got session %+v after a restart", s)
		}
		f.read(func(tx *store.ReadTx) error {
			live, err := tx.ListLiveExecutions(j.Run.Node)
			if len(live) != 0 {
				t.Errorf("%d executions live without an executor", len(live))
			}
			return err
		})
	})
}
