package control

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// floor is a house with a node that works.
type floor struct {
	*house
	node  Node
	hands *hands // nil before somebody is hired
}

// soloFlow has one step that works and two that only hold cards.
const soloFlow = `
workflow: solo
name: Solo
start: idle
steps:
  - {key: idle, name: Idle}
  - key: work
    name: Work
    agent: ann
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
      turn_complete: [{move: {to: done, if: "payload.completed"}}]
      agent_error: [{inbox_item: {kind: agent_error, text: "failed"}}]
  - {key: done, name: Done, terminal: done}
`

// stayFlow is worked without end: a turn completes nothing.
const stayFlow = `
workflow: stay
name: Stay
start: work
steps:
  - key: work
    name: Work
    agent: ann
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
      agent_error: [{inbox_item: {kind: agent_error, text: "failed"}}]
  - key: other
    name: Other
    agent: ann
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
  - {key: done, name: Done, terminal: done}
`

func newFloor(t testing.TB, db *store.DB) *floor {
	t.Helper()
	f := &floor{house: newHouse(t, db)}
	f.node = f.epoch()
	f.agent("ann", "")
	f.agent("bob", "")
	f.save(soloFlow)
	f.save(stayFlow)
	return f
}

// eachFloor runs fn on both databases.
func eachFloor(t *testing.T, fn func(t *testing.T, f *floor)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) { fn(t, newFloor(t, db)) })
}

var epochs atomic.Int64 // names of test nodes must differ

func (f *floor) epoch(labels ...string) Node {
	f.t.Helper()
	n, err := f.db.BeginEpoch(f.t.Context(), fairlead.Node{ID: fmt.Sprintf("nod_test%d", epochs.Add(1)), Host: "test", PID: 1, Labels: labels, Slots: 100})
	f.must(err)
	return Node{ID: n.ID, Epoch: n.Epoch, Labels: n.Labels}
}

// agent applies a profile; more holds further lines of it.
func (f *floor) agent(key, more string) {
	f.t.Helper()
	_, err := f.c.ApplyAgent(f.t.Context(), owner(), fairlead.AgentBody{Source: "agent: " + key + "\nadapter: auto\n" + more})
	f.must(err)
}

// job is a claimed run as its worker sees it.
type job struct {
	*Claimed
	f   *floor
	seq int64
}

// claim claims; nil = there was nothing.
func (f *floor) claim() *job {
	f.t.Helper()
	k, err := f.c.Claim(f.t.Context(), f.node)
	f.must(err)
	if k == nil {
		return nil
	}
	return &job{Claimed: k, f: f}
}

// claimed claims a run that has to be there.
func (f *floor) claimed() *job {
	f.t.Helper()
	j := f.claim()
	if j == nil {
		f.t.Fatal("nothing to claim")
	}
	return j
}

func (f *floor) nothing() {
	f.t.Helper()
	if j := f.claim(); j != nil {
		f.t.Fatalf("claimed run %s of %s, want nothing", j.Run.ID, j.Run.Agent)
	}
}

func (j *job) report(end *TurnEnd, dead bool, facts ...Fact) (Directive, error) {
	j.seq++
	return j.f.c.Report(j.f.t.Context(), Report{
		Run: j.Run.ID, Fence: j.Run.Fence, Node: Node{ID: j.Run.Node, Epoch: j.Run.Epoch}, Seq: j.seq, Facts: facts, End: end, TreeDead: dead, Claimed: j.Run,
	})
}

func (j *job) tell(end *TurnEnd, dead bool, facts ...Fact) Directive {
	j.f.t.Helper()
	d, err := j.report(end, dead, facts...)
	j.f.must(err)
	return d
}

// start begins the turn.
func (j *job) start() *job {
	j.f.t.Helper()
	j.tell(nil, false, Fact{Execution: "exe_" + j.Run.ID + fmt.Sprint(j.Run.Fence.Number)}, Fact{Turn: &TurnStarted{Through: j.Through, Prompt: "work"}})
	return j
}

func (j *job) says(text string) { j.tell(nil, false, message(text)) }

func message(text string) Fact {
	data, _ := json.Marshal(map[string]string{"text": text})
	return Fact{Record: &Entry{Kind: fairlead.RecordMessage, Data: data}}
}

// done ends a good turn, its tree dead.
func (j *job) done() { j.f.t.Helper(); j.tell(&TurnEnd{StopReason: "end_turn"}, true) }

func (j *job) fails(class fairlead.ErrorClass) {
	j.f.t.Helper()
	j.tell(&TurnEnd{StopReason: "failed", Failure: &fairlead.Failure{Class: class, Message: "broken"}}, true)
}

// as is the meta of the agent that works on the job.
func (j *job) as() Meta {
	a := fairlead.Actor{Kind: fairlead.ActorAgent, Key: j.Run.Agent, Assignment: j.Run.Assignment, Run: j.Run.ID}
	fence := j.Run.Fence
	return Meta{Workspace: mainWorkspace, Actor: a, Fence: &fence}
}

// run loads a run as it is now.
func (f *floor) run(id string) (r fairlead.Run) {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) (err error) { r, err = tx.LoadRun(id); return err })
	return r
}

func (f *floor) read(fn func(tx *store.ReadTx) error) {
	f.t.Helper()
	f.must(f.db.Read(f.t.Context(), fn))
}

func (f *floor) session(id string) (s fairlead.Session) {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) (err error) { s, err = tx.LoadSession(id); return err })
	return s
}

func (f *floor) assignment(id string) (a fairlead.Assignment) {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) (err error) { a, err = tx.LoadAssignment(id); return err })
	return a
}

// active returns the queued and live runs of a task.
func (f *floor) active(task string) (runs []fairlead.Run) {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) (err error) { runs, err = tx.ActiveRuns(task); return err })
	return runs
}

// queued returns the one queued run of a task.
func (f *floor) queued(task string) fairlead.Run {
	f.t.Helper()
	runs := slices.DeleteFunc(f.active(task), func(r fairlead.Run) bool { return r.Status != fairlead.RunQueued })
	if len(runs) != 1 {
		f.t.Fatalf("got %d queued runs, want 1", len(runs))
	}
	return runs[0]
}

func (f *floor) comment(m Meta, task, text string) {
	f.t.Helper()
	_, err := f.c.Comment(f.t.Context(), m, task, fairlead.CommentBody{Text: text})
	f.must(err)
}

func (f *floor) move(task, step string) {
	f.t.Helper()
	_, err := f.c.Move(f.t.Context(), owner(), task, fairlead.MoveBody{Step: step})
	f.must(err)
}

// status checks where a run stands.
func (f *floor) status(run string, want fairlead.RunStatus) fairlead.Run {
	f.t.Helper()
	r := f.run(run)
	if r.Status != want {
		f.t.Fatalf("run is %s (%s, %s), want %s", r.Status, r.Outcome, r.ErrorMessage, want)
	}
	return r
}

// texts returns what comments a session has to hear.
func (j *job) texts() (out []string) {
	for _, r := range j.Records {
		var d struct {
			Text string `json:"text"`
		}
		_ = json.Unmarshal(r.Data, &d)
		if r.Kind == fairlead.RecordComment {
			out = append(out, d.Text)
		}
	}
	return out
}

// held returns the kinds of the holds of a run.
func (f *floor) held(run string) (kinds []fairlead.HoldKind) {
	f.t.Helper()
	holds, err := f.c.Why(f.t.Context(), mainWorkspace, run)
	f.must(err)
	for _, h := range holds {
		if h.Text == "" || h.Release == "" {
			f.t.Errorf("hold %s has no text or no release", h.Kind)
		}
		kinds = append(kinds, h.Kind)
	}
	return kinds
}

func same[T comparable](t *testing.T, what string, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// fill makes many tasks like the first one, each with a queued run, with few commits.
func (f *floor) fill(workflow string, n int) {
	f.t.Helper()
	first, err := f.c.CreateTask(f.t.Context(), asClient(), fairlead.NewTask{Title: "first", Workflow: workflow})
	f.must(err)
	q := f.queued(first.ID)
	a, session := f.assignment(q.Assignment), f.session(q.Session)
	var row *store.TaskRow
	f.read(func(tx *store.ReadTx) (err error) { row, err = tx.LoadTask(first.ID); return err })
	for made := 1; made < n; made += 200 {
		f.must(f.db.Write(f.t.Context(), func(tx *store.Tx) error {
			for i := made; i < min(made+200, n); i++ {
				t, s, a, r := *row, session, a, q
				name := fmt.Sprintf("_copy%d", i)
				t.ID, t.Number, t.Identifier, t.Version = "tsk"+name, int64(1_000_000+i), fmt.Sprint("X-", i), 0
				s.ID, s.Task = "ses"+name, t.ID
				a.ID, a.Task, a.Session, a.Version = "asg"+name, t.ID, s.ID, 0
				r.ID, r.Task, r.Assignment, r.Session, r.Version = "run"+name, t.ID, a.ID, s.ID, 0
				if err := tx.InsertTask(&t); err != nil {
					return err
				}
				if _, err := tx.EnsureSession(s); err != nil {
					return err
				}
				if err := tx.InsertAssignment(a); err != nil {
					return err
				}
				if err := tx.InsertRun(&r); err != nil {
					return err
				}
				why := fairlead.Record{Task: t.ID, Seq: 1, Assignment: a.ID, Visit: 1, Run: r.ID, Kind: fairlead.RecordWake, Data: []byte("{}"), Sem: 1, At: tx.Now()}
				if err := tx.AppendRecords(why); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}
