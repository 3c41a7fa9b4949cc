package control

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// modelFlow has everything that can hold a run by itself: a limit on work, a settle window, a move that carries a turn.
const modelFlow = `
workflow: model
name: Model
start: first
steps:
  - key: first
    name: First
    agent: bob
    wip: 1
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
      turn_start: [{move: {to: second, if: 'visit.n % 3 == 0'}}]
  - key: second
    name: Second
    agent: ann
    wip: 2
    settle: 5s
    participants:
      - {role: collaborator, agent: bob}
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}, {queue_run: {to: "agent:bob", reason: help}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
  - {key: done, name: Done, terminal: done}
`

// listener is a dispatcher that only remembers that somebody was told to look.
type listener struct {
	idle
	told atomic.Bool
}

func (l *listener) WakeTx(tx *store.Tx) { tx.AfterCommit(func() { l.told.Store(true) }) }

// model drives one node by random events. The node looks only when it was told to.
type model struct {
	*floor
	rt    *rapid.T
	clock *hand
	wakes *listener
	hands *hands
	tasks []string
	jobs  []*job
	asked []string
	held  []string // blockers set: "task/blocker"
}

// Properties 1 and 2 of docs/TESTING.md: whatever happens, with no sweep, a run that nothing holds is claimed; and never
// do two executions share a session, a task's tree, an assignment or an agent's slot.
func TestModelOfTheQueue(t *testing.T) {
	histories(t, 40, 4, func(rt *rapid.T, own testing.TB, b storetest.Backend) {
		clock, wakes := newHand(), &listener{}
		f := newFloor(own, b.Open(own, &store.Options{Now: clock.Now}))
		f.agent("ann", "account: one\nretry: [5s, 1m]\n")
		f.agent("bob", "account: one\nparallel: 2\ncooldown: 2s\nretry: [3s, 10s]\n")
		f.save(modelFlow)
		f.c = New(Deps{DB: f.db, Dispatch: wakes}, nil)
		m := &model{floor: f, rt: rt, clock: clock, wakes: wakes, hands: f.hire(100)}
		for i := range 3 {
			v, err := f.c.CreateTask(context.Background(), asClient(), fairlead.NewTask{Title: fmt.Sprint(i), Workflow: []string{"stay", "model"}[i%2]})
			m.ok(err)
			m.tasks = append(m.tasks, v.ID)
		}
		rt.Repeat(m.actions())
		m.finish()
	})
}

func (m *model) ok(err error) {
	if err != nil {
		m.rt.Fatal(err)
	}
}

func (m *model) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":               func(*rapid.T) { m.settle() },
		"person_comment": func(rt *rapid.T) { m.says(rt, owner()) },
		"client_comment": func(rt *rapid.T) { m.says(rt, asClient()) },
		"move":           m.moves,
		"turn":           m.turns,
		"end":            m.ends,
		"ask":            m.asksOne,
		"answer":         m.answers,
		"stop":           m.stops,
		"start":          m.launches,
		"pause":          m.pauses,
		"block":          m.blocks,
		"unblock":        m.unblocks,
		"death":          m.dies,
		"time":           m.waits,
		"retry":          m.retries,
	}
}

func (m *model) task(rt *rapid.T) string { return rapid.SampledFrom(m.tasks).Draw(rt, "task") }

func (m *model) says(rt *rapid.T, as Meta) {
	_, err := m.c.Comment(context.Background(), as, m.task(rt), fairlead.CommentBody{Text: "x"})
	m.ok(err)
}

func (m *model) moves(rt *rapid.T) {
	task := m.task(rt)
	var row *store.TaskRow
	m.read(func(tx *store.ReadTx) (err error) { row, err = tx.LoadTask(task); return err })
	to := map[string][]string{"stay": {"work", "other"}, "model": {"first", "second"}}[row.Workflow]
	_, err := m.c.Move(context.Background(), owner(), task, fairlead.MoveBody{Step: rapid.SampledFrom(to).Draw(rt, "step")})
	m.ok(err)
}

// pick takes a live job whose run is in one of the states.
func (m *model) pick(rt *rapid.T, states ...fairlead.RunStatus) *job {
	var fit []*job
	for _, j := range m.jobs {
		// The same run may have been claimed anew since.
		if r := m.run(j.Run.ID); r.Fence == j.Run.Fence && slices.Contains(states, r.Status) {
			fit = append(fit, j)
		}
	}
	if len(fit) == 0 {
		rt.Skip("no such job")
	}
	return rapid.SampledFrom(fit).Draw(rt, "job")
}

func (m *model) report(j *job, end *TurnEnd, dead bool, facts ...Fact) {
	_, err := j.report(end, dead, facts...)
	m.ok(err)
}

func (m *model) turns(rt *rapid.T) {
	j := m.pick(rt, fairlead.RunClaimed)
	exe := fmt.Sprintf("exe_%s_%d", j.Run.ID, j.Run.Fence.Number)
	m.report(j, nil, false, Fact{Execution: exe}, Fact{Turn: &TurnStarted{Through: j.Through, Prompt: "work"}})
}

func (m *model) ends(rt *rapid.T) {
	j := m.pick(rt, fairlead.RunRunning, fairlead.RunStopping)
	if m.run(j.Run.ID).Status == fairlead.RunStopping {
		m.report(j, nil, true)
		return
	}
	end := TurnEnd{StopReason: "end_turn"}
	dead := true
	switch rapid.SampledFrom([]string{"good", "failed", "failed slow", "limited", "slow", "drained"}).Draw(rt, "how") {
	case "failed":
		end.Failure = &fairlead.Failure{Class: fairlead.ClassTransient, Message: "broken"}
	case "failed slow":
		end.Failure, dead = &fairlead.Failure{Class: fairlead.ClassEmpty, Message: "broken"}, false
	case "limited":
		end.Failure = &fairlead.Failure{Class: fairlead.ClassLimited, Message: "wait", RetryAfter: 4 * time.Second}
	case "slow":
		dead = false
	case "drained":
		end.Interrupted = true
	}
	m.report(j, &end, dead)
}

func (m *model) asksOne(rt *rapid.T) {
	j := m.pick(rt, fairlead.RunRunning)
	v, err := m.c.Ask(context.Background(), m.asOf(j), fairlead.AskBody{Prompt: "which?"})
	if fairlead.IsCode(err, fairlead.CodeRefused) || fairlead.IsCode(err, fairlead.CodeConflict) {
		return // too many questions, or the visit is over
	}
	m.ok(err)
	m.asked = append(m.asked, v.ID)
}

// asOf is the agent as its run stands now: a turn may have been carried to another assignment.
func (m *model) asOf(j *job) Meta {
	meta := j.as()
	meta.Actor.Assignment = m.run(j.Run.ID).Assignment
	return meta
}

func (m *model) answers(rt *rapid.T) {
	if len(m.asked) == 0 {
		rt.Skip("nothing asked")
	}
	id := m.asked[0]
	m.asked = m.asked[1:]
	_, err := m.c.Answer(context.Background(), owner(), id, fairlead.AnswerBody{Answer: fairlead.Answer{Text: "that"}})
	if !fairlead.IsCode(err, fairlead.CodeConflict) { // its visit may have ended
		m.ok(err)
	}
}

func (m *model) stops(rt *rapid.T) {
	_, err := m.c.Stop(context.Background(), owner(), m.task(rt), fairlead.OpBody{})
	m.ok(err)
}

func (m *model) launches(rt *rapid.T) {
	m.hands.launched = nil
	_, err := m.c.Start(context.Background(), owner(), m.task(rt), fairlead.StartBody{Message: "go"})
	if !fairlead.IsCode(err, fairlead.CodeConflict) {
		m.ok(err)
	}
	for _, k := range m.hands.launched {
		m.jobs = append(m.jobs, &job{Claimed: k, f: m.floor})
	}
}

func (m *model) pauses(rt *rapid.T) {
	agent := rapid.SampledFrom([]string{"ann", "bob"}).Draw(rt, "agent")
	do := m.c.PauseAgent
	if rapid.Bool().Draw(rt, "resume") {
		do = m.c.ResumeAgent
	}
	_, err := do(context.Background(), owner(), agent, fairlead.PauseBody{})
	m.ok(err)
}

func (m *model) blocks(rt *rapid.T) {
	a, b := m.task(rt), m.task(rt)
	if a <= b || slices.Contains(m.held, a+"/"+b) {
		rt.Skip("no such edge")
	}
	_, err := m.c.AddBlocker(context.Background(), owner(), a, fairlead.BlockerBody{BlockedBy: b})
	m.ok(err)
	m.held = append(m.held, a+"/"+b)
}

func (m *model) unblocks(rt *rapid.T) {
	if len(m.held) == 0 {
		rt.Skip("no edge")
	}
	var a, b string
	edge := m.held[0]
	m.held = m.held[1:]
	for i := range edge {
		if edge[i] == '/' {
			a, b = edge[:i], edge[i+1:]
		}
	}
	_, err := m.c.RemoveBlocker(context.Background(), owner(), a, b, fairlead.OpBody{})
	m.ok(err)
}

func (m *model) dies(*rapid.T) {
	m.restart()
	m.hands.node = m.node
	m.jobs = nil
}

func (m *model) waits(rt *rapid.T) {
	m.clock.add(time.Duration(rapid.IntRange(1, 10).Draw(rt, "seconds")) * time.Second)
	_, err := m.c.FireDue(context.Background())
	m.ok(err)
}

func (m *model) retries(rt *rapid.T) {
	var dead []string
	for _, j := range m.jobs {
		if m.run(j.Run.ID).Status == fairlead.RunDead {
			dead = append(dead, j.Run.ID)
		}
	}
	if len(dead) == 0 {
		rt.Skip("nothing failed")
	}
	_, err := m.c.RetryRun(context.Background(), owner(), rapid.SampledFrom(dead).Draw(rt, "run"), fairlead.OpBody{})
	if !fairlead.IsCode(err, fairlead.CodeConflict) {
		m.ok(err)
	}
}

// settle lets the node look if it was told to, and then checks everything.
func (m *model) settle() {
	for m.wakes.told.Swap(false) {
		for {
			k, err := m.c.Claim(context.Background(), m.node)
			m.ok(err)
			if k == nil {
				break
			}
			m.jobs = append(m.jobs, &job{Claimed: k, f: m.floor})
		}
	}
	m.check()
}

func (m *model) check() {
	live := map[string]int{}
	queueClaimed := map[string]int{}
	for _, task := range m.tasks {
		visit := 0
		m.read(func(tx *store.ReadTx) error { row, err := tx.LoadTask(task); visit = row.Visit; return err })
		for _, r := range m.active(task) {
			if r.Status == fairlead.RunQueued {
				live["queued of assignment "+r.Assignment]++
				holds, err := m.c.Why(context.Background(), mainWorkspace, r.ID)
				m.ok(err)
				if len(holds) == 0 {
					m.rt.Fatalf("nothing holds run %s of %s at %s, and nobody was told to look", r.ID, r.Agent, r.Step)
				}
				continue
			}
			live["task "+r.Task]++
			live["session "+r.Session]++
			live["assignment "+r.Assignment]++
			if !r.Direct {
				queueClaimed[r.Agent]++
			}
			if r.Visit != visit && r.Status != fairlead.RunStopping && r.StopStatus == "" {
				m.rt.Fatalf("run %s of visit %d is %s in visit %d", r.ID, r.Visit, r.Status, visit)
			}
		}
	}
	m.checkHolds()
	for what, n := range live {
		if n > 1 {
			m.rt.Fatalf("%d runs live for %s", n, what)
		}
	}
	if queueClaimed["ann"] > 1 || queueClaimed["bob"] > 2 {
		m.rt.Fatalf("agents work beyond their limits: %v", queueClaimed)
	}
}

// checkHolds: a standing hold waits for its timer, for the next claim, or for a live run.
func (m *model) checkHolds() {
	m.read(func(tx *store.ReadTx) error {
		for _, agent := range []string{"ann", "bob"} {
			held, err := tx.HoldsOf(mainWorkspace, "one", agent)
			if err != nil {
				return err
			}
			for _, h := range held {
				timer, err := tx.FindTimer(fairlead.TimerHold, h.ID)
				if err != nil {
					return err
				}
				if h.State == fairlead.HoldShut && timer == nil {
					m.rt.Fatalf("nothing ends the %s hold of %s", h.Kind, h.Ref)
				}
				if h.State == fairlead.HoldProbing && !m.run(h.Probe).Status.Live() {
					m.rt.Fatalf("the %s hold of %s waits for run %s, which has ended", h.Kind, h.Ref, h.Probe)
				}
			}
		}
		return nil
	})
}

// idle reports whether no task has a run that is queued or live.
func (m *model) idle() bool {
	return !slices.ContainsFunc(m.tasks, func(task string) bool { return len(m.active(task)) > 0 })
}

// finish works everything off, which has to end, and clears the house for the next history.
func (m *model) finish() {
	for _, agent := range []string{"ann", "bob"} {
		_, err := m.c.ResumeAgent(context.Background(), owner(), agent, fairlead.PauseBody{})
		m.ok(err)
	}
	for _, edge := range m.held {
		_, err := m.c.RemoveBlocker(context.Background(), owner(), edge[:len(edge)/2], edge[len(edge)/2+1:], fairlead.OpBody{})
		m.ok(err)
	}
	for _, id := range m.asked {
		_, err := m.c.Answer(context.Background(), owner(), id, fairlead.AnswerBody{Answer: fairlead.Answer{Text: "that"}})
		if !fairlead.IsCode(err, fairlead.CodeConflict) {
			m.ok(err)
		}
	}
	for range 200 {
		m.clock.add(time.Minute)
		_, err := m.c.FireDue(context.Background())
		m.ok(err)
		m.settle()
		if !m.workOff() && m.idle() {
			m.cleared()
			return
		}
	}
	for _, task := range m.tasks {
		for _, r := range m.active(task) {
			holds, err := m.c.Why(context.Background(), mainWorkspace, r.ID)
			m.ok(err)
			m.rt.Errorf("run %s of %s is %s, attempt %d, due %v: %+v", r.ID, r.Agent, r.Status, r.Attempt, r.Due, holds)
		}
	}
	m.rt.Fatal("draining does not end")
}

// workOff ends every live job well; false: there is none.
func (m *model) workOff() (worked bool) {
	for _, j := range m.jobs {
		switch m.run(j.Run.ID).Status {
		case fairlead.RunClaimed:
			m.report(j, nil, false, Fact{Turn: &TurnStarted{Through: j.Through, Prompt: "work"}})
		case fairlead.RunRunning:
			m.report(j, &TurnEnd{StopReason: "end_turn"}, true)
		case fairlead.RunStopping:
			m.report(j, nil, true)
		default:
			continue
		}
		worked = true
	}
	return worked
}

// cleared checks that nothing is left, and takes the tasks off the board.
func (m *model) cleared() {
	for _, task := range m.tasks {
		if runs := m.active(task); len(runs) != 0 {
			m.rt.Fatalf("run %s is %s and will never end", runs[0].ID, runs[0].Status)
		}
	}
	m.noPlaces("model", "first", "second")
	for _, task := range m.tasks {
		_, err := m.c.Archive(context.Background(), owner(), task, fairlead.OpBody{})
		m.ok(err)
	}
}
