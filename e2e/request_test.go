package e2e

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

// Q1, R26: answers in the same instant in which the requests are shown, often before the asking turn has ended, are
// never lost: every task comes to its end, and no session was ever served by two turns at a time.
func TestQ1_R26_AnsweredInTheSameInstant(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		const tasks = 60
		s := start(t, options{db: db, args: []string{"--workers", "8"}})
		s.agent("asker", asks, "parallel: 8")
		s.save(oneStep("asker"))
		ctx, cancel := context.WithCancel(t.Context())
		ready := make(chan struct{})
		var reader sync.WaitGroup
		reader.Go(func() { s.answerEverything(ctx, ready) })
		<-ready
		ids := make([]string, tasks)
		together(6, func(i int) {
			for n := i; n < tasks; n += 6 {
				ids[n] = s.task("one").ID
			}
		})
		for _, id := range ids {
			s.at(id, "done")
			if n := s.overlaps(id); n > 0 {
				t.Errorf("%s: two turns of one session at a time", id)
			}
			for _, p := range s.prompts(id)[1:] {
				if !strings.Contains(p, "at once") {
					t.Errorf("%s: the answer is not in the prompt %q", id, p)
				}
			}
			s.replays(t, id)
		}
		cancel()
		reader.Wait()
	})
}

// answerEverything answers each request as soon as its event comes.
func (s *server) answerEverything(ctx context.Context, ready chan<- struct{}) {
	for ev, err := range s.client.Events(ctx, "0-0", "inbox") {
		if err != nil {
			return
		}
		if ev.Reset {
			close(ready)
			continue
		}
		if ev.Kind != fairlead.EventRequestOpened {
			continue
		}
		id := field(s.t, ev.Data, "id")
		if _, err := s.client.Answer(ctx, id, fairlead.AnswerBody{Answer: fairlead.Answer{Text: "at once"}}); err != nil && ctx.Err() == nil {
			s.t.Errorf("answer %s: %v", id, err)
		}
	}
}

// overlaps counts turns of a task with one session that began before the one before had ended.
func (s *server) overlaps(task string) (n int) {
	s.t.Helper()
	live := 0
	for _, r := range s.journal(task) {
		switch r.Kind {
		case fairlead.RecordTurnStarted:
			if live++; live > 1 {
				n++
			}
		case fairlead.RecordTurnEnded:
			live--
		}
	}
	return n
}

// Q2: of twenty concurrent answers one wins, nineteen get a conflict that names it, and the asker is woken once.
func TestQ2_TwentyAnswers(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		s.agent("asker", asks)
		s.save(oneStep("asker"))
		ann := s.person("ann")
		for range 5 {
			task := s.task("one")
			r := s.awaitRequest(task.ID, fairlead.RequestQuestion)
			var mu sync.Mutex
			won, lost := "", 0
			together(20, func(i int) {
				text := strings.Repeat("x", i+1)
				_, err := []*client.Client{s.client, ann}[i%2].Answer(t.Context(), r.ID, fairlead.AnswerBody{Answer: fairlead.Answer{Text: text}})
				mu.Lock()
				defer mu.Unlock()
				var e *fairlead.Error
				switch {
				case err == nil && won == "":
					won = text
				case errors.As(err, &e) && e.Code == fairlead.CodeConflict && e.Reason == fairlead.ReasonResolved && e.Data["winner"] != nil:
					lost++
				default:
					t.Errorf("answer %d: %v", i, err)
				}
			})
			s.at(task.ID, "done")
			got := must(s.client.GetRequest(t.Context(), r.ID))(t)
			if lost != 19 || got.Answer == nil || got.Answer.Text != won {
				t.Errorf("%d lost, won %q, recorded %s", lost, won, asJSON(t, got.Answer))
			}
			if n := s.kinds(task.ID); n[fairlead.RecordRequestResolved] != 1 || n[fairlead.RecordTurnStarted] != 2 {
				t.Errorf("records: %v", n)
			}
		}
	})
}

// Q4: three requests of one task, answered in reverse order with a kill in between each: the siblings stay byte for
// byte what they were, and all three answers reach the asker in one prompt.
func TestQ4_ReverseOrderWithRestarts(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	s.agent("asker", `
  - when: {prompt: 'request \S+ was'}
    do: [{say: thanks}]
  - do: [{ask: {questions: [{prompt: one?}, {prompt: two?, kind: choice, options: [{id: a, label: A}, {id: b, label: B}]}, {prompt: three?}]}}]
`)
	s.save(oneStep("asker"))
	task := s.task("one")
	s.awaitRuns(task.ID, "parked", func(runs []fairlead.RunView) bool { return runs[0].Status == fairlead.RunParked })
	open := map[string]fairlead.RequestView{}
	for _, r := range s.requests(task.ID) {
		open[r.Prompt] = r
	}
	if len(open) != 3 {
		t.Fatalf("requests: %s", asJSON(t, open))
	}
	for _, next := range []struct {
		prompt string
		answer fairlead.Answer
	}{{"three?", fairlead.Answer{Text: "third answer"}}, {"two?", fairlead.Answer{Option: "b"}}, {"one?", fairlead.Answer{Text: "first answer"}}} {
		s.kill()
		s = s.again(options{})
		for _, r := range open {
			if got := must(s.client.GetRequest(t.Context(), r.ID))(t); asJSON(t, got) != asJSON(t, r) {
				t.Errorf("an open sibling changed: %s, was %s", asJSON(t, got), asJSON(t, r))
			}
		}
		must(s.client.Answer(t.Context(), open[next.prompt].ID, fairlead.AnswerBody{Answer: next.answer}))(t)
		delete(open, next.prompt)
		if v := s.show(task.ID); len(open) > 0 && v.Step != "work" {
			t.Errorf("it moved with questions open: %s", v.Step)
		}
	}
	s.at(task.ID, "done")
	p := s.prompts(task.ID)
	if len(p) != 2 || !strings.Contains(p[1], "first answer") || !strings.Contains(p[1], "third answer") || !strings.Contains(p[1], "b") {
		t.Errorf("prompts: %q", p)
	}
}

// Q6: GET and HEAD on every URL that could stand in a notification decide nothing and change no row.
func TestQ6_ReadingDecidesNothing(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		s.save(heavy)
		task := s.task("heavy")
		s.move(task.ID, "b")
		r := s.awaitRequest(task.ID, fairlead.RequestApproval)
		before := s.dump(db)
		of, req := "/api/v1/tasks/"+task.ID, "/api/v1/requests/"+r.ID
		for _, path := range []string{
			req, req + "/answer", req + "/answer?verdict=approve", req + "?verdict=approve", "/api/v1/requests?state=open", "/api/v1/inbox",
			of, of + "/move?step=z", of + "/decisions?verdict=approve", of + "/archive", of + "/start", of + "/stop", of + "/quorum", of + "/journal",
			of + "/triggers?kind=manual&key=all", of + "/comments", of + "/runs", of + "/sessions", of + "/transitions", "/api/v1/runs",
			"/api/v1/agents/coder/pause", "/api/v1/workflows/heavy", "/openapi.json", "/metrics",
		} {
			for _, method := range []string{"GET", "HEAD"} {
				if a := s.raw(call{method: method, path: path}); a.status >= 500 {
					t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
				}
			}
		}
		if after := s.dump(db); after != before {
			t.Errorf("reading changed rows:\n%s", rowsChanged(before, after))
		}
	})
}
