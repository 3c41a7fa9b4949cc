package control

import (
	"encoding/json"
	"strconv"
	"sync"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

func TestQ2_TwentyAnswersHaveOneWinner(t *testing.T) {
	t.Parallel()
	const people = 20
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		for i := range people {
			_, err := d.c.AddPerson(t.Context(), owner(), fairlead.KeyNameBody{Key: "p" + strconv.Itoa(i)})
			d.must(err)
		}
		task := d.task("asking")
		k := d.turn()
		q := d.ask(k, "Who is first?")
		d.end(k)
		errs := make([]error, people)
		var all sync.WaitGroup
		for i := range people {
			all.Go(func() {
				key := "p" + strconv.Itoa(i)
				_, errs[i] = d.c.Answer(t.Context(), asPerson(key), q.ID, fairlead.AnswerBody{Answer: fairlead.Answer{Text: key}})
			})
		}
		all.Wait()
		won := d.oneWake(task.ID)["text"].(string)
		losers := 0
		for i, err := range errs {
			if err == nil {
				if won != "p"+strconv.Itoa(i) {
					t.Errorf("p%d was told that it won, but %s did", i, won)
				}
				continue
			}
			losers++
			e := refused(t, err, fairlead.CodeConflict)
			winner, _ := e.Data["winner"].(map[string]any)
			if e.Reason != fairlead.ReasonResolved || winner["by"] != fairlead.Person(won) || winner["answer"].(fairlead.Answer).Text != won {
				t.Errorf("got reason %s and winner %v, want %s", e.Reason, winner, won)
			}
		}
		if losers != people-1 {
			t.Errorf("got %d conflicts, want %d", losers, people-1)
		}
		if n := d.audits("answer request"); n != people-1 {
			t.Errorf("got %d audit rows, want one a loser", n)
		}
	})
}

func TestQ3_AnApprovalIsHeardByTheWorkflow(t *testing.T) {
	t.Parallel()
	const source = `
workflow: gate
name: Gate
start: gate
steps:
  - key: gate
    name: Gate
    agent: coder
    on:
      enter: [{request_approval: {of: "person:owner", prompt: "Ship it?"}}]
      approval_resolved:
        - queue_run: {to: primary, reason: revised}
        - move: {to: done, if: "approval.granted"}
        - move: {to: back, if: "approval.rejected"}
  - {key: back, name: Back}
  - {key: done, name: Done, terminal: done}
`
	for _, x := range []struct {
		answer  fairlead.Answer
		verdict string
		step    string
	}{
		{fairlead.Answer{Verdict: "approve"}, "approved", "done"},
		{fairlead.Answer{Verdict: "reject", Text: "no"}, "rejected", "back"},
		{fairlead.Answer{Verdict: "revise", Text: "smaller"}, "revise", "gate"},
		{fairlead.Answer{Decline: true, Text: "not mine"}, "declined", "gate"},
	} {
		t.Run(x.verdict, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				d := newDesk(t, db)
				d.save(source)
				task := d.task("gate")
				open := d.open(task.ID)
				if len(open) != 1 || open[0].Kind != fairlead.RequestApproval || d.see(task.ID).State != fairlead.StateNeedsYou {
					t.Fatalf("got open requests %+v", open)
				}
				d.again().answer(open[0].ID, x.answer)
				if v := d.see(task.ID); v.Step != x.step || len(v.OpenRequests) != 0 {
					t.Errorf("got step %s with open requests %v, want %s", v.Step, v.OpenRequests, x.step)
				}
				if x.step != "gate" {
					return
				}
				runs := d.queued(task.ID)
				if len(runs) != 1 || len(runs[0].Wakes) != 1 {
					t.Fatalf("got runs %+v, want one with one wake", runs)
				}
				p := runs[0].Wakes[0].Payload
				if p["verdict"] != x.verdict || p["text"] != x.answer.Text {
					t.Errorf("got the payload %v, want verdict %s with its text", p, x.verdict)
				}
			})
		})
	}
}

func TestQ10_AnAgentCannotDecideForPeople(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		ctx := t.Context()
		d.task("asking")
		k := d.turn()
		own := d.ask(k, "May I?")
		before := d.dump()
		try := func(m Meta, id string) {
			t.Helper()
			_, err := d.c.Answer(ctx, m, id, fairlead.AnswerBody{Answer: fairlead.Answer{Text: "yes"}})
			refused(t, err, fairlead.CodeForbidden)
		}
		try(agent(k), own.ID)
		try(Meta{Workspace: mainWorkspace, Actor: fairlead.Actor{Kind: fairlead.ActorClient, Key: "ci"}}, own.ID)
		try(asPerson("stranger"), own.ID)
		try(Meta{Workspace: mainWorkspace, Actor: fairlead.Engine()}, own.ID)
		if d.dump() != before {
			t.Error("a refused answer left something behind")
		}
		if n := d.audits("answer request"); n != 4 {
			t.Errorf("got %d audit rows, want 4", n)
		}
		for _, q := range []fairlead.Request{
			{Kind: fairlead.RequestQuestion, Prompt: "to myself", Assignment: k.Run.Assignment, WhoMay: []string{"agent:coder"}, OpenedBy: agent(k).Actor},
			{Kind: fairlead.RequestBudget, Prompt: "more money", WhoMay: []string{"agent:coder"}, OpenedBy: fairlead.Engine()},
			{Kind: fairlead.RequestPermission, Prompt: "rm", WhoMay: []string{"agent:coder"}, OpenedBy: fairlead.Engine()},
			{Kind: fairlead.RequestConfirmEffect, Prompt: "was it sent", WhoMay: []string{"agent:coder"}, OpenedBy: fairlead.Engine()},
		} {
			try(agent(k), d.put(k.Task.ID, q))
		}
		passed := d.put(k.Task.ID, fairlead.Request{
			Kind: fairlead.RequestQuestion, Prompt: "to the supervisor", WhoMay: []string{"agent:coder"}, OpenedBy: fairlead.Engine(), Blocks: fairlead.BlocksNothing,
		})
		v, err := d.c.Answer(ctx, agent(k), passed, fairlead.AnswerBody{Answer: fairlead.Answer{Text: "yes"}})
		d.must(err)
		if v.State != fairlead.RequestAnswered {
			t.Errorf("got state %s: an agent that is named may answer", v.State)
		}
		_, err = d.c.SaveWorkflow(ctx, agent(k), fairlead.WorkflowBody{Source: lineWorkflow})
		refused(t, err, fairlead.CodeForbidden)
		_, err = d.c.ApplyAgent(ctx, agent(k), fairlead.AgentBody{Source: "agent: coder\n"})
		refused(t, err, fairlead.CodeForbidden)
		_, err = d.c.PauseAgent(ctx, agent(k), "reviewer", fairlead.PauseBody{})
		refused(t, err, fairlead.CodeForbidden)
	})
}

func TestQ10_AnAgentTouchesNothingElse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		ctx := t.Context()
		d.task("asking")
		k := d.turn()
		other := d.task("office-default")
		_, err := d.c.Move(ctx, owner(), other.ID, fairlead.MoveBody{Step: "review"})
		d.must(err)
		before := d.dump()
		_, err = d.c.Decide(ctx, agent(k), other.ID, fairlead.DecisionBody{Verdict: "approve"})
		refused(t, err, fairlead.CodeForbidden)
		_, err = d.c.Comment(ctx, agent(k), other.ID, fairlead.CommentBody{Text: "hello"})
		refused(t, err, fairlead.CodeForbidden)
		_, err = d.c.Move(ctx, agent(k), other.ID, fairlead.MoveBody{Step: "done"})
		refused(t, err, fairlead.CodeForbidden)
		_, err = d.c.Archive(ctx, agent(k), other.ID, fairlead.OpBody{})
		refused(t, err, fairlead.CodeForbidden)
		if d.dump() != before {
			t.Error("a refused command left something behind")
		}
	})
}

func TestE33_TheNextEntryWaitsForAPerson(t *testing.T) {
	t.Parallel()
	const source = `
workflow: circle
name: Circle
start: a
steps:
  - {key: a, name: A, on: {comment: [{move: {to: b}}]}}
  - key: b
    name: B
    agent: coder
    max_visits: 2
    on:
      enter: [{queue_run: {to: primary}}]
      comment: [{move: {to: a}}]
`
	ci := Meta{Workspace: mainWorkspace, Actor: fairlead.Actor{Kind: fairlead.ActorClient, Key: "ci"}}
	for _, answer := range []string{"go_on", "stop"} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				d := newDesk(t, db)
				d.save(source)
				task := d.task("circle")
				for range 5 {
					_, err := d.c.Comment(t.Context(), ci, task.ID, fairlead.CommentBody{Text: "round"})
					d.must(err)
				}
				v := d.see(task.ID)
				open := d.open(task.ID)
				if v.Step != "b" || v.Visit != 6 || len(open) != 1 || open[0].Kind != fairlead.RequestSupervise {
					t.Fatalf("got step %s in visit %d with requests %+v, want the third entry of b to ask", v.Step, v.Visit, open)
				}
				if k, err := d.c.Claim(t.Context(), d.node); err != nil || k != nil {
					t.Fatalf("got run %v, %v; want nothing to run before the answer", k, err)
				}
				_, err := d.c.Answer(t.Context(), owner(), open[0].ID, fairlead.AnswerBody{Answer: fairlead.Answer{Option: "maybe"}})
				refused(t, err, fairlead.CodeInvalid)
				d.answer(open[0].ID, fairlead.Answer{Option: answer, Text: "because"})
				k, err := d.c.Claim(t.Context(), d.node)
				d.must(err)
				if went := k != nil; went != (answer == "go_on") {
					t.Errorf("after %s: claimed %v", answer, went)
				}
			})
		})
	}
}

// put opens a request of a task and returns its id.
func (h *house) put(task string, q fairlead.Request) string {
	h.t.Helper()
	m := Meta{Workspace: mainWorkspace, Actor: fairlead.Engine()}
	id, err := do(h.t.Context(), h.c, m, command{name: "open request", task: task, body: q}, func(w *work) (string, error) {
		q := q
		q.ID, q.Visit = w.id(fairlead.PrefixRequest), w.task.row.Visit
		return q.ID, w.openRequest(q)
	})
	h.must(err)
	return id
}

func TestADecisionIsTheSameByAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		ctx := t.Context()
		task := d.task("office-default")
		_, err := d.c.Move(ctx, owner(), task.ID, fairlead.MoveBody{Step: "review"})
		d.must(err)
		q := d.open(task.ID)[0]
		if q.Kind != fairlead.RequestDecision || q.Blocks != fairlead.BlocksNothing {
			t.Fatalf("got request %+v, want the owner's decision", q)
		}
		_, err = d.c.Answer(ctx, owner(), q.ID, fairlead.AnswerBody{Answer: fairlead.Answer{Text: "fine"}})
		refused(t, err, fairlead.CodeInvalid)
		if v := d.answer(q.ID, fairlead.Answer{Verdict: "comment", Note: "looking"}); v.State != fairlead.RequestOpen {
			t.Errorf("got state %s after a comment, want open: the seat is still asked", v.State)
		}
		v := d.answer(q.ID, fairlead.Answer{Verdict: "approve", Note: "good"})
		if v.State != fairlead.RequestAnswered || v.ResolvedBy == nil || *v.ResolvedBy != fairlead.Person("owner") {
			t.Errorf("got %+v, want it answered by the owner", v)
		}
		for _, seat := range d.see(task.ID).Seats {
			if want := map[string]fairlead.Verdict{"owner": fairlead.VerdictApproved}[seat.Person]; seat.Verdict != want {
				t.Errorf("seat of %s%s: got verdict %q, want %q", seat.Agent, seat.Person, seat.Verdict, want)
			}
		}
		qs, err := d.c.Quorum(ctx, mainWorkspace, task.Identifier)
		d.must(err)
		if len(qs) != 2 || qs[1].Needed != 2 || qs[1].Received != 1 || len(qs[1].Missing) != 1 || qs[1].Missing[0].Agent != "reviewer" {
			t.Errorf("got quorums %+v, want one vote of two, the reviewer's missing", qs)
		}
		_, err = d.c.Answer(ctx, owner(), q.ID, fairlead.AnswerBody{Answer: fairlead.Answer{Verdict: "reject"}})
		if e := refused(t, err, fairlead.CodeConflict); e.Reason != fairlead.ReasonResolved {
			t.Errorf("got reason %s, want resolved", e.Reason)
		}
	})
}

func TestE4_AnAnswerSentAgainIsTheSameAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		task := d.task("asking")
		k := d.turn()
		q := d.ask(k, "Again?")
		d.end(k)
		m := owner()
		m.Op = "answer-1"
		body := fairlead.AnswerBody{Answer: fairlead.Answer{Text: "yes"}}
		first, err := d.c.Answer(t.Context(), m, q.ID, body)
		d.must(err)
		before := d.dump()
		again, err := d.again().c.Answer(t.Context(), m, q.ID, body)
		d.must(err)
		if string(marshal(first)) != string(marshal(again)) || d.dump() != before {
			t.Errorf("sent again: got %+v, want the first result and no change", again)
		}
		body.Text = "no"
		_, err = d.c.Answer(t.Context(), m, q.ID, body)
		refused(t, err, fairlead.CodeOpReused)
		m.Op, m.IfVersion = "", 7
		_, err = d.c.Answer(t.Context(), m, q.ID, body)
		refused(t, err, fairlead.CodeConflict)
		d.oneWake(task.ID)
	})
}

func TestAnswerRefusesUnknownAndForeignRequests(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storetest.SQLite(t).Open(t, nil))
	_, err := d.c.AddWorkspace(t.Context(), owner(), fairlead.KeyNameBody{Key: "other"})
	d.must(err)
	d.task("asking")
	q := d.ask(d.turn(), "Here?")
	m := owner()
	for _, x := range []struct{ ws, id string }{{"main", "req_nothing"}, {"other", q.ID}} {
		m.Workspace = x.ws
		_, err := d.c.Answer(t.Context(), m, x.id, fairlead.AnswerBody{Answer: fairlead.Answer{Text: "yes"}})
		refused(t, err, fairlead.CodeNotFound)
	}
}

func TestAnswersOfTheWrongShapeAreRefused(t *testing.T) {
	t.Parallel()
	options := []fairlead.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}
	form := json.RawMessage(`{"type": "object", "required": ["age"], "properties": {"age": {"type": "integer", "minimum": 1}}, "additionalProperties": false}`)
	for _, x := range []struct {
		kind   fairlead.RequestKind
		answer fairlead.Answer
		path   string // "" = accepted
	}{
		{fairlead.RequestQuestion, fairlead.Answer{Text: "x"}, ""},
		{fairlead.RequestQuestion, fairlead.Answer{Text: " "}, "text"},
		{fairlead.RequestQuestion, fairlead.Answer{Option: "a"}, "option"},
		{fairlead.RequestQuestion, fairlead.Answer{Decline: true, Text: "no"}, ""},
		{fairlead.RequestQuestion, fairlead.Answer{Decline: true, Option: "a"}, "option"},
		{fairlead.RequestChoice, fairlead.Answer{Option: "b"}, ""},
		{fairlead.RequestChoice, fairlead.Answer{Option: "c"}, "option"},
		{fairlead.RequestChoice, fairlead.Answer{Text: "b"}, "text"},
		{fairlead.RequestPermission, fairlead.Answer{Option: "a"}, ""},
		{fairlead.RequestPermission, fairlead.Answer{Verdict: "approve"}, "verdict"},
		{fairlead.RequestForm, fairlead.Answer{Values: json.RawMessage(`{"age": 3}`)}, ""},
		{fairlead.RequestForm, fairlead.Answer{Values: json.RawMessage(`{"age": 0}`)}, "values.age"},
		{fairlead.RequestForm, fairlead.Answer{Values: json.RawMessage(`{}`)}, "values"},
		{fairlead.RequestForm, fairlead.Answer{}, "values"},
		{fairlead.RequestForm, fairlead.Answer{Values: json.RawMessage(`null`)}, "values"},
		{fairlead.RequestApproval, fairlead.Answer{Verdict: "revise", Text: "x"}, ""},
		{fairlead.RequestApproval, fairlead.Answer{Verdict: "maybe"}, "verdict"},
		{fairlead.RequestApproval, fairlead.Answer{Verdict: "approve", Note: "x"}, "note"},
		{fairlead.RequestDecision, fairlead.Answer{Verdict: "changes_requested", Note: "x"}, ""},
		{fairlead.RequestDecision, fairlead.Answer{Verdict: "revise"}, "verdict"},
		{fairlead.RequestDecision, fairlead.Answer{Verdict: "approve", Text: "x"}, "text"},
		{fairlead.RequestSupervise, fairlead.Answer{Option: "a", Text: "x"}, ""},
		{fairlead.RequestSupervise, fairlead.Answer{Text: "x"}, "option"},
		{fairlead.RequestConfirmEffect, fairlead.Answer{Option: "b"}, ""},
	} {
		q := &fairlead.Request{Kind: x.kind, Options: options, Schema: form}
		_, err := checkAnswer(q, x.answer)
		if x.path == "" {
			if err != nil {
				t.Errorf("%s %+v: got %v, want it accepted", x.kind, x.answer, err)
			}
			continue
		}
		if !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%s %+v: got %v, want invalid", x.kind, x.answer, err)
			continue
		}
		if fields := err.(*fairlead.Error).Fields; len(fields) == 0 || fields[0].Path != x.path { //nolint:errorlint // as the door sees it
			t.Errorf("%s %+v: got fields %+v, want %s", x.kind, x.answer, fields, x.path)
		}
	}
	if _, err := checkAnswer(&fairlead.Request{Kind: fairlead.RequestSecret}, fairlead.Answer{Text: "hunter2"}); !fairlead.IsCode(err, fairlead.CodeRefused) {
		t.Errorf("got %v: a secret must never be stored in the open", err)
	}
}
