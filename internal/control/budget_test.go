package control

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// spendFlow has a step that only a signal completes, and rules about budgets.
const spendFlow = `
workflow: spend
name: Spend
start: work
steps:
  - key: work
    name: Work
    agent: ann
    complete: signal
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
      turn_complete: [{move: {to: done, if: "payload.completed"}}]
      agent_error: [{inbox_item: {kind: agent_error, text: "failed"}}]
      budget_alert: [{comment: {text: "at ${string(payload.budget_pct)} of ${payload.scope}"}}]
  - {key: quiet, name: Quiet, agent: ann}
  - {key: done, name: Done, terminal: done}
`

// call is the report of one model call; cost below zero = unknown.
func call(cost, tokens int64) Fact {
	delta := map[string]any{"calls": 1, "input": tokens}
	if cost >= 0 {
		delta["cost"] = cost
	}
	data, _ := json.Marshal(map[string]any{"model": "test-model", "delta": delta})
	return Fact{Record: &Entry{Kind: fairlead.RecordUsage, Data: data}}
}

func (f *floor) limit(b fairlead.BudgetBody) fairlead.BudgetView {
	f.t.Helper()
	if b.Meter == "" {
		b.Meter = "money"
	}
	if b.Period == "" {
		b.Period = "total"
	}
	v, err := f.c.SetBudget(f.t.Context(), owner(), b)
	f.must(err)
	return v
}

func (f *floor) budget(id string) fairlead.BudgetView {
	f.t.Helper()
	all, err := f.c.ListBudgets(f.t.Context(), mainWorkspace)
	f.must(err)
	for _, b := range all {
		if b.ID == id {
			return b
		}
	}
	f.t.Fatalf("no budget %s", id)
	return fairlead.BudgetView{}
}

// asked returns the open budget requests.
func (f *floor) asked() []fairlead.RequestView {
	f.t.Helper()
	p, err := f.c.ListRequests(f.t.Context(), mainWorkspace, RequestQuery{Kind: string(fairlead.RequestBudget), Limit: 200})
	f.must(err)
	return p.Items
}

func (f *floor) askedOnce() fairlead.RequestView {
	f.t.Helper()
	all := f.asked()
	if len(all) != 1 {
		f.t.Fatalf("got %d open budget requests, want 1", len(all))
	}
	return all[0]
}

func (f *floor) told(kind string) (n int) {
	f.t.Helper()
	in, err := f.c.Inbox(f.t.Context(), mainWorkspace, "")
	f.must(err)
	for _, x := range in.Notices {
		if x.Kind == kind {
			n++
		}
	}
	return n
}

func TestR19_TheCallThatTipsIsRecordedThenTheRunParks(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(spendFlow)
		b := f.limit(fairlead.BudgetBody{Scope: "agent", Ref: "ann", Limit: "1"})
		task := f.task("spend")
		f.comment(owner(), task.ID, "first words")
		j := f.claimed().start()
		if d := j.tell(nil, false, call(600_000, 10)); d != Continue {
			t.Fatalf("below the limit: got directive %v", d)
		}
		if d := j.tell(nil, false, call(500_000, 10)); d != ParkAfterTurn {
			t.Fatalf("at the limit: got directive %v, want park", d)
		}
		if v := f.budget(b.ID); v.Spent != 1_100_000 || !v.Reached || v.Waiting != 1 {
			t.Errorf("got %+v", v)
		}
		q := f.askedOnce()
		if q.Visit != 0 || q.Task != "" || q.Blocks != fairlead.BlocksNothing {
			t.Errorf("the request is of a task or visit: %+v", q)
		}
		j.done()
		r := f.status(j.Run.ID, fairlead.RunParked)
		if r.Attempt != 0 || r.ErrorClass != "" || f.told("agent_error") != 0 {
			t.Errorf("a budget stop counted as a failure: %+v", r)
		}
		var usage []fairlead.Usage
		f.read(func(tx *store.ReadTx) (err error) { usage, err = tx.UsageOf(r.ID); return err })
		if len(usage) != 1 || usage[0].Money != 1_100_000 || usage[0].Calls != 2 || usage[0].Input != 20 {
			t.Errorf("got usage %+v", usage)
		}

		// Not raised, it stops again at once: no claim, no launch.
		f.comment(owner(), task.ID, "go on")
		same(t, "holds", f.held(f.queued(task.ID).ID), fairlead.HoldBudget)
		f.nothing()
		_, err := f.c.Start(t.Context(), owner(), task.ID, fairlead.StartBody{})
		if e := refused(t, err, fairlead.CodeConflict); e.Reason != fairlead.ReasonHeld {
			t.Errorf("a direct launch: got reason %s, want held", e.Reason)
		}
		f.askedOnce()

		// Raised, it goes on where it was: what it heard does not come again.
		f.answer(q.ID, fairlead.Answer{Option: fairlead.OptionRaise, Text: "2"})
		if v := f.budget(b.ID); v.Limit != 3_000_000 || v.Generation != 2 || v.Waiting != 0 || v.Request != "" {
			t.Errorf("after the raise: %+v", v)
		}
		j = f.claimed()
		if texts := j.texts(); !slices.Contains(texts, "go on") || slices.Contains(texts, "first words") {
			t.Errorf("got to hear %q", texts)
		}
		if !slices.ContainsFunc(j.Wakes, func(w fairlead.Wake) bool { return w.Reason == fairlead.ReasonBudget }) {
			t.Errorf("no wake of the budget: %+v", j.Wakes)
		}
		j.start().done()
		f.nothing()
	})
}

func TestR19_RaisedBeforeTheTurnEnds(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(spendFlow)
		b := f.limit(fairlead.BudgetBody{Scope: "workspace", Limit: "1"})
		task := f.task("spend")
		j := f.claimed().start()
		j.tell(nil, false, call(2_000_000, 10))
		_, err := f.c.RaiseBudget(t.Context(), owner(), b.ID, fairlead.RaiseBody{To: "50"})
		f.must(err)
		if n := len(f.asked()); n != 0 {
			t.Errorf("%d requests are open after a raise by another door", n)
		}
		// Its runtime was told to end the turn: that is no failure, and the work goes on at once.
		j.tell(&TurnEnd{StopReason: "cancelled"}, true)
		f.status(j.Run.ID, fairlead.RunParked)
		if next := f.claimed(); next.Run.Assignment != j.Run.Assignment || next.Run.ID == j.Run.ID {
			t.Errorf("got run %+v", next.Run)
		}
		if n := len(f.active(task.ID)); n != 1 {
			t.Errorf("%d runs are active, want 1", n)
		}
	})
}

func TestR19_WorkThatIsDoneIsNotParked(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.limit(fairlead.BudgetBody{Scope: "workspace", Limit: "1"})
		task := f.task("stay")
		j := f.claimed().start()
		j.tell(&TurnEnd{StopReason: "end_turn"}, true, call(2_000_000, 1))
		f.status(j.Run.ID, fairlead.RunSucceeded)
		f.askedOnce()
		f.comment(owner(), task.ID, "more")
		f.nothing()
	})
}

func TestR19_RaisedByTooLittleStopsAgain(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(spendFlow)
		b := f.limit(fairlead.BudgetBody{Scope: "workspace", Limit: "1"})
		f.task("spend")
		j := f.claimed().start()
		j.tell(&TurnEnd{StopReason: "end_turn"}, true, call(5_000_000, 1))
		first := f.askedOnce()
		f.answer(first.ID, fairlead.Answer{Option: fairlead.OptionRaise})
		second := f.askedOnce()
		if second.ID == first.ID || f.budget(b.ID).Generation != 2 {
			t.Errorf("a new limit is a new question: %+v", second)
		}
		f.nothing()
		f.answer(second.ID, fairlead.Answer{Option: fairlead.OptionStop})
		f.nothing()
		if n := len(f.asked()); n != 0 {
			t.Errorf("stopped, and %d questions are open", n)
		}
		_, err := f.c.RaiseBudget(t.Context(), owner(), b.ID, fairlead.RaiseBody{By: "10"})
		f.must(err)
		f.claimed()
	})
}

func TestR41_OneRequestForTenLiveAndTwoHundredQueued(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(spendFlow)
		f.agent("ann", "parallel: 10\n")
		b := f.limit(fairlead.BudgetBody{Scope: "workspace", Meter: "tokens", Limit: "100"})
		f.fill("spend", 210)
		var live []*job
		for range 10 {
			live = append(live, f.claimed().start())
		}
		for _, j := range live {
			j.tell(nil, false, call(-1, 15))
		}
		f.askedOnce()
		for _, j := range live {
			if d := j.tell(nil, false, message("still here")); d != ParkAfterTurn {
				t.Fatalf("got directive %v, want park", d)
			}
			j.done()
			f.status(j.Run.ID, fairlead.RunParked)
		}
		q := f.askedOnce()
		f.nothing()
		if v := f.budget(b.ID); v.Waiting != 10 {
			t.Errorf("%d runs wait, want 10", v.Waiting)
		}
		f.answer(q.ID, fairlead.Answer{Option: fairlead.OptionRaise, Text: "100000"})
		seen := map[string]bool{}
		for range 210 {
			j := f.claimed()
			seen[j.Run.Task] = true
			j.start().done()
		}
		if len(seen) != 210 {
			t.Errorf("%d tasks went on, want 210", len(seen))
		}
		f.nothing()
	})
}

func TestBudgetAlertFiresOnceOnEveryTaskInScope(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(spendFlow)
		f.agent("ann", "parallel: 3\n")
		b := f.limit(fairlead.BudgetBody{Scope: "agent", Ref: "ann", Limit: "10", Alerts: []int{50, 80}})
		first, second, quiet := f.task("spend"), f.task("spend"), f.task("spend")
		f.move(quiet.ID, "quiet")
		other := f.task("solo")
		j := f.claimed().start()
		said := func(task string) (n int) {
			p, err := f.c.Comments(t.Context(), mainWorkspace, task)
			f.must(err)
			return len(p.Items)
		}
		j.tell(nil, false, call(4_900_000, 1))
		if n := said(first.ID) + said(second.ID); n != 0 {
			t.Fatalf("%d alerts below every threshold", n)
		}
		j.tell(nil, false, call(200_000, 1))
		for range 3 {
			j.tell(nil, false, call(1, 1))
		}
		for task, want := range map[string]int{first.ID: 1, second.ID: 1, quiet.ID: 0, other.ID: 0} {
			if got := said(task); got != want {
				t.Errorf("task %s heard %d alerts, want %d", task, got, want)
			}
		}
		j.tell(nil, false, call(4_000_000, 1))
		if got := said(first.ID); got != 2 {
			t.Errorf("heard %d alerts after the second threshold, want 2", got)
		}
		if n := f.told(noticeBudget); n != 2 {
			t.Errorf("got %d notices, want 2", n)
		}
		// Another limit is another generation.
		_, err := f.c.RaiseBudget(t.Context(), owner(), b.ID, fairlead.RaiseBody{To: "15"})
		f.must(err)
		if got := said(second.ID); got != 3 {
			t.Errorf("heard %d alerts after the raise to 60 %%, want 3", got)
		}
	})
}

func TestBudgetPeriodsRollOver(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		f.save(spendFlow)
		b := f.limit(fairlead.BudgetBody{Scope: "project", Ref: "web", Limit: "1", Period: "day", Zone: "Europe/Berlin"})
		task, err := f.c.CreateTask(t.Context(), owner(), fairlead.NewTask{Title: "t", Workflow: "spend", Labels: []string{"project:web"}})
		f.must(err)
		y, m, d := clock.Now().Date()
		if want := time.Date(y, m, d, 23, 0, 0, 0, time.UTC); !b.EndsAt.Equal(want) { // 9:00 in UTC, before midnight in Berlin
			t.Fatalf("the day ends %v, want %v", b.EndsAt, want)
		}
		j := f.claimed().start()
		j.tell(&TurnEnd{StopReason: "end_turn"}, true, call(2_000_000, 1))
		q := f.askedOnce()
		f.comment(owner(), task.ID, "go on")
		f.nothing()
		clock.add(24 * time.Hour)
		_, err = f.c.FireDue(t.Context())
		f.must(err)
		v, err := f.c.GetRequest(t.Context(), mainWorkspace, q.ID)
		f.must(err)
		if v.State != fairlead.RequestSuperseded {
			t.Errorf("the old period's request is %s, want superseded", v.State)
		}
		if now := f.budget(b.ID); now.Spent != 0 || now.Generation != 1 || now.Waiting != 0 {
			t.Errorf("after midnight: %+v", now)
		}
		j = f.claimed().start()
		j.tell(&TurnEnd{StopReason: "end_turn"}, true, call(2_000_000, 1))
		if again := f.askedOnce(); again.ID == q.ID {
			t.Error("the next period asks anew")
		}
	})
}

func TestBudgetOfATaskCountsItsDescendants(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(spendFlow)
		parent, err := f.c.CreateTask(t.Context(), owner(), fairlead.NewTask{Title: "p", Workflow: "solo"})
		f.must(err)
		child, err := f.c.CreateTask(t.Context(), owner(), fairlead.NewTask{Title: "c", Workflow: "solo", Parent: parent.ID})
		f.must(err)
		b := f.limit(fairlead.BudgetBody{Scope: "task", Ref: parent.Identifier, Limit: "1"})
		grand, err := f.c.CreateTask(t.Context(), owner(), fairlead.NewTask{Title: "g", Workflow: "spend", Parent: child.ID})
		f.must(err)
		f.claimed().start().tell(&TurnEnd{StopReason: "end_turn"}, true, call(1_000_000, 1))
		q := f.askedOnce()
		if q.Task != parent.ID || q.Visit != 0 {
			t.Errorf("the request is of %s at visit %d", q.Task, q.Visit)
		}
		if v := f.see(parent.ID); v.State != fairlead.StateNeedsYou {
			t.Errorf("the parent is %s, want needs_you", v.State)
		}
		f.move(parent.ID, "work")
		f.nothing()
		if len(f.asked()) != 1 {
			t.Error("a move of the task closed the budget's request")
		}
		f.answer(q.ID, fairlead.Answer{Option: fairlead.OptionRaise})
		j := f.claimed()
		if j.Run.Task != grand.ID && j.Run.Task != parent.ID {
			t.Errorf("claimed a run of %s", j.Run.Task)
		}
		// A budget that is set later begins with what was spent already.
		f.limit(fairlead.BudgetBody{Scope: "task", Ref: child.ID, Meter: "tokens", Limit: "100"})
		for _, v := range []fairlead.BudgetView{f.budget(b.ID)} {
			if v.Spent != 1_000_000 {
				t.Errorf("got %+v", v)
			}
		}
	})
}

func TestR20_UnknownPricesAreUnpricedAndTheOtherMetersBind(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(spendFlow)
		f.c.prices = map[string]fairlead.Price{"cheap": {Input: 2_000_000, Output: 10_000_000}}
		money := f.limit(fairlead.BudgetBody{Scope: "workspace", Limit: "1"})
		tokens := f.limit(fairlead.BudgetBody{Scope: "workspace", Meter: "tokens", Limit: "1000"})
		f.task("spend")
		j := f.claimed().start()
		if d := j.tell(nil, false, call(-1, 999)); d != Continue {
			t.Errorf("got directive %v", d)
		}
		if v := f.budget(money.ID); v.Spent != 0 || v.Unpriced != 1 || v.Reached || v.Text != "1 unpriced call of $1.00" {
			t.Errorf("got %+v", v)
		}
		priced := Fact{Record: &Entry{Kind: fairlead.RecordUsage, Data: json.RawMessage(`{"model":"cheap","delta":{"calls":1,"input":500000,"output":1}}`)}}
		if d := j.tell(nil, false, priced); d != ParkAfterTurn {
			t.Errorf("got directive %v, want park", d)
		}
		if v := f.budget(money.ID); v.Spent != 1_000_010 || v.Unpriced != 1 {
			t.Errorf("the price list gave %+v", v)
		}
		if v := f.budget(tokens.ID); !v.Reached {
			t.Errorf("got %+v", v)
		}
	})
}

func TestBudgetOfRunsAndOfTime(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		runs := f.limit(fairlead.BudgetBody{Scope: "agent", Ref: "ann", Meter: "runs", Limit: "2"})
		wall := f.limit(fairlead.BudgetBody{Scope: "agent", Ref: "ann", Meter: "wall", Limit: "1h", Action: "hold"})
		task := f.task("stay")
		for i := range 2 {
			j := f.claimed().start()
			clock.add(20 * time.Minute)
			if d := j.tell(nil, false, message("x")); d != Continue {
				t.Errorf("a run within its budget of runs: got directive %v", d)
			}
			j.done()
			f.comment(owner(), task.ID, fmt.Sprint(i))
		}
		same(t, "holds", f.held(f.queued(task.ID).ID), fairlead.HoldBudget)
		f.nothing()
		if v := f.budget(wall.ID); v.Spent != (40 * time.Minute).Milliseconds() {
			t.Errorf("got %s", v.Text)
		}
		_, err := f.c.RaiseBudget(t.Context(), owner(), runs.ID, fairlead.RaiseBody{By: "10"})
		f.must(err)
		j := f.claimed().start()
		clock.add(2 * time.Hour)
		j.done()
		f.comment(owner(), task.ID, "last")
		f.nothing()
		if n := len(f.asked()); n != 0 {
			t.Errorf("a budget that only holds asked %d times", n)
		}
	})
}

func TestQ10_AgentsNeverRaiseBudgets(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		f.save(spendFlow)
		b := f.limit(fairlead.BudgetBody{Scope: "workspace", Limit: "1"})
		f.task("spend")
		j := f.claimed().start()
		j.tell(nil, false, call(2_000_000, 1))
		q := f.askedOnce()
		_, err := f.c.RaiseBudget(t.Context(), j.as(), b.ID, fairlead.RaiseBody{By: "5"})
		refused(t, err, fairlead.CodeForbidden)
		_, err = f.c.SetBudget(t.Context(), j.as(), fairlead.BudgetBody{Scope: "workspace", Meter: "money", Period: "total", Limit: "500"})
		refused(t, err, fairlead.CodeForbidden)
		_, err = f.c.Answer(t.Context(), j.as(), q.ID, fairlead.AnswerBody{Answer: fairlead.Answer{Option: fairlead.OptionRaise}})
		refused(t, err, fairlead.CodeForbidden)
		if n := f.audits("raise budget") + f.audits("set budget") + f.audits("answer request"); n != 3 {
			t.Errorf("%d refusals are on record, want 3", n)
		}
		if v := f.budget(b.ID); v.Limit != 1_000_000 || v.Generation != 1 {
			t.Errorf("got %+v", v)
		}
	})
}
