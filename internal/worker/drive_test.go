package worker

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/agent/script"
	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/workflow"
	"github.com/fairlead/fairlead/internal/workspace"
)

// queue is control as a worker sees it: it hands out runs and keeps what is reported.
type queue struct {
	mu      sync.Mutex
	waiting []*control.Claimed
	reports []control.Report
	stopped map[string]bool
	answer  func(control.Report) (control.Directive, error)
	ended   chan control.Report // a report with the death of the tree
}

func (q *queue) Claim(context.Context, control.Node) (*control.Claimed, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil, nil
	}
	c := q.waiting[0]
	q.waiting = q.waiting[1:]
	return c, nil
}

func (q *queue) Report(_ context.Context, r control.Report) (control.Directive, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.answer != nil {
		if d, err := q.answer(r); err != nil || d != control.Continue {
			if err == nil {
				q.reports = append(q.reports, r)
			}
			return d, err
		}
	}
	q.reports = append(q.reports, r)
	if r.TreeDead {
		q.ended <- r
	}
	return control.Continue, nil
}

func (q *queue) Stopping(context.Context, control.Node) (ids []string, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id := range q.stopped {
		ids = append(ids, id)
	}
	return ids, nil
}

func (q *queue) CarriedTo(context.Context, string) (string, error) { return "asg_carried", nil }

// facts lists the kinds of what was reported, in order.
func (q *queue) facts() (kinds []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.reports {
		for _, f := range r.Facts {
			switch {
			case f.Record != nil:
				kinds = append(kinds, f.Record.Kind)
			case f.Turn != nil:
				kinds = append(kinds, "turn")
			case f.Execution != "":
				kinds = append(kinds, "execution")
			}
		}
		if r.End != nil {
			kinds = append(kinds, "end:"+r.End.StopReason)
		}
	}
	return kinds
}

// here is a directory for every task.
type here string

func (h here) Prepare(context.Context, workspace.Order) (workspace.Tree, error) {
	if h == "" {
		return workspace.Tree{}, fairlead.Errorf(fairlead.CodeInvalid, "the repository is gone")
	}
	return workspace.Tree{Dir: string(h)}, nil
}

func (h here) Leave(context.Context, string, string, func() bool) (workspace.Left, error) {
	return workspace.Left{}, nil
}

// echo is a box with one tool; a call of it is told on called.
type echo struct{ called chan agent.Call }

func (e echo) Tools() []agent.ToolSpec {
	return []agent.ToolSpec{{Name: "echo", Schema: []byte(`{"type":"object"}`), Effect: agent.EffectRead}}
}

func (e echo) Call(_ context.Context, c agent.Call) agent.Result {
	e.called <- c
	return agent.Result{Outcome: agent.OutcomeOK, Text: "echoed"}
}

type stage struct {
	*queue
	w    *Worker
	box  echo
	tree here
}

func newStage(t *testing.T, slots int) *stage {
	t.Helper()
	dir := t.TempDir()
	spool, err := agent.OpenSpool(filepath.Join(dir, "spool"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := script.New(agent.NewRecorder(spool, time.Now), filepath.Join(dir, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{queue: &queue{stopped: map[string]bool{}, ended: make(chan control.Report, 16)}, box: echo{called: make(chan agent.Call, 16)}, tree: here(dir)}
	s.w = New(Deps{
		Queue: s.queue, Runtime: agent.NewRegistry(map[string]agent.Runtime{"script": runtime}), Trees: s.tree, Sessions: filepath.Join(dir, "sessions"),
		Tools: func(string, Authority) (agent.ToolBox, func(), error) { return s.box, func() {}, nil },
	}, control.Node{ID: "nod_1", Epoch: 1}, &Options{Slots: slots})
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.w.Close(ended) // a drain of no time: whatever still runs is ended
		runtime.Close()
		if err := spool.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// run queues a run whose agent plays a script.
func (s *stage) run(id, play string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, &control.Claimed{
		Run:        fairlead.Run{ID: id, Workspace: "main", Agent: "coder", Fence: fairlead.Fence{Number: 1, Claim: "c"}},
		Task:       fairlead.Task{ID: "tsk_1", Identifier: "FL-1", Title: "T"},
		Assignment: fairlead.Assignment{ID: "asg_1", Agent: "coder", Capacity: fairlead.CapacityPrimary, Step: "work"},
		Session:    fairlead.Session{ID: "ses_" + id}, Step: &workflow.Step{Key: "work"}, Through: 3,
		Agent: fairlead.AgentProfile{Key: "coder", Adapter: "script", Script: []byte(play)},
	})
}

func (s *stage) look(t *testing.T) {
	t.Helper()
	if err := s.w.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestARunIsReportedFromTurnToDeath(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.run("run_1", `[{"do":[{"say":"a"},{"tool":{"name":"echo","args":{}}},{"say":"b"}]}]`)
	s.look(t)
	end := <-s.ended
	if end.End == nil || end.End.StopReason != string(agent.EndTurn) || end.End.Failure != nil || end.Run != "run_1" || end.Fence.Claim != "c" {
		t.Errorf("got end %+v", end)
	}
	got := s.facts()
	want := []string{"execution", "turn", fairlead.RecordEffectIntent, fairlead.RecordEffectOutcome, "end:end_turn"}
	var order []string
	for _, k := range got {
		if slices.Contains(want, k) {
			order = append(order, k)
		}
	}
	if !slices.Equal(order, want) || !slices.Contains(got, fairlead.RecordMessage) {
		t.Errorf("got facts %v, want %v in this order, and what was said", got, want)
	}
	for i, r := range s.reports {
		if r.Seq != int64(i+1) {
			t.Errorf("report %d has the number %d", i, r.Seq)
		}
	}
}

func TestACallIsOnRecordBeforeItRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.box.called = make(chan agent.Call) // the tool waits until it is looked at
	s.run("run_1", `[{"do":[{"tool":{"name":"echo","args":{}}}]}]`)
	s.look(t)
	<-s.box.called
	if got := s.facts(); !slices.Contains(got, fairlead.RecordEffectIntent) {
		t.Errorf("got facts %v while the tool runs, want its intent", got)
	}
	<-s.ended
}

func TestFailuresAreClassifiedAndReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play string
		tree here
		want fairlead.ErrorClass
	}{
		"agent fails":   {`[{"do":[{"fail":"limited"}]}]`, "-", fairlead.ClassLimited},
		"agent dies":    {`[{"do":[{"die":3}]}]`, "-", fairlead.ClassTransient},
		"no rule":       {`[{"when":{"prompt":"never"},"do":[{"say":"x"}]}]`, "-", fairlead.ClassConfiguration},
		"no tree":       {`[{"do":[{"say":"x"}]}]`, "", fairlead.ClassConfiguration},
		"broken script": {`{"do":1}`, "-", fairlead.ClassConfiguration},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, 1)
			if c.tree == "" {
				s.w.Trees = c.tree
			}
			s.run("run_1", c.play)
			s.look(t)
			end := (<-s.ended).End
			if end == nil || end.Failure == nil || end.Failure.Class != c.want {
				t.Errorf("got end %+v, want class %s", end, c.want)
			}
		})
	}
}

func TestARunToldToStopIsKilledAndItsDeathReported(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.run("run_1", `[{"do":[{"tool":{"name":"echo","args":{}}},{"hang":"1h"}]}]`)
	s.look(t)
	<-s.box.called
	s.mu.Lock()
	s.stopped["run_1"] = true
	s.mu.Unlock()
	s.look(t) // the stop was committed elsewhere; the look finds it
	if end := <-s.ended; !end.TreeDead || end.End != nil && end.End.Failure != nil {
		t.Errorf("got %+v, want the death of the tree without a failure", end)
	}
}

func TestSlotsBoundWhatIsClaimedAndAFreedOneClaimsAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, 2)
	for _, id := range []string{"run_1", "run_2", "run_3", "run_4"} {
		s.run(id, `[{"do":[{"say":"x"}]}]`)
	}
	s.look(t)
	for range 4 {
		<-s.ended
	}
	if s.w.Reserve(); s.w.free < 0 {
		t.Error("more slots were taken than there are")
	}
}

func TestAReportThatFailsIsSentAgainUnderItsNumber(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	failed := map[int64]bool{}
	s.answer = func(r control.Report) (control.Directive, error) {
		if !failed[r.Seq] {
			failed[r.Seq] = true
			return 0, errors.New("the database is away")
		}
		return control.Continue, nil
	}
	s.run("run_1", `[{"do":[{"say":"x"}]}]`)
	s.look(t)
	<-s.ended
	seen := map[int64]bool{}
	for _, r := range s.reports {
		if seen[r.Seq] {
			t.Errorf("report %d was taken twice", r.Seq)
		}
		seen[r.Seq] = true
	}
}

func TestDrainEndsWhatIsLeftAsAnInterruption(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.run("run_1", `[{"do":[{"tool":{"name":"echo","args":{}}},{"hang":"1h"}]}]`)
	s.look(t)
	<-s.box.called
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.w.Close(over); err == nil {
		t.Error("a drain that ran out of time says nothing")
	}
	end := <-s.ended
	if end.End == nil || !end.End.Interrupted || end.End.Counted || !end.TreeDead {
		t.Errorf("got %+v, want the run handed back without a mark against it", end)
	}
	if s.w.Reserve() {
		t.Error("a closed worker gives out slots")
	}
}

func TestR10_AnInterruptionIsCountedAndTheWorkerGoesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.run("run_1", `[{"do":[{"tool":{"name":"echo","args":{}}},{"hang":"1h"}]}]`)
	s.look(t)
	<-s.box.called
	s.run("run_2", `[{"do":[{"say":"x"}]}]`)
	s.w.Interrupt()
	if end := <-s.ended; end.Run != "run_1" || end.End == nil || !end.End.Interrupted || !end.End.Counted || !end.TreeDead {
		t.Errorf("got %+v, want the run handed back as cut off", end)
	}
	if end := <-s.ended; end.Run != "run_2" || end.End == nil || end.End.Interrupted {
		t.Errorf("got %+v, want the next run to work as ever", end)
	}
}
