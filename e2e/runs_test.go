package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

// R3: two tasks of one agent at nearly the same time: both run; coalescing never crosses tasks.
func TestR3_TwoTasksOfOneAgent(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.agent("calm", says)
	s.save(oneStep("calm"))
	a, b := s.task("one"), s.task("one")
	s.at(a.ID, "done")
	s.at(b.ID, "done")
	for _, id := range []string{a.ID, b.ID} {
		runs := must(s.client.TaskRuns(t.Context(), id))(t)
		if len(runs) != 1 || runs[0].Status != fairlead.RunSucceeded || runs[0].Absorbed != 0 {
			t.Errorf("runs: %s", asJSON(t, runs))
		}
	}
}

// R4: while the agent is busy, five comments are one run with five wakes, each in its prompt; one more in mid-turn is
// one further run. E15: none of a storm is lost.
func TestR4_E15_Coalescing(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		first, second := newGate(t), newGate(t)
		s := start(t, options{db: db})
		s.agent("busy", when("hold the agent", first.waits(""))+when("word 4", second.waits(says)))
		s.save("workflow: talk\nstart: a\nsteps:\n  - {key: a, agent: busy, on: {comment: [{queue_run: {to: primary}}]}}\n  - {key: z, terminal: done}\n")
		holder := s.task("talk")
		s.comment(holder.ID, "hold the agent")
		first.here(1)
		task := s.task("talk")
		for i := range 5 {
			s.comment(task.ID, fmt.Sprintf("word %d", i))
		}
		runs := must(s.client.TaskRuns(t.Context(), task.ID))(t)
		if len(runs) != 1 || runs[0].Absorbed != 4 || len(runs[0].Wakes) != 5 {
			t.Fatalf("runs: %s", asJSON(t, runs))
		}
		// R25: it says why it waits.
		if holds := must(s.client.Why(t.Context(), runs[0].ID))(t); len(holds) != 1 || holds[0].Kind != "agent_busy" || holds[0].Release == "" {
			t.Errorf("why: %s", asJSON(t, holds))
		}
		first.open()
		second.here(1)
		s.comment(task.ID, "in mid-turn")
		second.open()
		s.awaitRuns(task.ID, "two runs that ended well", func(runs []fairlead.RunView) bool {
			n := 0
			for _, r := range runs {
				if r.Status == fairlead.RunSucceeded {
					n++
				}
			}
			return n == 2
		})
		p := s.prompts(task.ID)
		if len(p) != 2 || strings.Contains(p[1], "word 4") || !strings.Contains(p[1], "in mid-turn") {
			t.Fatalf("prompts: %q", p)
		}
		for i := range 5 {
			if !strings.Contains(p[0], fmt.Sprintf("word %d", i)) {
				t.Errorf("word %d is not in the prompt", i)
			}
		}
		s.replays(t, task.ID)
	})
}

// when lets the first rule of a script answer only to prompts that hold a text.
func when(text, script string) string {
	return strings.Replace(script, "  - do:", "  - when: {prompt: "+quoted(text)+"}\n    do:", 1)
}

// R25: why names every hold in force, each with what releases it.
func TestR25_EveryHold(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.agent("calm", says, "labels: [gpu]")
	s.save(oneStep("calm"))
	s.save(kanban)
	blocker := s.task("plain")
	must(s.client.PauseAgent(t.Context(), "calm", fairlead.PauseBody{Reason: "tired"}))(t)
	client := s.as(must(s.client.AddToken(t.Context(), fairlead.TokenBody{Client: "ci"}))(t).Secret)
	task := must(client.CreateTask(t.Context(), fairlead.NewTask{Title: "held", Workflow: "one", BlockedBy: []string{blocker.ID}}))(t)
	runs := must(s.client.TaskRuns(t.Context(), task.ID))(t)
	var kinds []string
	for _, h := range must(s.client.Why(t.Context(), runs[0].ID))(t) {
		kinds = append(kinds, string(h.Kind))
		if h.Text == "" || h.Release == "" {
			t.Errorf("a hold without words: %s", asJSON(t, h))
		}
	}
	slices.Sort(kinds)
	if got := strings.Join(kinds, " "); got != "agent_paused blocked node_label" {
		t.Errorf("holds: %s", got)
	}
}

// R29: four people start four tasks of one agent that has one slot: all four run; what the engine wakes waits.
func TestR29_DirectLaunches(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		g := newGate(t)
		s := start(t, options{db: db, args: []string{"--workers", "6"}})
		s.agent("busy", g.waits(""))
		s.save("workflow: idle\nstart: a\nsteps:\n  - {key: a, agent: busy, on: {manual: {go: [{queue_run: {to: primary}}]}, turn_complete: [{move: {to: z}}]}}\n  - {key: z, terminal: done}\n")
		var tasks [4]fairlead.TaskView
		for i, who := range []string{"ann", "ben", "cleo", "dan"} {
			c := s.person(who)
			tasks[i] = s.task("idle")
			r := must(c.Start(t.Context(), tasks[i].ID, fairlead.StartBody{Message: "now, please"}))(t)
			if !r.Launched {
				t.Fatalf("start: %s", asJSON(t, r))
			}
		}
		g.here(4)
		waiting := s.task("idle")
		client := s.as(must(s.client.AddToken(t.Context(), fairlead.TokenBody{Client: "ci"}))(t).Secret)
		must(client.Trigger(t.Context(), waiting.ID, fairlead.TriggerBody{Kind: "manual", Key: "go"}, false))(t)
		runs := must(s.client.TaskRuns(t.Context(), waiting.ID))(t)
		holds := must(s.client.Why(t.Context(), runs[0].ID))(t)
		if runs[0].Status != fairlead.RunQueued || len(holds) == 0 || holds[0].Kind != "agent_busy" {
			t.Errorf("the engine's wake: %s", asJSON(t, runs))
		}
		g.open()
		for _, task := range append(tasks[:], waiting) {
			s.at(task.ID, "z")
		}
		if p := s.prompts(tasks[0].ID); !strings.Contains(p[0], "now, please") {
			t.Errorf("the message is not in the prompt: %q", p)
		}
	})
}

// R33: comment, run, the turn starts, the provider fails: the next try's prompt holds the comment. The same with kill -9
// right after the intent.
func TestR33_ContentInFlight(t *testing.T) {
	t.Parallel()
	t.Run("provider fails", func(t *testing.T) {
		t.Parallel()
		s := start(t, options{})
		s.agent("frail", "  - when: {prompt: 'precious', nth: 1}\n    do: [{fail: transient}]\n"+says)
		s.save("workflow: talk\nstart: a\nsteps:\n  - {key: a, agent: frail, on: {comment: [{queue_run: {to: primary}}]}}\n  - {key: z, terminal: done}\n")
		task := s.task("talk")
		s.comment(task.ID, "precious words")
		runs := s.awaitRuns(task.ID, "the failure", func(r []fairlead.RunView) bool {
			return len(r) == 1 && r[0].Attempt == 1 && r[0].Status == fairlead.RunQueued
		})
		must(s.client.RetryRun(t.Context(), runs[0].ID, fairlead.OpBody{}))(t)
		s.awaitRuns(task.ID, "the next try", func(r []fairlead.RunView) bool {
			return len(r) == 1 && r[0].Status == fairlead.RunSucceeded
		})
		if p := s.prompts(task.ID); len(p) != 2 || !strings.Contains(p[0], "precious") || !strings.Contains(p[1], "precious") {
			t.Errorf("prompts: %q", p)
		}
	})
	t.Run("kill -9", func(t *testing.T) {
		t.Parallel()
		g := newGate(t)
		s := start(t, options{})
		s.agent("busy", g.waits(""))
		s.save("workflow: talk\nstart: a\nsteps:\n  - {key: a, agent: busy, on: {comment: [{queue_run: {to: primary}}]}}\n  - {key: z, terminal: done}\n")
		task := s.task("talk")
		s.comment(task.ID, "precious words")
		g.here(1)
		s.kill()
		s = s.again(options{})
		g.here(2)
		g.open()
		s.awaitRuns(task.ID, "the end", func(r []fairlead.RunView) bool { return len(r) == 1 && r[0].Status == fairlead.RunSucceeded })
		if p := s.prompts(task.ID); !strings.Contains(p[len(p)-1], "precious") {
			t.Errorf("prompts: %q", p)
		}
	})
}

// R36: a comment is queued, the card is dragged to another step of the same agent: the comment is in the next prompt.
func TestR36_CommentSurvivesTheDrag(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.agent("calm", says)
	s.save(`workflow: drag
start: a
steps:
  - {key: a, agent: calm, on: {comment: [{queue_run: {to: primary}}]}}
  - {key: b, agent: calm, on: {enter: [{queue_run: {to: primary}}], turn_complete: [{move: {to: z}}]}}
  - {key: z, terminal: done}
`)
	must(s.client.PauseAgent(t.Context(), "calm", fairlead.PauseBody{}))(t)
	task := s.task("drag")
	s.comment(task.ID, "precious words")
	s.move(task.ID, "b")
	must(s.client.ResumeAgent(t.Context(), "calm", fairlead.PauseBody{}))(t)
	s.at(task.ID, "z")
	if p := s.prompts(task.ID); len(p) != 1 || !strings.Contains(p[0], "precious") {
		t.Errorf("prompts: %q", p)
	}
}
