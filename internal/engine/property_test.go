package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// world is one generated history.
type world struct {
	*bench
	m *model
	// all is every decision ever made, so that counting old rounds shows.
	all []fairlead.Decision
}

// draw makes the task of a history on a random workflow.
func draw(t *rapid.T) *world {
	source := randomWorkflow(t)
	def, report := workflow.Compile([]byte(source), workflow.Names{})
	if def == nil {
		t.Skipf("refused at save: %v", report.Errors)
	}
	w := &world{m: newModel()}
	w.bench = &bench{t: t}
	*w.bench = *benchOn(t, def)
	w.s.Task.Parent = rapid.SampledFrom([]string{"", "tsk_0"}).Draw(t, "parent")
	w.step(t, Trigger{Kind: KindCreate, Actor: w.actor(t), NoEnter: rapid.Bool().Draw(t, "no_enter")})
	return w
}

func (w *world) actor(t *rapid.T) fairlead.Actor {
	return rapid.SampledFrom([]fairlead.Actor{owner, anna, client, fairlead.Engine(), agentActor("coder"), agentActor("reviewer")}).Draw(t, "actor")
}

// step decides one trigger and checks everything that must hold of any decision.
func (w *world) step(t *rapid.T, tr Trigger) {
	if tr.Op == "" {
		tr.Op = fairlead.OpID(fmt.Sprintf("op %d", w.seed))
	}
	before, given := dump(t, w.s), dump(t, tr)
	p, err := w.try(tr)
	again, err2 := w.try(tr)
	if d := cmp.Diff(p, again) + cmp.Diff(err, err2); d != "" {
		t.Fatalf("%s decided twice differs:\n%s", tr.Kind, d)
	}
	if dump(t, w.s) != before || dump(t, tr) != given {
		t.Fatalf("%s changed what it was given", tr.Kind)
	}
	if err != nil {
		if len(p.Effects)+len(p.Why) > 0 || p.Moved {
			t.Fatalf("a refused %s has a plan: %+v", tr.Kind, p)
		}
		return
	}
	w.dryRun(t, tr, p)
	if w.s.Entered && len(w.s.Deferred) == 0 && Idle(w.s.Pinned.Step(w.s.Visit.Step), tr) && len(p.Effects) > 0 {
		t.Fatalf("%s is idle and has effects: %v", tr.Kind, kinds(p.Effects))
	}
	w.m.moves = 0
	for i, e := range p.Effects {
		if bad := w.m.take(e); bad != "" {
			t.Fatalf("%s: effect %d %T: %s\n%v\n%v", tr.Kind, i, e, bad, kinds(p.Effects), why(p))
		}
	}
	w.take(p)
	bound := MaxMoves
	if tr.Kind == KindCreate {
		bound++
	}
	if w.m.moves > bound || p.Moved != (w.m.moves > 0) && tr.Kind != KindCreate {
		t.Fatalf("%s: %d moves, moved %v", tr.Kind, w.m.moves, p.Moved)
	}
	w.check(t, tr, p)
}

// dryRun compares a plan with that of another seed: only ids may differ.
func (w *world) dryRun(t *rapid.T, tr Trigger, p Plan) {
	s := w.s
	s.Seed = fairlead.Seed{99}
	dry, err := Decide(s, tr, at)
	if err != nil {
		t.Fatalf("dry run of %s refused: %v", tr.Kind, err)
	}
	if a, b := anonymous(dump(t, p)), anonymous(dump(t, dry)); a != b {
		t.Fatalf("dry run of %s differs:\n%s", tr.Kind, cmp.Diff(a, b))
	}
}

// anonymous numbers ids by first appearance.
func anonymous(s string) string {
	ids := map[string]string{}
	return idPattern.ReplaceAllStringFunc(s, func(id string) string {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf("#%d", len(ids))
		}
		return ids[id]
	})
}

// check looks at the state after a decision.
func (w *world) check(t *rapid.T, tr Trigger, p Plan) {
	if bad := w.m.differs(&w.s); bad != "" {
		t.Fatalf("%s: %s", tr.Kind, bad)
	}
	blocked := false
	for _, r := range w.m.requests {
		blocked = blocked || r.Blocks == fairlead.BlocksTask
	}
	if w.m.deferred > 0 && !blocked && p.Held == "" {
		t.Fatalf("%s: triggers are put aside and nothing will call for them: %v", tr.Kind, why(p))
	}
	if p.Held != "" && w.m.held == "" {
		t.Fatal("a dropped plan without a hold")
	}
	if w.m.archived || w.m.held != "" || !w.s.Entered {
		return
	}
	// Whoever is counted was asked in this round.
	for id, seat := range w.m.seats {
		if seat.DecisionRequired && w.m.asked[id] != w.m.round {
			t.Fatalf("%s: %s is counted in round %d and was asked in %d", tr.Kind, seat.Holder(), w.m.round, w.m.asked[id])
		}
	}
	// Decisions of other rounds and visits never count.
	f, approved := FactsOf(w.s, nil), 0
	for id, seat := range w.m.seats {
		last := fairlead.Verdict("")
		for _, d := range w.all {
			if d.Seat == id && d.Visit == w.m.visit && d.Round == w.m.round && d.Verdict != fairlead.VerdictComment {
				last = d.Verdict
			}
		}
		if seat.DecisionRequired && last == fairlead.VerdictApproved {
			approved++
		}
	}
	if f.Decisions.Approved != approved {
		t.Fatalf("%s: %d approvals count, want %d", tr.Kind, f.Decisions.Approved, approved)
	}
}

// dump writes what a plan, trigger or snapshot says; definitions are left out, they never change.
func dump(t *rapid.T, v any) string {
	if s, ok := v.(Snapshot); ok {
		s.Pinned, s.Newest, s.Other = nil, nil, nil
		v = s
	}
	if p, ok := v.(Plan); ok {
		v = []any{kinds(p.Effects), p}
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (w *world) anyRequest(t *rapid.T) (fairlead.Request, bool) {
	if len(w.s.Open) == 0 {
		return fairlead.Request{}, false
	}
	return rapid.SampledFrom(w.s.Open).Draw(t, "request"), true
}

// closed takes a request out of both readings, as the one who resolves it does.
func (w *world) closed(r fairlead.Request) {
	w.s.closeRequest(CloseRequest{Request: r.ID, State: r.State})
	delete(w.m.requests, r.ID)
	if r.Kind == fairlead.RequestApproval {
		w.s.Approval = &r
	}
}

func (w *world) vote(t *rapid.T) {
	var seats []fairlead.Seat
	for _, s := range w.s.Seats {
		if s.RemovedAt.IsZero() && s.Role.Votes() {
			seats = append(seats, s)
		}
	}
	if len(seats) == 0 || w.m.archived {
		t.Skip("nobody votes")
	}
	seat := rapid.SampledFrom(seats).Draw(t, "seat")
	w.seq++
	d := fairlead.Decision{
		ID: fmt.Sprint("dec_", w.seq), Visit: w.s.Visit.N, Round: w.s.Visit.Round, Seat: seat.ID, Role: seat.Role, Seq: w.seq,
		Verdict: rapid.SampledFrom([]fairlead.Verdict{fairlead.VerdictApproved, fairlead.VerdictApproved, fairlead.VerdictRejected, fairlead.VerdictComment}).Draw(t, "verdict"),
	}
	w.all = append(w.all, d)
	w.s.Decisions = append(slices.Clip(w.s.Decisions), d)
	for _, r := range w.s.Open {
		if r.Kind == fairlead.RequestDecision && r.Seat == seat.ID {
			r.State = fairlead.RequestAnswered
			w.closed(r)
		}
	}
	w.step(t, Trigger{Kind: fairlead.TriggerDecision, Actor: w.actor(t), Payload: map[string]any{"decision": string(d.Verdict), "seat": seat.ID}})
}

func (w *world) resolveAny(t *rapid.T) {
	r, ok := w.anyRequest(t)
	if !ok {
		t.Skip("nothing is asked")
	}
	r.State = rapid.SampledFrom([]fairlead.RequestState{
		fairlead.RequestAnswered, fairlead.RequestAnswered, fairlead.RequestDeclined, fairlead.RequestExpired, fairlead.RequestWithdrawn,
	}).Draw(t, "state")
	r.Answer = &fairlead.Answer{
		Verdict: rapid.SampledFrom([]string{"approve", "reject", "revise"}).Draw(t, "verdict"),
		Option:  rapid.SampledFrom([]string{OptionGoOn, OptionStop}).Draw(t, "option"),
	}
	w.closed(r)
	kind := fairlead.TriggerRequestResolved
	if r.Kind == fairlead.RequestApproval {
		kind = fairlead.TriggerApprovalResolved
	}
	w.step(t, Trigger{Kind: kind, Actor: owner, Request: &r, Payload: map[string]any{"request": r.ID, "outcome": string(r.State)}})
}

func (w *world) askAny(t *rapid.T) {
	if w.m.archived {
		t.Skip("archived")
	}
	w.seq++
	r := fairlead.Request{
		ID: fmt.Sprint("req_q", w.seq), Kind: fairlead.RequestQuestion, Visit: w.s.Visit.N, State: fairlead.RequestOpen,
		Blocks: rapid.SampledFrom([]fairlead.Blocks{fairlead.BlocksTask, fairlead.BlocksAssignment}).Draw(t, "blocks"),
	}
	if len(w.s.Assignments) > 0 {
		r.Assignment = rapid.SampledFrom(w.s.Assignments).Draw(t, "asker").ID
	}
	w.s.openRequest(r)
	w.m.requests[r.ID] = r
}

func (w *world) turn(t *rapid.T) {
	if w.m.archived {
		t.Skip("archived")
	}
	tr := Trigger{
		Kind: rapid.SampledFrom([]fairlead.TriggerKind{fairlead.TriggerTurnStart, fairlead.TriggerTurnComplete, fairlead.TriggerTurnComplete}).Draw(t, "turn"),
		Run:  "run_1", Actor: agentActor("coder"), Completed: rapid.Bool().Draw(t, "completed"), Visit: w.s.Visit.N,
	}
	if len(w.s.Assignments) == 0 {
		w.works("coder", fairlead.CapacityPrimary)
		a := w.s.Assignments[0]
		w.m.assignments[a.ID] = a
	}
	a := rapid.SampledFrom(w.s.Assignments).Draw(t, "assignment")
	tr.Assignment, tr.Actor = a.ID, agentActor(a.Agent)
	if rapid.Bool().Draw(t, "signal") {
		w.s.Task.SignalVisit = w.s.Visit.N
	}
	if tr.Kind == fairlead.TriggerTurnComplete && rapid.IntRange(0, 3).Draw(t, "own") == 0 {
		tr.OwnMove = &Move{To: rapid.SampledFrom(append([]string{"gone", "done"}, randomSteps...)).Draw(t, "to")}
	}
	w.step(t, tr)
}

func (w *world) happens(t *rapid.T) {
	w.step(t, Trigger{
		Kind: rapid.SampledFrom([]fairlead.TriggerKind{
			fairlead.TriggerComment, fairlead.TriggerComment, fairlead.TriggerManual, fairlead.TriggerBudgetAlert, fairlead.TriggerAgentError,
			fairlead.TriggerHeartbeat, fairlead.TriggerEnter, KindRelease, KindWake, "strange",
		}).Draw(t, "kind"),
		Key: "go", Actor: w.actor(t), Payload: map[string]any{"failed_agent_id": "coder", "to": "primary"},
	})
}

func (w *world) moveTo(t *rapid.T) {
	w.step(t, Trigger{
		Kind: KindMove, Actor: w.actor(t), Visit: rapid.SampledFrom([]int{0, 0, w.s.Visit.N, 1}).Draw(t, "visit"),
		Move: &Move{To: rapid.SampledFrom(append([]string{"gone", "done"}, randomSteps...)).Draw(t, "to")},
	})
}

func (w *world) linked(t *rapid.T) {
	list := &w.s.Blockers
	if rapid.Bool().Draw(t, "child") {
		list = &w.s.Children
	}
	*list = slices.Clone(*list)
	payload := map[string]any{}
	switch n := len(*list); rapid.IntRange(0, 2).Draw(t, "link") {
	case 0:
		w.seq++
		*list = append(*list, Linked{Task: fmt.Sprint("tsk_l", w.seq), Open: true})
	case 1:
		if n > 0 {
			i := rapid.IntRange(0, n-1).Draw(t, "which")
			(*list)[i].Open, (*list)[i].Told, (*list)[i].Outcome, (*list)[i].Visit = false, false, fairlead.TerminalDone, (*list)[i].Visit+1
		}
	case 2:
		if n > 0 && list == &w.s.Blockers {
			if (*list)[0].Open {
				payload["removed"] = []any{(*list)[0].Task}
			}
			*list = (*list)[1:]
		}
	}
	w.step(t, Trigger{Kind: KindRecheck, Actor: fairlead.Engine(), Payload: payload})
}

func (w *world) reseat(t *rapid.T) {
	w.seq++
	p := fairlead.Participant{
		ID: fmt.Sprint("par_", w.seq), Role: rapid.SampledFrom([]fairlead.Role{fairlead.RoleReviewer, fairlead.RoleApprover, fairlead.RoleWatcher}).Draw(t, "role"),
		Removed: rapid.IntRange(0, 2).Draw(t, "removed") == 0,
	}
	p.DecisionRequired = p.Role.Votes()
	if rapid.Bool().Draw(t, "person") {
		p.Person = rapid.SampledFrom([]string{"owner", "anna"}).Draw(t, "who")
	} else {
		p.Agent = rapid.SampledFrom([]string{"reviewer", "tester", "second"}).Draw(t, "who")
	}
	kept := w.s.Participants
	w.s.Participants = append(slices.Clip(slices.DeleteFunc(slices.Clone(kept), func(x fairlead.Participant) bool {
		return x.Role == p.Role && x.Agent == p.Agent && x.Person == p.Person
	})), p)
	if _, err := w.try(Trigger{Kind: KindSeats, Actor: owner, Payload: map[string]any{"participant": p.ID}}); err != nil {
		w.s.Participants = kept
	}
	w.step(t, Trigger{Kind: KindSeats, Actor: owner})
}

func (w *world) newVersion(t *rapid.T) {
	if w.seed%4 != 0 {
		t.Skip("a version is dear to compile")
	}
	def, _ := workflow.Compile([]byte(randomWorkflow(t)), workflow.Names{})
	if def == nil {
		t.Skip("refused at save")
	}
	def.Version = w.s.Newest.Version + 1
	w.s.Newest = def
	if rapid.Bool().Draw(t, "repin") {
		w.step(t, Trigger{Kind: KindRepin, Actor: owner})
	}
}

// TestE27_RandomHistories runs random triggers, votes, answers and edits over random workflows.
func TestE27_RandomHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		t.Repeat(map[string]func(*rapid.T){
			"vote": w.vote, "vote2": w.vote, "resolve": w.resolveAny, "resolve2": w.resolveAny, "ask": w.askAny, "turn": w.turn, "turn2": w.turn,
			"happens": w.happens, "happens2": w.happens, "move": w.moveTo, "linked": w.linked, "seats": w.reseat, "version": w.newVersion,
			"archive": func(t *rapid.T) {
				if w.seed < 25 {
					t.Skip("not yet")
				}
				w.step(t, Trigger{Kind: KindArchive, Actor: owner})
			},
		})
		// Reading all effects again from the beginning gives the same state.
		if len(w.m.requests) == 0 {
			w.replay(t)
		}
	})
}

// replay folds the whole history anew. Requests that others opened or closed are not in it, so they are left out.
func (w *world) replay(t *rapid.T) {
	m := newModel()
	for _, e := range w.log {
		switch e := e.(type) {
		case CloseRequest:
			delete(m.requests, e.Request)
			continue
		case EndVisit:
			clear(m.requests)
		case Wake, CarryRun:
			continue
		}
		if bad := m.take(e); bad != "" {
			t.Fatalf("replay: %T: %s", e, bad)
		}
	}
	if m.step != w.s.Visit.Step || m.visit != w.s.Visit.N || m.round != w.s.Visit.Round || m.terminal != w.s.Task.Terminal {
		t.Fatalf("replay stands at %s %d.%d, the task at %s %d.%d", m.step, m.visit, m.round, w.s.Visit.Step, w.s.Visit.N, w.s.Visit.Round)
	}
}
