package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

// together runs n calls at the same instant.
func together(n int, fn func(i int)) {
	var begin, done sync.WaitGroup
	begin.Add(1)
	for i := range n {
		done.Go(func() {
			begin.Wait()
			fn(i)
		})
	}
	begin.Done()
	done.Wait()
}

// TestProperty3_4_TwoHundredAtOnce sends 200 decisions, moves, triggers and comments on one task at once, each twice
// under its operation id: one outcome each, as some serial order would give it, and the journal replays to the very
// state. Then all of them again: nothing changes any more.
func TestProperty3_4_TwoHundredAtOnce(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		voters := map[string]string{}
		for _, p := range []string{"ann", "ben", "cleo"} {
			s.person(p)
			voters[p] = must(s.client.AddToken(t.Context(), fairlead.TokenBody{Person: p}))(t).Secret
		}
		s.workflows("busy")
		task := s.task("busy")
		calls := storm(task.ID, voters)
		first := make([]answer, 2*len(calls))
		together(len(first), func(i int) { first[i] = s.raw(calls[i%len(calls)]) })
		s.checkStorm(t, task.ID, first, len(calls))
		f := s.replays(t, task.ID)
		for i, c := range calls { // again, one after the other
			a, b := first[i], first[i+len(calls)]
			again := s.raw(c)
			if a.status < 300 && again.body != a.body || b.status < 300 && again.body != b.body {
				t.Errorf("call %d again: %s, first %s", i, cut(again.body), cut(a.body))
			}
			if again.status < 300 && a.status >= 300 && b.status >= 300 {
				break // a refused one may be carried out now: from here on the task changes
			}
		}
		if t.Failed() {
			t.Logf("the journal has %d records", f.Seq)
		}
		s.replays(t, task.ID)
	})
}

// storm is a fixed mix of 200 commands.
func storm(task string, voters map[string]string) []call {
	random := rand.New(rand.NewPCG(7, 11)) // the same mix in each run
	of := "/api/v1/tasks/" + task
	calls := make([]call, 200)
	for i := range calls {
		op := fmt.Sprintf("storm-%d", i)
		c := call{method: "POST"}
		switch random.IntN(10) {
		case 0, 1, 2, 3:
			who := []string{"ann", "ben", "cleo"}[random.IntN(3)]
			verdict := []string{"approve", "approve", "approve", "reject", "comment"}[random.IntN(5)]
			c.path, c.token = of+"/decisions", "Bearer "+voters[who]
			c.body = fmt.Sprintf(`{"verdict":%q,"note":"vote %d","op":%q}`, verdict, i, op)
		case 4, 5:
			c.path, c.body = of+"/move", fmt.Sprintf(`{"step":"review","note":"move %d","op":%q}`, i, op)
		case 6:
			c.path, c.body = of+"/move", fmt.Sprintf(`{"step":"work","op":%q}`, op)
		case 7:
			c.path, c.body = of+"/triggers", fmt.Sprintf(`{"kind":"manual","key":"mark","payload":{"label":"m%d"},"op":%q}`, i, op)
		case 8:
			c.path, c.body = of+"/triggers", fmt.Sprintf(`{"kind":"manual","key":"go","op":%q}`, op)
		default:
			c.path, c.body = of+"/comments", fmt.Sprintf(`{"text":"word %d","op":%q}`, i, op)
		}
		calls[i] = c
	}
	return calls
}

// checkStorm compares what the callers heard with what the task's ledger says.
func (s *server) checkStorm(t *testing.T, task string, heard []answer, n int) {
	t.Helper()
	var decisions, comments, moves int
	for i := range n {
		a, b := heard[i], heard[i+n]
		for _, x := range []answer{a, b} {
			if x.status >= 300 && (x.status < 400 || x.status >= 500) {
				t.Fatalf("call %d: %d %s", i, x.status, x.body)
			}
		}
		if a.status < 300 && b.status < 300 && a.body != b.body {
			t.Errorf("call %d has two results:\n%s\n%s", i, cut(a.body), cut(b.body))
		}
		if a.status >= 300 {
			a = b
		}
		if a.status >= 300 {
			continue // refused both times: no effect
		}
		if strings.Contains(a.body, `"moved":true`) {
			moves++
		}
		if strings.Contains(a.body, `"decision":"`) {
			decisions++
		}
		if a.status == http.StatusCreated {
			comments++
		}
	}
	kinds := s.kinds(task)
	if got := len(must(s.client.Comments(t.Context(), task))(t)); got != comments {
		t.Errorf("%d comments, %d were accepted", got, comments)
	}
	if kinds[fairlead.RecordDecision] != decisions {
		t.Errorf("%d decisions on record, %d were accepted", kinds[fairlead.RecordDecision], decisions)
	}
	visits := must(s.client.Transitions(t.Context(), task))(t)
	if len(visits) != moves+1 {
		t.Errorf("%d visits, %d moves were told", len(visits), moves)
	}
	if moves == 0 || decisions == 0 || comments == 0 {
		t.Errorf("the storm did nothing: %d moves, %d decisions, %d comments", moves, decisions, comments)
	}
	for i, v := range slices.Backward(visits) {
		if i > 0 && v.Visit == visits[i-1].Visit {
			t.Errorf("visit %d is there twice", v.Visit)
		}
	}
}

// E29: two last votes at the same instant are counted together and move the task once. E7: the last one moves at once.
func TestE29_LastVotesAtOnce(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		voters := []*client.Client{s.person("ann"), s.person("ben"), s.person("cleo")}
		s.workflows("busy")
		for range 15 {
			task := s.task("busy")
			s.move(task.ID, "review")
			outcomes := make([]fairlead.Outcome, len(voters))
			together(len(voters), func(i int) {
				var err error
				if outcomes[i], err = voters[i].Decide(t.Context(), task.ID, fairlead.DecisionBody{Verdict: "approve"}); err != nil {
					t.Errorf("vote %d: %v", i, err)
				}
			})
			moved := 0
			for _, o := range outcomes {
				if o.Moved {
					moved++
				}
			}
			if v := s.show(task.ID); v.Step != "done" || v.Visit != 3 || moved != 1 {
				t.Fatalf("at %s, visit %d, %d of the votes moved it", v.Step, v.Visit, moved)
			}
			s.replays(t, task.ID)
		}
	})
}

// E13: 50 concurrent opposite decisions of one seat: each is recorded once or refused, one of them is effective, and the
// move happens once.
func TestE13_OppositeDecisions(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		ann := s.person("ann")
		s.person("ben")
		s.person("cleo")
		s.workflows("busy")
		task := s.task("busy")
		s.move(task.ID, "review")
		before := audits(s.dump(db))
		var mu sync.Mutex
		accepted, refused, moved := 0, 0, 0
		together(50, func(i int) {
			verdict := []string{"approve", "reject"}[i%2]
			o, err := ann.Decide(t.Context(), task.ID, fairlead.DecisionBody{Verdict: verdict, Visit: 2, Round: 1})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				accepted++
				if o.Moved {
					moved++
				}
			case fairlead.IsCode(err, fairlead.CodeConflict):
				refused++
			default:
				t.Errorf("decide: %v", err)
			}
		})
		if accepted+refused != 50 || moved != 1 || accepted == 0 {
			t.Errorf("accepted %d, refused %d, moved %d", accepted, refused, moved)
		}
		if got := s.kinds(task.ID)[fairlead.RecordDecision]; got != accepted {
			t.Errorf("%d decisions on record, want %d", got, accepted)
		}
		if v := s.show(task.ID); v.Step != "work" || v.Visit != 3 {
			t.Errorf("at %s, visit %d", v.Step, v.Visit)
		}
		if got := audits(s.dump(db)) - before; got != refused {
			t.Errorf("%d audit rows for %d refusals", got, refused)
		}
		// E14: a decision for the visit that has ended is a conflict without effect.
		_, err := ann.Decide(t.Context(), task.ID, fairlead.DecisionBody{Verdict: "approve", Visit: 2})
		wants(t, "decide on an earlier visit", err, fairlead.CodeConflict)
		s.replays(t, task.ID)
	})
}

// E4: the same operation id twice, in parallel and after a restart, is one effect with the same result; another body
// under it is refused; a refusal is not remembered.
func TestE4_OperationIDs(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		s.save(kanban)
		create := call{method: "POST", path: "/api/v1/tasks", body: `{"title":"once","workflow":"plain","op":"create"}`}
		made := make([]answer, 20)
		together(len(made), func(i int) { made[i] = s.raw(create) })
		for _, a := range made {
			if a.status != 201 || a.body != made[0].body {
				t.Fatalf("create: %d %s, first %s", a.status, a.body, made[0].body)
			}
		}
		task := must(s.client.ListTasks(t.Context(), client.TaskQuery{Workflow: "plain"}))(t).Items[0]
		early := call{method: "POST", path: "/api/v1/tasks/" + task.ID + "/triggers", body: `{"kind":"manual","key":"reopen","op":"early"}`}
		s.refused(t, early, 422, "refused")
		move := call{method: "POST", path: "/api/v1/tasks/" + task.ID + "/move", body: `{"step":"b"}`, header: map[string]string{"Idempotency-Key": "move"}}
		moved := s.raw(move)
		s.kill()
		s = s.again(options{db: db})
		for _, c := range []struct {
			call call
			was  answer
		}{{create, made[0]}, {move, moved}} {
			if a := s.raw(c.call); a.status != c.was.status || a.body != c.was.body {
				t.Errorf("again after kill -9: %d %s, first %d %s", a.status, a.body, c.was.status, c.was.body)
			}
		}
		s.refused(t, call{method: "POST", path: "/api/v1/tasks", body: `{"title":"other","workflow":"plain","op":"create"}`}, 422, "op_reused")
		s.refused(t, call{method: "POST", path: move.path, body: `{"step":"z","op":"move"}`}, 422, "op_reused")
		s.refused(t, call{method: "POST", path: early.path, body: `{"kind":"manual","key":"go","op":"create"}`}, 422, "op_reused")
		// The cause mended, the same id is carried out.
		s.save(strings.Replace(kanban, "{key: b}", "{key: b, on: {manual: {reopen: [{move: {to: a}}]}}}", 1))
		must(s.client.Repin(t.Context(), task.ID, fairlead.RepinBody{}))(t)
		if a := s.raw(early); a.status != 200 {
			t.Errorf("the refused operation, mended: %d %s", a.status, a.body)
		}
		if v := s.show(task.ID); v.Step != "a" || v.Visit != 3 {
			t.Errorf("at %s, visit %d", v.Step, v.Visit)
		}
		s.replays(t, task.ID)
	})
}

// audits is the number of audit rows in a dump.
func audits(dump string) (n int) {
	for line := range strings.Lines(dump) {
		if _, err := fmt.Sscanf(line, "# audit %d", &n); err == nil {
			return n
		}
	}
	return -1
}
