package control

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

func saidIn(r fairlead.Record) string {
	var d struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(r.Data, &d)
	return d.Text
}

// check holds the database against everything the model knows, after each action.
func (m *cluster) check() {
	able := len(m.able()) > 0
	count := map[string]int{}
	for _, r := range m.allActive() {
		if r.Attempt > len(clusterLadders[r.Agent]) {
			m.rt.Fatalf("run %s is at attempt %d", r.ID, r.Attempt)
		}
		if r.Status == fairlead.RunQueued {
			count["queued for assignment "+r.Assignment]++
			m.isHeld(&r, able)
			continue
		}
		count["live in task "+r.Task]++
		count["live in session "+r.Session]++
		count["live for assignment "+r.Assignment]++
		count["slot "+r.Agent]++
		if !r.Direct {
			count["claimed for "+r.Agent]++
		}
		m.isInHand(&r)
	}
	for agent, slots := range clusterSlots {
		if n := count["claimed for "+agent]; n > slots {
			m.rt.Fatalf("%s has %d runs from the queue, want at most %d", agent, n, slots)
		}
		taken := 0
		m.read(func(tx *store.ReadTx) error {
			all, err := tx.SlotsOf(mainWorkspace, agent)
			taken = len(all)
			return err
		})
		if taken != count["slot "+agent] {
			m.rt.Fatalf("%s has %d slots taken and %d live runs", agent, taken, count["slot "+agent])
		}
		delete(count, "claimed for "+agent)
		delete(count, "slot "+agent)
	}
	for what, n := range count {
		if n > 1 {
			m.rt.Fatalf("%d runs %s", n, what)
		}
	}
	m.checkHolds()
	m.checkInbox()
	for _, task := range m.tasks {
		m.checkTask(task)
	}
}

// isHeld checks that a queued run waits for something that will end: nothing else keeps nodes that were told from it.
func (m *cluster) isHeld(r *fairlead.Run, able bool) {
	holds, err := m.c.Why(context.Background(), mainWorkspace, r.ID)
	m.ok(err)
	if len(holds) == 0 && able {
		m.rt.Fatalf("nothing holds run %s of %s at %s, and nobody was told to look", r.ID, r.Agent, r.Step)
	}
	if r.Due {
		return
	}
	var t *fairlead.Timer
	m.read(func(tx *store.ReadTx) (err error) { t, err = tx.FindTimer(fairlead.TimerRunDue, r.ID); return err })
	if t == nil || !t.DueAt.Equal(r.DueAt) {
		m.rt.Fatalf("run %s is due at %v, but its timer is %+v", r.ID, r.DueAt, t)
	}
}

// isInHand checks that a live run is in the hands of its node under its fence, or that its epoch is not the present one
// of any node, so that it will be taken over.
func (m *cluster) isInHand(r *fairlead.Run) {
	for _, s := range m.nodes {
		if s.node.Epoch != r.Epoch {
			continue
		}
		if !slices.ContainsFunc(s.jobs, func(j *shift) bool { return j.Run.ID == r.ID && j.Run.Fence == r.Fence }) {
			m.rt.Fatalf("run %s is %s on node %s, which has not got it", r.ID, r.Status, r.Node)
		}
	}
}

// checkHolds: a standing hold waits for its timer, for the next claim, or for a live run.
func (m *cluster) checkHolds() {
	for _, h := range m.holds() {
		var t *fairlead.Timer
		m.read(func(tx *store.ReadTx) (err error) { t, err = tx.FindTimer(fairlead.TimerHold, h.ID); return err })
		if h.State == fairlead.HoldShut && t == nil {
			m.rt.Fatalf("nothing ends the %s hold of %s", h.Kind, h.Ref)
		}
		if h.State == fairlead.HoldProbing && !m.run(h.Probe).Status.Live() {
			m.rt.Fatalf("the %s hold of %s waits for run %s, which has ended", h.Kind, h.Ref, h.Probe)
		}
	}
}

// checkInbox: whatever failed for good was told once, no more and no less.
func (m *cluster) checkInbox() {
	got := map[string]int{}
	m.read(func(tx *store.ReadTx) error {
		all, _, err := tx.ListNotices(mainWorkspace, true, store.Page{Limit: 200})
		for _, n := range all {
			if n.Kind == "agent_error" {
				got[n.Task]++
			}
		}
		return err
	})
	for _, task := range m.tasks {
		if got[task] != m.errors[task] {
			m.rt.Fatalf("the inbox has %d agent errors of task %s, want %d", got[task], task, m.errors[task])
		}
	}
}

// checkTask: every acknowledged comment is there once; the tree is checked out by a live run; the journal says what the
// rows say; whoever has an interrupted turn has somebody who goes on with it.
func (m *cluster) checkTask(task string) {
	var texts []string
	var out *store.Checkout
	m.read(func(tx *store.ReadTx) error {
		all, err := tx.ListComments(task, 0, 10_000)
		for _, c := range all {
			texts = append(texts, c.Text)
		}
		if err == nil {
			out, err = tx.CheckoutOf(task)
		}
		return err
	})
	for text := range m.said[task] {
		if !slices.Contains(texts, text) {
			m.rt.Fatalf("%s was acknowledged and is gone", text)
		}
	}
	if len(texts) != len(m.said[task]) {
		m.rt.Fatalf("got comments %v, acknowledged were %d", texts, len(m.said[task]))
	}
	if out != nil && !m.run(out.Run).Status.Live() {
		m.rt.Fatalf("task %s is checked out by run %s, which has ended", task, out.Run)
	}
	if diff := m.foldDiff(task); diff != "" {
		m.rt.Fatalf("the journal of %s says something else than its rows (-rows +journal):\n%s", task, diff)
	}
}

// finish wakes and mends every node, works everything off, which has to end, and looks at what is left.
func (m *cluster) finish() {
	ctx := context.Background()
	for _, s := range m.nodes {
		s.silent = false
		s.clock.off.Store(0)
	}
	if len(m.nodes) > 1 {
		m.watches(m.rt) // an epoch that nobody has any more dies by it
	}
	for _, s := range m.nodes {
		m.recover(s)
	}
	for agent := range clusterSlots {
		_, err := m.c.ResumeAgent(ctx, owner(), agent, fairlead.PauseBody{})
		m.ok(err)
	}
	for len(m.asked) > 0 {
		m.answers(m.rt)
	}
	for _, task := range m.tasks { // away from the heartbeat, which never ends
		_, err := m.c.Move(ctx, owner(), task, fairlead.MoveBody{Step: "third"})
		m.ok(err)
	}
	m.drain()
	for _, task := range m.tasks {
		o := &order{meta: owner(), task: task}
		m.comment(o)
		m.give(m.rt, o)
	}
	m.drain()
	for _, task := range m.tasks {
		m.nothingLost(task)
	}
	m.noPlaces("cluster", "first", "second")
}

// drain ends every run well until there is none.
func (m *cluster) drain() {
	for range 200 {
		m.base.add(5 * time.Minute)
		m.ok(errors.Join(together(len(m.nodes), func(i int) error { _, err := m.nodes[i].c.FireDue(context.Background()); return err })...))
		m.look(m.rt)
		worked := false
		for _, s := range m.nodes {
			for _, j := range s.jobs {
				worked = m.workOff(j) || worked
			}
		}
		if !worked && len(m.allActive()) == 0 {
			return
		}
	}
	for _, r := range m.allActive() {
		holds, err := m.c.Why(context.Background(), mainWorkspace, r.ID)
		m.ok(err)
		m.rt.Errorf("run %s of %s is %s, attempt %d, due %v: %+v", r.ID, r.Agent, r.Status, r.Attempt, r.Due, holds)
	}
	m.rt.Fatal("draining does not end")
}

func (m *cluster) workOff(j *shift) bool {
	r := m.run(j.Run.ID)
	if r.Fence != j.Run.Fence {
		return false
	}
	switch r.Status {
	case fairlead.RunClaimed:
		m.flight[j.Session.ID] = j.Through
		m.report(m.rt, j, nil, false, Fact{Turn: &TurnStarted{Through: j.Through, Prompt: "work"}})
	case fairlead.RunRunning:
		m.report(m.rt, j, &TurnEnd{StopReason: "end_turn"}, true)
	case fairlead.RunStopping:
		m.report(m.rt, j, nil, true)
	default:
		return false
	}
	return true
}

// nothingLost: the task's agent has heard every comment, every wake of the journal stands at a run, and no run that was
// merged into another one kept any.
func (m *cluster) nothingLost(task string) {
	wakes, want := 0, 0
	m.read(func(tx *store.ReadTx) error {
		records, err := tx.ListRecords(task, 0, 100_000)
		if err != nil {
			return err
		}
		for _, r := range records {
			if r.Kind == fairlead.RecordWake {
				want++
			}
		}
		runs, _, err := tx.ListRuns(store.RunFilter{Task: task}, store.Page{Limit: 1000})
		for _, r := range runs {
			some, err := tx.ListWakes(r.ID)
			if err != nil {
				return err
			}
			if wakes += len(some); r.MergedInto != "" && len(some) > 0 {
				m.rt.Fatalf("run %s was merged into %s and kept %d wakes", r.ID, r.MergedInto, len(some))
			}
		}
		return err
	})
	if wakes != want {
		m.rt.Fatalf("task %s has %d wakes in its journal and %d at its runs", task, want, wakes)
	}
	for text, seq := range m.said[task] {
		if heard := m.heardBy(task, "ann"); heard < seq {
			m.rt.Fatalf("nobody heard %s of task %s, record %d: the session was told up to %d", text, task, seq, heard)
		}
	}
}

// heardBy is up to where an agent's session at a task was told.
func (m *cluster) heardBy(task, agent string) (most int64) {
	m.read(func(tx *store.ReadTx) error {
		all, err := tx.ListSessions(task)
		for _, s := range all {
			if s.Agent == agent {
				most = max(most, m.heard[s.ID])
			}
		}
		return err
	})
	return most
}
