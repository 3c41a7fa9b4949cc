package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// at is the time of every test's decisions.
var at = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

var (
	owner  = fairlead.Person("owner")
	anna   = fairlead.Person("anna")
	client = fairlead.Actor{Kind: fairlead.ActorClient, Key: "ci"}
)

func agentActor(key string) fairlead.Actor {
	return fairlead.Actor{Kind: fairlead.ActorAgent, Key: key}
}

// failer is what tests and generated tests have in common.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// compile reads a workflow of a test.
func compile(t failer, source string) *workflow.Definition {
	t.Helper()
	def, report := workflow.Compile([]byte(source), workflow.Names{})
	if def == nil {
		t.Fatalf("compile: %+v\n%s", report.Errors, source)
	}
	def.Version = 1
	return def
}

// bench is a task on a workflow, moved on by the effects of its plans.
type bench struct {
	t    failer
	s    Snapshot
	seq  int64
	seed int
	// log holds every effect so far.
	log []Effect
}

func newBench(t failer, source string) *bench {
	t.Helper()
	return benchOn(t, compile(t, source))
}

func benchOn(t failer, def *workflow.Definition) *bench {
	return &bench{t: t, s: Snapshot{
		Newest: def,
		Task: fairlead.Task{
			ID: "tsk_1", Workspace: "main", Identifier: "FL-1", Workflow: def.Key, Title: "Mend the gate", Creator: owner,
			Priority: fairlead.PriorityMedium,
		},
		Agents: map[string]AgentRef{
			"coder": {Key: "coder"}, "second": {Key: "second"}, "reviewer": {Key: "reviewer"}, "tester": {Key: "tester"}, "chief": {Key: "chief", Duty: "ceo"},
		},
		People:    map[string]bool{"owner": true, "anna": true},
		Duties:    map[string]string{"ceo": "chief"},
		Workflows: map[string]bool{def.Key: true, "errand": true},
	}}
}

// created is newBench with the task created by the owner at step to ("" = the start).
func created(t failer, source, to string) *bench {
	t.Helper()
	b := newBench(t, source)
	b.do(Trigger{Kind: KindCreate, Actor: owner, Move: &Move{To: to}})
	b.log = nil
	return b
}

// try decides without carrying out.
func (b *bench) try(t Trigger) (Plan, *fairlead.Error) {
	b.t.Helper()
	s := b.s
	copy(s.Seed[:], fmt.Sprintf("seed %d", b.seed))
	if t.Op == "" {
		t.Op = fairlead.OpID(fmt.Sprintf("op %d", b.seed))
	}
	return Decide(s, t, at)
}

// do decides and carries the plan out.
func (b *bench) do(t Trigger) Plan {
	b.t.Helper()
	p, err := b.try(t)
	if err != nil {
		b.t.Fatalf("%s: refused: %v (%s)", t.Kind, err, err.Hint)
	}
	b.take(p)
	return p
}

// take carries a plan out, as control does.
func (b *bench) take(p Plan) {
	b.seed++
	for _, e := range p.Effects {
		b.s.apply(e, at)
		if _, ok := e.(DeferTrigger); ok {
			b.seq++
			x := &b.s.Deferred[len(b.s.Deferred)-1]
			x.Seq, x.Trigger = b.seq, b.stored(x.Trigger)
		}
	}
	b.log = append(b.log, p.Effects...)
	if b.s.Visit.N > 0 && (p.Step != b.s.Visit.Step || p.Visit != b.s.Visit.N) {
		b.t.Errorf("plan says step %s visit %d, its effects give %s %d", p.Step, p.Visit, b.s.Visit.Step, b.s.Visit.N)
	}
}

// stored is a put-aside trigger as it comes back from the database, after a restart perhaps.
func (b *bench) stored(t Trigger) (out Trigger) {
	b.t.Helper()
	data, err := json.Marshal(t)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// vote records a decision of the seat that holder has, and decides on it.
func (b *bench) vote(holder string, v fairlead.Verdict) Plan {
	b.t.Helper()
	return b.do(b.voted(holder, v))
}

// voted records a decision and returns its trigger.
func (b *bench) voted(holder string, v fairlead.Verdict) Trigger {
	b.t.Helper()
	seat := b.seat(holder)
	b.seq++
	by := fairlead.Actor{Kind: fairlead.ActorPerson, Key: seat.Person}
	if seat.Agent != "" {
		by = agentActor(seat.Agent)
	}
	b.s.Decisions = append(slices.Clip(b.s.Decisions), fairlead.Decision{
		ID: fmt.Sprintf("dec_%d", b.seq), Task: b.s.Task.ID, Visit: b.s.Visit.N, Round: b.s.Visit.Round, Seat: seat.ID, Role: seat.Role, Verdict: v, By: by, Seq: b.seq,
	})
	for _, r := range b.s.Open {
		if r.Kind == fairlead.RequestDecision && r.Seat == seat.ID {
			b.s.closeRequest(CloseRequest{Request: r.ID})
		}
	}
	return Trigger{Kind: fairlead.TriggerDecision, Actor: by, Visit: b.s.Visit.N, Round: b.s.Visit.Round, Payload: map[string]any{
		"decision": string(v), "seat": seat.ID,
	}}
}

func (b *bench) seat(holder string) fairlead.Seat {
	b.t.Helper()
	for _, s := range b.s.Seats {
		if s.Holder() == holder && s.RemovedAt.IsZero() {
			return s
		}
	}
	b.t.Fatalf("no seat of %s", holder)
	return fairlead.Seat{}
}

// resolve closes an open request and decides on its resolution.
func (b *bench) resolve(kind fairlead.RequestKind, state fairlead.RequestState, a *fairlead.Answer) Plan {
	b.t.Helper()
	return b.do(b.resolved(kind, state, a))
}

func (b *bench) resolved(kind fairlead.RequestKind, state fairlead.RequestState, a *fairlead.Answer) Trigger {
	b.t.Helper()
	for _, r := range b.s.Open {
		if r.Kind != kind {
			continue
		}
		r.State, r.Answer = state, a
		b.s.closeRequest(CloseRequest{Request: r.ID, State: state})
		k := fairlead.TriggerRequestResolved
		payload := map[string]any{"request": r.ID, "outcome": string(state)}
		if kind == fairlead.RequestApproval {
			k, b.s.Approval = fairlead.TriggerApprovalResolved, &r
			if a != nil {
				payload["verdict"] = a.Verdict
			}
		}
		return Trigger{Kind: k, Actor: owner, Payload: payload, Request: &r}
	}
	b.t.Fatalf("no open request of kind %s", kind)
	return Trigger{}
}

// ask opens a request of an assignment, as an agent's question does.
func (b *bench) ask(assignment string, blocks fairlead.Blocks) {
	b.seq++
	b.s.openRequest(fairlead.Request{
		ID: fmt.Sprintf("req_q%d", b.seq), Kind: fairlead.RequestQuestion, Task: b.s.Task.ID, Visit: b.s.Visit.N, Assignment: assignment,
		Blocks: blocks, State: fairlead.RequestOpen,
	})
}

// at asserts where the task stands.
func (b *bench) stands(step string, visit int) {
	b.t.Helper()
	if b.s.Visit.Step != step || b.s.Visit.N != visit || b.s.Task.Step != step {
		b.t.Fatalf("the task stands at %s in visit %d, want %s in %d", b.s.Visit.Step, b.s.Visit.N, step, visit)
	}
}

// primary returns the assignment of the step's primary.
func (b *bench) primary() fairlead.Assignment {
	b.t.Helper()
	for _, a := range b.s.Assignments {
		if a.Capacity == fairlead.CapacityPrimary {
			return a
		}
	}
	b.t.Fatal("no primary assignment")
	return fairlead.Assignment{}
}

// turnEnds is the trigger of the end of a turn.
func (b *bench) turnEnds(a fairlead.Assignment, completed bool) Trigger {
	return Trigger{
		Kind: fairlead.TriggerTurnComplete, Actor: agentActor(a.Agent), Visit: a.Visit, Assignment: a.ID, Run: "run_1", Completed: completed,
		Payload: map[string]any{"assignment": a.ID, "agent": a.Agent, "role": string(a.Capacity), "completed": completed},
	}
}

// effects returns the effects of one type.
func effects[E Effect](list []Effect) (out []E) {
	for _, e := range list {
		if x, ok := e.(E); ok {
			out = append(out, x)
		}
	}
	return out
}

// woken returns "agent reason" of every wake.
func woken(list []Effect) []string {
	out := []string{}
	for _, w := range effects[Wake](list) {
		out = append(out, w.Agent+" "+w.Reason)
	}
	return out
}

// why returns "trigger action outcome reason" of every explanation.
func why(p Plan) []string {
	out := []string{}
	for _, e := range p.Why {
		line := e.Trigger + " " + e.Action + " " + e.Outcome
		if e.Reason != "" {
			line += " " + e.Reason
		}
		out = append(out, line)
	}
	return out
}

// kinds names the effects in order.
func kinds(list []Effect) []string {
	out := []string{}
	for _, e := range list {
		out = append(out, fmt.Sprintf("%T", e)[len("engine."):])
	}
	return out
}

func equal(t failer, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// replace fills %s of a workflow; fmt would trip over its other signs.
func replace(source, with string) string { return strings.Replace(source, "%s", with, 1) }
