package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// inHand picks a run that a working node has in hand and that is in one of the states.
func (m *cluster) inHand(rt *rapid.T, states ...fairlead.RunStatus) *shift {
	var fit []*shift
	for _, s := range m.working() {
		for _, j := range s.jobs {
			if r := m.run(j.Run.ID); r.Fence == j.Run.Fence && slices.Contains(states, r.Status) {
				fit = append(fit, j)
			}
		}
	}
	if len(fit) == 0 {
		rt.Skip("no such run")
	}
	return rapid.SampledFrom(fit).Draw(rt, "run")
}

// times is how often something is sent, and whether at once.
func times(rt *rapid.T) (n int, atOnce bool) {
	return rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(rt, "times"), rapid.Bool().Draw(rt, "at once")
}

// report sends one report as often as the draw says; it has to count once.
func (m *cluster) report(rt *rapid.T, j *shift, end *TurnEnd, dead bool, facts ...Fact) {
	j.seq++
	r := Report{
		Run: j.Run.ID, Fence: j.Run.Fence, Node: Node{ID: j.Run.Node, Epoch: j.Run.Epoch}, Seq: j.seq, Facts: facts, End: end, TreeDead: dead, Claimed: j.Run,
	}
	before, events := m.standing(), m.logged(j)
	n, atOnce := times(rt)
	answers := make([]Directive, n)
	send := func(i int) (err error) { answers[i], err = j.s.c.Report(context.Background(), r); return err }
	if atOnce {
		m.ok(errors.Join(together(n, send)...))
	} else {
		m.ok(send(0))
		once := m.logged(j)
		for i := 1; i < n; i++ {
			m.ok(send(i))
		}
		if twice := m.logged(j); twice != once {
			m.rt.Fatalf("a report sent again added %d lines to the log of run %s", twice-once, j.Run.ID)
		}
	}
	for _, a := range answers {
		if a != answers[0] {
			m.rt.Fatalf("one report was answered %v", answers)
		}
	}
	if n > 1 && atOnce && m.logged(j)-events > 12 {
		m.rt.Fatalf("one report added %d lines to the log", m.logged(j)-events)
	}
	m.ended(before)
	m.reported(j)
}

// logged counts the lines of a run's log.
func (m *cluster) logged(j *shift) (n int) {
	m.read(func(tx *store.ReadTx) error {
		all, err := tx.ListRunEvents(j.Run.ID, 0, 10_000)
		n = len(all)
		return err
	})
	return n
}

func (m *cluster) turns(rt *rapid.T) {
	j := m.inHand(rt, fairlead.RunClaimed)
	m.flight[j.Session.ID] = j.Through
	exe := fmt.Sprintf("exe_%s_%d", j.Run.ID, j.Run.Fence.Number)
	m.report(rt, j, nil, false, Fact{Execution: exe}, Fact{Turn: &TurnStarted{Through: j.Through, Prompt: "work"}})
}

func (m *cluster) progresses(rt *rapid.T) {
	m.report(rt, m.inHand(rt, fairlead.RunRunning), nil, false, message("at it"))
}

// ends ends a turn, or an attempt that came to none, in one of all the ways there are.
func (m *cluster) ends(rt *rapid.T) {
	j := m.inHand(rt, fairlead.RunClaimed, fairlead.RunRunning, fairlead.RunStopping)
	status := m.run(j.Run.ID).Status
	if status == fairlead.RunStopping {
		m.report(rt, j, nil, true)
		return
	}
	end, dead := TurnEnd{StopReason: "end_turn"}, rapid.Bool().Draw(rt, "tree dead")
	how := []string{"good", "good", "drained", "cut off", "transient", "transient", "limited", "limited", "no reset", "empty", "denied", "configuration", "turn_limit"}
	if status == fairlead.RunClaimed {
		how = how[2:]
	}
	switch how := rapid.SampledFrom(how).Draw(rt, "how"); how {
	case "good":
	case "drained", "cut off":
		end, dead = TurnEnd{StopReason: "interrupted", Interrupted: true, Counted: how == "cut off"}, true
	case "limited":
		wait := time.Duration(rapid.IntRange(1, 70).Draw(rt, "reset")) * time.Second
		end.Failure = &fairlead.Failure{Class: fairlead.ClassLimited, Message: "wait", RetryAfter: wait}
	case "no reset":
		end.Failure = &fairlead.Failure{Class: fairlead.ClassLimited, Message: "wait"}
	default:
		end.Failure = &fairlead.Failure{Class: fairlead.ErrorClass(how), Message: "broken"}
	}
	was, before := m.run(j.Run.ID), j.s.clock.Now()
	m.report(rt, j, &end, dead)
	m.onItsRung(j, &was, end.Failure, before)
}

// onItsRung checks the back-off that a failure began: within a fifth of what the ladder says, on the reporter's clock. A
// try that a person's message brought forward goes back to its rung.
func (m *cluster) onItsRung(j *shift, was *fairlead.Run, f *fairlead.Failure, before time.Time) {
	r, ladder := m.run(j.Run.ID), clusterLadders[j.Run.Agent]
	if r.Attempt > len(ladder) {
		m.rt.Fatalf("run %s is at attempt %d of a ladder of %d", r.ID, r.Attempt, len(ladder))
	}
	waits := becomes(&r) == fairlead.RunQueued && !r.Due && r.Attempt > 0
	if f == nil || !waits {
		return
	}
	if climbs := r.Attempt - was.Attempt; climbs > 1 || climbs > 0 && was.Early {
		m.rt.Fatalf("run %s climbed from attempt %d (early: %v) to %d", r.ID, was.Attempt, was.Early, r.Attempt)
	}
	d, after := ladder[r.Attempt-1], j.s.clock.Now()
	if r.DueAt.Before(before.Add(d*8/10-time.Millisecond)) || r.DueAt.After(after.Add(d*12/10+time.Millisecond)) {
		m.rt.Fatalf("run %s failed at %v and is due at %v; its rung is %v", r.ID, before, r.DueAt, d)
	}
}

// becomes is how a run has ended, or will with its tree.
func becomes(r *fairlead.Run) fairlead.RunStatus {
	if r.Status == fairlead.RunStopping {
		return r.StopStatus
	}
	return r.Status
}

// standing are the runs that are queued or live, by id.
func (m *cluster) standing() map[string]fairlead.Run {
	all := map[string]fairlead.Run{}
	for _, r := range m.allActive() {
		all[r.ID] = r
	}
	return all
}

func (m *cluster) allActive() (all []fairlead.Run) {
	for _, task := range m.tasks {
		all = append(all, m.active(task)...)
	}
	return all
}

// ended notes what became of runs: who failed for good is told of once, and a good or parked turn has told its session.
func (m *cluster) ended(before map[string]fairlead.Run) {
	for id, was := range before {
		r := m.run(id)
		end := becomes(&r)
		if end == becomes(&was) {
			continue
		}
		switch end {
		case fairlead.RunDead:
			m.errors[r.Task]++
		case fairlead.RunSucceeded, fairlead.RunParked:
			m.heard[r.Session] = max(m.heard[r.Session], m.flight[r.Session])
		default:
		}
	}
}

// reported notes whether the report was the one that told of a limit which does not end.
func (m *cluster) reported(j *shift) {
	for _, h := range m.holds() {
		if h.Reported && !m.told[h.ID] {
			m.told[h.ID] = true
			m.errors[j.Task.ID]++
		}
	}
}

func (m *cluster) holds() (held []fairlead.StandingHold) {
	m.read(func(tx *store.ReadTx) error {
		for agent := range clusterSlots {
			some, err := tx.HoldsOf(mainWorkspace, "one", agent)
			if err != nil {
				return err
			}
			held = append(held, some...)
		}
		return nil
	})
	return held
}

func (m *cluster) asks(rt *rapid.T) {
	j := m.inHand(rt, fairlead.RunRunning)
	v, err := j.s.c.Ask(context.Background(), j.as(), fairlead.AskBody{Prompt: "which?"})
	if fairlead.IsCode(err, fairlead.CodeRefused) || fairlead.IsCode(err, fairlead.CodeConflict) {
		return // too many questions, or the visit is over
	}
	m.ok(err)
	m.asked = append(m.asked, v.ID)
}

// waits lets time pass; sometimes the machines sleep for an hour, which monotonic clocks do not see.
func (m *cluster) waits(rt *rapid.T) {
	seconds := rapid.SampledFrom([]int{1, 3, 6, 15, 70, 3600}).Draw(rt, "seconds")
	m.base.add(time.Duration(seconds) * time.Second)
}

// jumps steps the wall clock of one node.
func (m *cluster) jumps(rt *rapid.T) {
	s := m.one(rt, m.nodes)
	off := rapid.SampledFrom([]time.Duration{0, 0, 1500 * time.Millisecond, -1500 * time.Millisecond, 40 * time.Second, -40 * time.Second, time.Hour, -time.Hour})
	s.clock.off.Store(int64(off.Draw(rt, "off")))
}

// fires fires what some node finds due, on all that find it so and twice on each, at once.
func (m *cluster) fires(rt *rapid.T) {
	var timers []fairlead.Timer
	m.read(func(tx *store.ReadTx) (err error) { timers, err = tx.NextTimers(100); return err })
	for _, t := range timers {
		var who []*station
		for _, s := range m.able() {
			if !t.DueAt.After(s.clock.Now()) {
				who = append(who, s, s)
			}
		}
		if len(who) > 0 {
			m.fire(t, who)
		}
	}
}

func (m *cluster) fire(t fairlead.Timer, who []*station) {
	beats := m.beats(t.Task)
	won := make([]bool, len(who))
	m.ok(errors.Join(together(len(who), func(i int) (err error) {
		won[i], err = who[i].c.fireTimer(context.Background(), t)
		return err
	})...))
	n := len(slices.DeleteFunc(won, func(b bool) bool { return !b }))
	var now *fairlead.Timer
	m.read(func(tx *store.ReadTx) (err error) { now, err = tx.FindTimer(t.Kind, t.Ref); return err })
	same := now != nil && now.ID == t.ID && now.Generation == t.Generation
	if n > 1 || same || n == 0 && now == nil && t.Kind == fairlead.TimerHeartbeat {
		m.rt.Fatalf("generation %d of the %s timer of %s fired %d times of %d; it is there: %v", t.Generation, t.Kind, t.Ref, n, len(who), same)
	}
	want := 0
	if t.Kind == fairlead.TimerHeartbeat {
		want = n
	}
	if got := m.beats(t.Task) - beats; got > want {
		m.rt.Fatalf("one generation of the %s timer of %s made %d heartbeats", t.Kind, t.Ref, got)
	}
	if n == 1 {
		m.fired = append(m.fired, t)
	}
}

// beats counts the heartbeats that came to a wake.
func (m *cluster) beats(task string) (n int) {
	if task == "" {
		return 0
	}
	m.read(func(tx *store.ReadTx) error {
		days, err := tx.ListBeats(task)
		for _, d := range days {
			if d.Outcome == beatFired {
				n += d.Count
			}
		}
		return err
	})
	return n
}

// refires fires a generation that was consumed long ago, as a node does that was stopped in between.
func (m *cluster) refires(rt *rapid.T) {
	if len(m.fired) == 0 {
		rt.Skip("nothing has fired")
	}
	t, s := rapid.SampledFrom(m.fired).Draw(rt, "timer"), m.one(rt, m.working())
	again, err := s.c.fireTimer(context.Background(), t)
	m.ok(err)
	if again {
		m.rt.Fatalf("generation %d of the %s timer of %s fired again", t.Generation, t.Kind, t.Ref)
	}
}
