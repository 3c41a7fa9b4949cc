package e2e

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

// E20: a step is edited while a run is live on it: the visit keeps its version; repin moves it; the next visit has the
// new one.
func TestE20_EditedUnderALiveRun(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	s := start(t, options{})
	s.agent("busy", g.waits(""))
	s.save(oneStep("busy"))
	a, b := s.task("one"), s.task("one")
	g.here(1)
	s.save(strings.ReplaceAll(oneStep("busy"), "move: {to: done}", "move: {to: other}"))
	if v := s.show(a.ID); v.WorkflowVersion != 1 {
		t.Errorf("the visit moved to version %d", v.WorkflowVersion)
	}
	must(s.client.Repin(t.Context(), b.ID, fairlead.RepinBody{}))(t)
	if v := s.show(b.ID); v.WorkflowVersion != 2 || v.Visit != 1 {
		t.Errorf("repinned: version %d, visit %d", v.WorkflowVersion, v.Visit)
	}
	g.open()
	s.at(a.ID, "done")
	s.at(b.ID, "other")
	s.replays(t, b.ID)
}

// E21: with WIP 2, five tasks stand at the step, two are worked on, three say wip; the order is priority, then entry.
func TestE21_WIP(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		g := newGate(t)
		s := start(t, options{db: db, args: []string{"--workers", "8"}})
		s.agent("busy", g.waits(""), "parallel: 8")
		s.save(strings.Replace(oneStep("busy"), "  - key: work\n", "  - key: work\n    wip: 2\n", 1))
		var tasks []fairlead.TaskView
		for _, p := range []fairlead.Priority{"low", "low", "low", "medium", "urgent"} {
			tasks = append(tasks, s.task("one", func(n *fairlead.NewTask) { n.Priority = p }))
			if len(tasks) == 2 {
				g.here(2)
			}
		}
		var places []string
		for i, task := range tasks[2:] {
			v := s.show(task.ID)
			runs := must(s.client.TaskRuns(t.Context(), task.ID))(t)
			holds := must(s.client.Why(t.Context(), runs[0].ID))(t)
			if v.Step != "work" || len(holds) != 1 || holds[0].Kind != "wip" {
				t.Fatalf("task %d at %s: %s", i, v.Step, asJSON(t, holds))
			}
			places = append(places, asJSON(t, holds[0].Data))
		}
		if places[0] == places[1] || places[1] == places[2] {
			t.Errorf("no places in line: %s", places)
		}
		g.open()
		for _, task := range tasks {
			s.at(task.ID, "done")
		}
		claimed := func(i int) string {
			return must(s.client.TaskRuns(t.Context(), tasks[i].ID))(t)[0].ClaimedAt.Format("2006-01-02T15:04:05.000000000")
		}
		if claimed(4) > claimed(3) || claimed(3) > claimed(2) {
			t.Errorf("not by priority: urgent %s, medium %s, low %s", claimed(4), claimed(3), claimed(2))
		}
	})
}

// E22: the completion is recorded, then the turn fails with a rate limit: the step advances once.
func TestE22_CompletedThenFailed(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.agent("frail", `
  - do:
      - tool: {name: step_complete_fairlead, args: {summary: all done}}
      - fail: {class: limited, message: too many requests}
`)
	s.save(strings.Replace(oneStep("frail"), "  - key: work\n", "  - key: work\n    complete: signal\n", 1))
	task := s.task("one")
	v := s.at(task.ID, "done")
	if v.Visit != 2 {
		t.Errorf("visit %d", v.Visit)
	}
	s.replays(t, task.ID)
}

// E23: a turn ends without the signal its step wants: the task stays, and that is visible.
func TestE23_NoSignal(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.agent("calm", says)
	s.save(strings.Replace(oneStep("calm"), "  - key: work\n", "  - key: work\n    complete: signal\n", 1))
	task := s.task("one")
	runs := s.awaitRuns(task.ID, "the end of the turn", func(r []fairlead.RunView) bool { return r[0].FinishedAt != nil })
	v := s.show(task.ID)
	in := must(s.client.Inbox(t.Context(), ""))(t)
	if v.Step != "work" || v.State != fairlead.StateWaiting || runs[0].Outcome != "yielded" || len(in.Notices) != 1 || in.Notices[0].Kind != "no_signal" {
		t.Errorf("at %s, %s, outcome %q, notices %s", v.Step, v.State, runs[0].Outcome, asJSON(t, in.Notices))
	}
}

// E28: a person moves the task while a run is live: the run is told to stop, the next visit's run begins only when the
// tree is dead, and a late signal changes nothing.
func TestE28_MovedUnderALiveRun(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		g := newGate(t)
		s := start(t, options{db: db})
		s.agent("busy", g.waits("      - tool: {name: step_complete_fairlead}\n"))
		s.agent("next", "  - do:\n      - tool: {name: shell, args: {command: "+quoted("for p in $(cat "+g.dir+"/pids); do kill -0 $p 2>/dev/null && echo $p >> "+g.dir+"/overlap; done; true")+"}}\n")
		s.save(`workflow: dragged
start: a
steps:
  - {key: a, agent: busy, complete: signal, on: {enter: [{queue_run: {to: primary}}], turn_complete: [{move: {to: x}}]}}
  - {key: b, agent: next, on: {enter: [{queue_run: {to: primary}}], turn_complete: [{move: {to: z}}]}}
  - {key: x}
  - {key: z, terminal: done}
`)
		task := s.task("dragged")
		g.here(1)
		s.move(task.ID, "b")
		v := s.at(task.ID, "z")
		if v.Visit != 3 || g.count("overlap") != 0 || g.count("through") != 0 {
			t.Errorf("visit %d, %d overlaps, %d late", v.Visit, g.count("overlap"), g.count("through"))
		}
		runs := must(s.client.TaskRuns(t.Context(), task.ID))(t)
		for _, r := range runs {
			if r.Visit == 1 && r.Status != fairlead.RunSuperseded {
				t.Errorf("the old visit's run is %s", r.Status)
			}
		}
		poll(t, "the end of the tree", deadline, func() bool { return len(s.marked()) == 0 })
		s.replays(t, task.ID)
	})
}

// E30: a trigger whose move holds comes while a blocking request is open: it is put aside, and the answer replays it.
func TestE30_PutAside(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		s.save(`workflow: aside
start: a
steps:
  - key: a
    on:
      enter: [{request_approval: {of: "person:owner"}}]
      manual: {go: [{set: {add_labels: [went]}}, {move: {to: b}}]}
  - {key: b}
  - {key: z, terminal: done}
`)
		task := s.task("aside")
		r := s.awaitRequest(task.ID, fairlead.RequestApproval)
		o := must(s.client.Trigger(t.Context(), task.ID, fairlead.TriggerBody{Kind: "manual", Key: "go"}, false))(t)
		v := s.show(task.ID)
		if o.Moved || !o.Deferred || v.Step != "a" || len(v.Labels) != 1 {
			t.Fatalf("put aside: %s at %s, labels %v", asJSON(t, o), v.Step, v.Labels)
		}
		s.kill()
		s = s.again(options{db: db})
		must(s.client.Answer(t.Context(), r.ID, fairlead.AnswerBody{Answer: fairlead.Answer{Verdict: "approve"}}))(t)
		if v := s.show(task.ID); v.Step != "b" || v.Visit != 2 {
			t.Errorf("after the answer at %s, visit %d", v.Step, v.Visit)
		}
		s.replays(t, task.ID)
		// E40: a person's move past an open request supersedes what was put aside.
		other := s.task("aside")
		s.awaitRequest(other.ID, fairlead.RequestApproval)
		must(s.client.Trigger(t.Context(), other.ID, fairlead.TriggerBody{Kind: "manual", Key: "go"}, false))(t)
		s.move(other.ID, "z")
		if v := s.show(other.ID); v.Step != "z" || len(v.OpenRequests) != 0 {
			t.Errorf("after the person's move at %s, open %v", v.Step, v.OpenRequests)
		}
		s.replays(t, other.ID)
	})
}

// E9: the round is rejected while a voter's turn is still open, in one variant with a kill -9 in between: in the next
// round the voter is asked anew and votes anew; what is left of its old turn does not count for it.
func TestE9_RejectedUnderAnOpenTurn(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]bool{"stopped": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate(t)
			s := start(t, options{})
			s.agent("voter", "  - do:\n      - tool: {name: record_decision_fairlead, args: {verdict: approve}}\n      - tool: {name: shell, args: {command: "+quoted(g.wait())+"}}\n")
			s.save(`workflow: rounds
start: work
steps:
  - {key: work}
  - key: review
    participants: [{role: reviewer, agent: voter}, {role: reviewer, person: owner}]
    on:
      decision:
        - move: {to: work, if: 'quorum("reviewer", "any_reject")'}
        - move: {to: done, if: 'quorum("reviewer", "all_approve")'}
  - {key: done, terminal: done}
`)
			task := s.task("rounds")
			for round := 1; round <= 2; round++ {
				s.move(task.ID, "review")
				g.here(round)
				if kill {
					s.kill()
					s = s.again(options{})
				}
				must(s.client.Decide(t.Context(), task.ID, fairlead.DecisionBody{Verdict: "reject"}))(t)
			}
			g.open()
			s.move(task.ID, "review")
			s.await(task.ID, "the voter's vote", func(v fairlead.TaskView) bool {
				for _, x := range v.Seats {
					if x.Agent == "voter" && x.Verdict == fairlead.VerdictApproved {
						return true
					}
				}
				return false
			})
			must(s.client.Decide(t.Context(), task.ID, fairlead.DecisionBody{Verdict: "approve"}))(t)
			s.at(task.ID, "done")
			s.replays(t, task.ID)
		})
	}
}
