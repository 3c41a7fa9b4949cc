package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

// oneStep is a workflow on which an agent works once.
func oneStep(agent string) string {
	return `workflow: one
start: work
steps:
  - key: work
    agent: ` + agent + `
    on:
      enter: [{queue_run: {to: primary}}]
      comment: [{queue_run: {to: primary}}]
      turn_complete: [{move: {to: done}}]
      agent_error: [{inbox_item: {kind: agent_error}}]
  - {key: other}
  - {key: done, terminal: done}
`
}

// reborn checks that within ten seconds of its start the server shows nothing as running that has no executor here.
func (s *server) reborn() {
	s.t.Helper()
	poll(s.t, "an honest list of runs", 10*time.Second, func() bool {
		for _, status := range []string{"claimed", "running", "stopping"} {
			p := must(s.client.ListRuns(s.t.Context(), client.RunQuery{Status: status}))(s.t)
			for _, r := range p.Items {
				if !s.mine(r.Node) {
					return false
				}
			}
		}
		return true
	})
}

func (s *server) mine(node string) bool {
	for _, n := range must(s.client.ListNodes(s.t.Context()))(s.t) {
		if n.ID == node {
			return n.PID == s.cmd.Process.Pid && n.DeadAt == nil
		}
	}
	return false
}

// R11: kill -9 with a run queued: it is queued after the start, and runs when what holds it is gone.
func TestR11_KilledWhileQueued(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.agent("calm", says)
	s.save(oneStep("calm"))
	must(s.client.PauseAgent(t.Context(), "calm", fairlead.PauseBody{}))(t)
	task := s.task("one")
	was := must(s.client.TaskRuns(t.Context(), task.ID))(t)
	s.kill()
	s = s.again(options{})
	s.reborn()
	is := must(s.client.TaskRuns(t.Context(), task.ID))(t)
	if len(is) != 1 || is[0].ID != was[0].ID || is[0].Status != fairlead.RunQueued {
		t.Fatalf("was %s, is %s", asJSON(t, was), asJSON(t, is))
	}
	must(s.client.ResumeAgent(t.Context(), "calm", fairlead.PauseBody{}))(t)
	s.at(task.ID, "done")
}

// R11: kill -9 with a run running: after the start the same run goes on, without an attempt burned, and stop works.
// A23: nothing of the tree outlives the server. R38: a start right after the kill claims nothing before the old tree is
// dead.
func TestR11_R38_A23_KilledWhileRunning(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		g := newGate(t)
		s := start(t, options{db: db})
		s.agent("busy", g.waits(""))
		s.save(oneStep("busy"))
		task := s.task("one")
		const deaths = 2 // the third in a row counts as a failure
		for n := 1; n <= deaths; n++ {
			g.here(n)
			s.kill()
			if n%2 == 0 {
				poll(t, "the end of the tree without a server", 5*time.Second, func() bool { return len(s.marked()) == 0 })
			}
			s = s.again(options{db: db})
			s.reborn()
		}
		g.here(deaths + 1)
		if n := g.count("overlap"); n > 0 {
			t.Errorf("%d times the old tree was alive when the work went on", n)
		}
		g.open()
		s.at(task.ID, "done")
		runs := must(s.client.TaskRuns(t.Context(), task.ID))(t)
		if len(runs) != 1 || runs[0].Attempt != 0 || runs[0].Status != fairlead.RunSucceeded {
			t.Errorf("runs: %s", asJSON(t, runs))
		}
		if n := g.count("through"); n != 1 {
			t.Errorf("the tool call ended %d times", n)
		}
		poll(t, "the end of the tree", 5*time.Second, func() bool { return len(s.marked()) == 0 })
		s.replays(t, task.ID)
	})
}

// Three interruptions in a row of one assignment are a failure: the run climbs the ladder, which none of them alone did.
func TestR11_ThirdInterruptionIsAFailure(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	s := start(t, options{})
	s.agent("busy", g.waits(""))
	s.save(oneStep("busy"))
	task := s.task("one")
	for n := 1; n <= 3; n++ {
		g.here(n)
		s.kill()
		s = s.again(options{})
	}
	runs := s.awaitRuns(task.ID, "the failure", func(r []fairlead.RunView) bool { return len(r) == 1 && r[0].Attempt == 1 })
	log := must(s.client.RunEvents(t.Context(), runs[0].ID, 0))(t)
	var failed []any
	for _, v := range log.Items {
		if v.Kind == fairlead.RunEventAttemptFailed {
			failed = append(failed, v.Data["class"])
		}
	}
	if len(failed) != 1 || failed[0] != string(fairlead.ClassInterrupted) || runs[0].Status != fairlead.RunQueued {
		t.Errorf("the run is %s after failures %v", runs[0].Status, failed)
	}
	// The next try goes on with the turn: the agent has not failed, and what it has done is not done again.
	must(s.client.RetryRun(t.Context(), runs[0].ID, fairlead.OpBody{}))(t)
	g.here(4)
	g.open()
	s.at(task.ID, "done")
	calls := map[string]bool{}
	for _, r := range s.journal(task.ID) {
		if r.Kind == fairlead.RecordEffectIntent {
			var d struct{ Call string }
			if err := json.Unmarshal(r.Data, &d); err != nil {
				t.Fatal(err)
			}
			calls[d.Call] = true
		}
	}
	if len(calls) != 1 {
		t.Errorf("the four tries made the calls %v, want one and the same", calls)
	}
}

// R11: stop works on a run that went on after a kill. A23: stop and archive leave no process, though the children have
// left their session.
func TestR11_A23_StopAndArchive(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *server, task string) error{
		"stop": func(s *server, task string) error {
			_, err := s.client.Stop(s.t.Context(), task, fairlead.OpBody{})
			return err
		},
		"archive": func(s *server, task string) error {
			_, err := s.client.Archive(s.t.Context(), task, fairlead.OpBody{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate(t)
			s := start(t, options{})
			s.agent("busy", g.waits(""))
			s.save(oneStep("busy"))
			task := s.task("one")
			g.here(1)
			s.kill()
			s = s.again(options{})
			g.here(2)
			if err := end(s, task.ID); err != nil {
				t.Fatal(err)
			}
			poll(t, "the end of the tree", 5*time.Second, func() bool { return len(s.marked()) == 0 })
			s.awaitRuns(task.ID, "the end of the run", func(runs []fairlead.RunView) bool { return runs[0].FinishedAt != nil })
			s.await(task.ID, "a free tree", func(v fairlead.TaskView) bool { return v.Checkout == nil })
		})
	}
}

// R11: kill -9 with an assignment parked: the same request is open after the start, and its answer is the next prompt.
func TestR11_KilledWhileParked(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.agent("asker", asks)
	s.save(oneStep("asker"))
	task := s.task("one")
	was := s.awaitRequest(task.ID, fairlead.RequestQuestion)
	s.awaitRuns(task.ID, "parked", func(runs []fairlead.RunView) bool { return runs[0].Status == fairlead.RunParked })
	s.kill()
	s = s.again(options{})
	s.reborn()
	is := must(s.client.GetRequest(t.Context(), was.ID))(t)
	if asJSON(t, is) != asJSON(t, was) || is.State != fairlead.RequestOpen {
		t.Errorf("the request is %s", asJSON(t, is))
	}
	must(s.client.Answer(t.Context(), was.ID, fairlead.AnswerBody{Answer: fairlead.Answer{Text: "the blue one"}}))(t)
	s.at(task.ID, "done")
	if p := s.prompts(task.ID); len(p) != 2 || !strings.Contains(p[1], "the blue one") {
		t.Errorf("prompts: %q", p)
	}
}

// asks is a script that asks once and is content with any answer.
const asks = `
  - when: {prompt: 'request \S+ was'}
    do: [{say: thanks}]
  - do: [{ask: {questions: [{prompt: which?}]}}]
`

// R23: a second server on the same home refuses with a clear message and leaves the first one alone.
func TestR23_SecondServer(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	second, err := launch(t, options{home: s.home})
	if err == nil || second.code != 4 {
		t.Fatalf("the second server: %v", err)
	}
	if text := err.Error(); !strings.Contains(text, "another fairlead server uses") || !strings.Contains(text, "→") {
		t.Errorf("not clear: %s", text)
	}
	if err := s.client.Ready(t.Context()); err != nil {
		t.Errorf("the first server: %v", err)
	}
}

// prompts are the prompts of a task's turns, in order.
func (s *server) prompts(task string) (texts []string) {
	s.t.Helper()
	for _, r := range s.journal(task) {
		if r.Kind == fairlead.RecordTurnStarted {
			texts = append(texts, field(s.t, r.Data, "prompt"))
		}
	}
	return texts
}
