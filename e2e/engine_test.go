package e2e

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

// says ends a turn well.
const says = "  - do: [{say: done}]\n"

// E1: enter actions run on every way into a step: creation, a move by a person, by an agent, by the engine, and the
// creation of a child.
func TestE1_EveryWayIn(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		s.agent("mover", `
  - when: {prompt: "please move"}
    do: [{tool: {name: move_task_fairlead, args: {step: in, note: "by the agent"}}}]
`+says)
		s.save(`workflow: ways
start: in
steps:
  - key: in
    on:
      enter: [{comment: {text: entered}}]
      manual: {child: [{create_child: {workflow: ways, title: a child}}]}
  - key: plain
    agent: mover
    on: {enter: [{queue_run: {to: primary}}], turn_complete: [{move: {to: in}}]}
  - key: signal
    agent: mover
    complete: signal
    on: {enter: [{queue_run: {to: primary}}]}
  - {key: z, terminal: done}
`)
		entered := func(task string) (n int) {
			for _, c := range must(s.client.Comments(t.Context(), task))(t) {
				if c.Text == "entered" {
					n++
				}
			}
			return n
		}
		task := s.task("ways", func(n *fairlead.NewTask) { n.Description = "please move" })
		want := func(way string, n int) {
			t.Helper()
			if got := entered(task.ID); got != n {
				t.Fatalf("%s: entered %d times, want %d", way, got, n)
			}
		}
		want("created", 1)
		s.move(task.ID, "z")
		s.move(task.ID, "in")
		want("moved by a person", 2)
		s.move(task.ID, "signal")
		s.at(task.ID, "in")
		want("moved by an agent", 3)
		s.move(task.ID, "plain")
		s.at(task.ID, "in")
		want("moved by the engine", 4)
		must(s.client.Trigger(t.Context(), task.ID, fairlead.TriggerBody{Kind: "manual", Key: "child"}, false))(t)
		want("with a child", 4)
		child := s.childrenOf(task.ID)[0]
		if got := entered(child.ID); got != 1 {
			t.Errorf("the child entered %d times", got)
		}
		s.replays(t, task.ID)
		s.replays(t, child.ID)
	})
}

// E7: all_approve with two agents and one person: each vote weighs again, the last one moves at once. E9: after a
// rejection a new round: the old votes are readable and do not count. E10: a seat added in mid-round is asked at once
// and is counted. E8: a person's reject fires any_reject, by the command line; the approval counts, by the API.
func TestE7_E8_E9_E10_Quorum(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		approves := "  - do: [{tool: {name: record_decision_fairlead, args: {verdict: approve}}}]\n"
		s.agent("first", approves)
		s.agent("second", approves)
		s.agent("third", approves)
		s.save(`workflow: panel
start: work
steps:
  - {key: work}
  - key: review
    participants:
      - {role: reviewer, agent: first}
      - {role: reviewer, agent: second}
      - {role: reviewer, person: owner}
    on:
      enter: [{clear_decisions: {}}]
      decision:
        - move: {to: work, if: 'quorum("reviewer", "any_reject")'}
        - move: {to: done, if: 'quorum("reviewer", "all_approve")'}
  - {key: done, terminal: done}
`)
		task := s.task("panel")
		s.move(task.ID, "review")
		voted := func(n int) func(fairlead.TaskView) bool {
			return func(v fairlead.TaskView) bool {
				approved := 0
				for _, x := range v.Seats {
					if x.Verdict == fairlead.VerdictApproved {
						approved++
					}
				}
				return approved >= n
			}
		}
		s.await(task.ID, "both agents' votes", voted(2))
		if _, errs, code := s.command("decide", task.Identifier, "reject", "--note", "not yet"); code != 0 {
			t.Fatalf("decide: %d %s", code, errs)
		}
		if v := s.show(task.ID); v.Step != "work" {
			t.Fatalf("after the rejection at %s", v.Step)
		}
		s.move(task.ID, "review")
		v := s.await(task.ID, "both agents' votes again", voted(2))
		if v.Step != "review" || v.Visit != 4 {
			t.Fatalf("old votes counted: %s, visit %d", v.Step, v.Visit)
		}
		must(s.client.AddParticipant(t.Context(), task.ID, fairlead.ParticipantBody{NewParticipant: fairlead.NewParticipant{Role: "reviewer", Agent: "third"}}))(t)
		v = s.await(task.ID, "the added seat's vote", voted(3))
		if v.Step != "review" || len(v.Seats) != 4 {
			t.Fatalf("with four seats: %s %s", v.Step, asJSON(t, v.Seats))
		}
		q := must(s.client.Quorum(t.Context(), task.ID))(t)
		if len(q) != 2 || q[1].Needed != 4 || q[1].Received != 3 || len(q[1].Missing) != 1 || q[1].Missing[0].Person != "owner" {
			t.Errorf("quorum: %s", asJSON(t, q))
		}
		r := s.awaitRequest(task.ID, fairlead.RequestDecision)
		must(s.client.Answer(t.Context(), r.ID, fairlead.AnswerBody{Answer: fairlead.Answer{Verdict: "approve"}}))(t)
		if v := s.show(task.ID); v.Step != "done" {
			t.Errorf("after the last vote at %s", v.Step)
		}
		if n := s.kinds(task.ID)[fairlead.RecordDecision]; n != 7 {
			t.Errorf("%d decisions are readable, want 7", n)
		}
		s.replays(t, task.ID)
	})
}

// E12: an agent that worked the task cannot take a seat on it: refused and audited; its owner may.
func TestE12_NoSeatForTheWorker(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.agent("maker", says)
	s.save(`workflow: made
start: work
steps:
  - {key: work, agent: maker, on: {enter: [{queue_run: {to: primary}}], turn_complete: [{move: {to: review}}]}}
  - key: review
    participants: [{role: reviewer, agent: maker}]
    on: {decision: [{move: {to: done, if: 'quorum("reviewer", "all_approve")'}}]}
  - {key: done, terminal: done}
`)
	task := s.task("made")
	v := s.at(task.ID, "review")
	if len(v.Seats) != 0 {
		t.Errorf("the template's seat of the worker is there: %s", asJSON(t, v.Seats))
	}
	_, err := s.client.AddParticipant(t.Context(), task.ID, fairlead.ParticipantBody{NewParticipant: fairlead.NewParticipant{Role: "reviewer", Agent: "maker"}})
	wants(t, "seat for the worker", err, fairlead.CodeRefused)
	v = must(s.client.AddParticipant(t.Context(), task.ID, fairlead.ParticipantBody{NewParticipant: fairlead.NewParticipant{Role: "reviewer", Person: "owner"}}))(t)
	if len(v.Seats) != 1 {
		t.Errorf("the owner has no seat: %s", asJSON(t, v.Seats))
	}
	if !strings.Contains(s.dump(""), `"add participant"`) {
		t.Error("the refusal left no audit row")
	}
}

// E16: a blocker that is cancelled follows the blocked task's rule; a circle is refused with its path.
func TestE16_Blockers(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		s.save("workflow: wait\nstart: a\nsteps:\n  - {key: a, on: {blocker_resolved: [{move: {to: b}}]}}\n  - {key: b}\n  - {key: z, terminal: done}\n  - {key: x, terminal: cancelled}\n")
		blocker := s.task("wait")
		loose := s.task("wait", func(n *fairlead.NewTask) { n.BlockedBy = []string{blocker.ID} })
		strict := s.task("wait", func(n *fairlead.NewTask) { n.BlockedBy, n.CancelledBlocker = []string{blocker.ID}, "keep" })
		_, err := s.client.AddBlocker(t.Context(), blocker.ID, fairlead.BlockerBody{BlockedBy: loose.ID})
		wants(t, "a circle", err, fairlead.CodeRefused)
		if !strings.Contains(err.Error(), blocker.Identifier) || !strings.Contains(err.Error(), loose.Identifier) {
			t.Errorf("no path in: %v", err)
		}
		s.move(blocker.ID, "x")
		s.at(loose.ID, "b")
		if v := s.show(strict.ID); v.Step != "a" || len(v.Blockers) != 1 || !v.Blockers[0].Open {
			t.Errorf("with keep: at %s, %s", v.Step, asJSON(t, v.Blockers))
		}
		must(s.client.RemoveBlocker(t.Context(), strict.ID, blocker.ID, fairlead.OpBody{}))(t)
		s.at(strict.ID, "b")
		s.replays(t, strict.ID)
	})
}

// E17: children that complete, and a second batch that completes, fire twice.
func TestE17_TwoBatchesOfChildren(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.save("workflow: parent\nstart: a\nsteps:\n  - {key: a, on: {children_completed: [{comment: {text: all ended}}]}}\n  - {key: z, terminal: done}\n")
	s.save(kanban)
	task := s.task("parent")
	for batch := 1; batch <= 2; batch++ {
		for range 2 {
			s.task("plain", func(n *fairlead.NewTask) { n.Parent = task.ID })
		}
		for _, child := range s.childrenOf(task.ID) {
			if child.State != fairlead.StateDone {
				s.move(child.ID, "z")
			}
		}
		s.await(task.ID, "the comment of the batch", func(v fairlead.TaskView) bool {
			return len(must(s.client.Comments(t.Context(), task.ID))(t)) == batch && v.Children.Open == 0
		})
	}
	s.replays(t, task.ID)
}

// E19: removing an occupied step is refused with the list; with a remap the tasks move and their visits say why.
func TestE19_RemovedStep(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		s.save(kanban)
		task := s.task("plain")
		s.move(task.ID, "b")
		smaller := "workflow: plain\nstart: a\nsteps:\n  - {key: a}\n  - {key: z, terminal: done}\n"
		_, err := s.client.SaveWorkflow(t.Context(), fairlead.WorkflowBody{Source: smaller})
		wants(t, "remove an occupied step", err, fairlead.CodeRefused)
		if !strings.Contains(err.Error()+asJSON(t, err), task.Identifier) {
			t.Errorf("the list is not in: %v", err)
		}
		must(s.client.SaveWorkflow(t.Context(), fairlead.WorkflowBody{Source: smaller, Remap: map[string]string{"b": "a"}}))(t)
		s.at(task.ID, "a")
		last := must(s.client.Transitions(t.Context(), task.ID))(t)
		if v := last[len(last)-1]; v.Reason != "remap" && last[0].Reason != "remap" {
			t.Errorf("the visit does not say why: %s", asJSON(t, last))
		}
		s.replays(t, task.ID)
	})
}
