package control

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// station is one process with a node.
type station struct {
	m      *cluster
	db     *store.DB
	c      *Control
	clock  *skewed
	random *rand.Rand
	hands  *hands
	node   Node
	watch  watch
	told   atomic.Bool
	silent bool // stopped by SIGSTOP: it renews, claims and reports nothing
	jobs   []*shift
}

// shift is a claimed run in the hands of a station.
type shift struct {
	*Claimed
	s   *station
	seq int64
}

// working are the stations that run.
func (m *cluster) working() []*station {
	return slices.DeleteFunc(slices.Clone(m.nodes), func(s *station) bool { return s.silent })
}

// able are the stations that may claim and fire: they run, and do not know their clock to be off.
func (m *cluster) able() []*station {
	return slices.DeleteFunc(m.working(), func(s *station) bool { return s.c.skewed.Load() })
}

func (m *cluster) one(rt *rapid.T, of []*station) *station {
	if len(of) == 0 {
		rt.Skip("no such node")
	}
	return rapid.SampledFrom(of).Draw(rt, "node")
}

// begin gives the station a new epoch. What it had in hand is a dead one's from here on.
func (s *station) begin() {
	n, err := s.db.BeginEpoch(context.Background(), fairlead.Node{ID: fmt.Sprintf("nod_test%d", epochs.Add(1)), Host: "test", PID: 1, Slots: 100})
	s.m.ok(err)
	s.m.zombies = append(s.m.zombies, s.jobs...)
	s.node, s.jobs, s.watch = Node{ID: n.ID, Epoch: n.Epoch}, nil, watch{}
	s.hands = &hands{node: s.node, free: 1000}
	s.c.SetLauncher(s.hands)
	s.told.Store(true)
}

// crashes ends a process and starts it again. On Postgres its epoch lives on until somebody sees it stand still, or is
// buried by the next process of the same home; nothing but the database is left.
func (m *cluster) crashes(rt *rapid.T) {
	s := m.one(rt, m.nodes)
	if s.db.Dialect() == "postgres" && rapid.Bool().Draw(rt, "same home") {
		m.ok(s.db.BuryEpochs(context.Background(), s.node.ID))
	}
	s.c = New(Deps{DB: s.db, Dispatch: broadcast{m: m}}, &Options{Random: s.random})
	s.silent = false
	s.begin()
	if rapid.Bool().Draw(rt, "recovers") {
		m.recover(s)
	}
}

func (m *cluster) silences(rt *rapid.T) {
	s := m.one(rt, m.working())
	s.silent = true
}

// thaws lets a stopped process go on. If it was declared dead, whatever it still tells is refused, and it begins anew.
func (m *cluster) thaws(rt *rapid.T) {
	s := m.one(rt, slices.DeleteFunc(slices.Clone(m.nodes), func(s *station) bool { return !s.silent }))
	s.silent = false
	s.watch.failed() // its readings are long ago
	for _, j := range slices.Clone(s.jobs) {
		if rapid.Bool().Draw(rt, "reports first") && !m.lives(s.node.Epoch) {
			m.isRefused(j)
		}
	}
	s.pulse()
}

func (m *cluster) lives(epoch int64) (alive bool) {
	m.read(func(tx *store.ReadTx) error {
		live, err := tx.LiveNodes()
		alive = slices.ContainsFunc(live, func(n fairlead.Node) bool { return n.Epoch == epoch })
		return err
	})
	return alive
}

// pulse is one renewal of a station, at the time its monotonic clock says.
func (s *station) pulse() {
	ctx := context.Background()
	sent := s.m.base.Now()
	r, err := s.c.renew(ctx, s.node)
	s.m.ok(err)
	if !r.alive {
		s.begin()
		return
	}
	// The database's clock is the true one here.
	s.m.ok(s.c.setClock(ctx, s.node, clockOffset(sent.Add(time.Duration(s.clock.off.Load())), sent.Add(time.Duration(s.clock.off.Load())), sent)))
	for _, dead := range s.watch.read(s.m.mono, s.m.mono, r.others) {
		for _, other := range s.m.nodes {
			if other.node.Epoch == dead.epoch && !other.silent {
				s.m.rt.Fatalf("epoch %d was declared dead, but it works", dead.epoch)
			}
		}
		s.m.ok(s.c.bury(ctx, dead.node, dead.epoch))
	}
}

// pulses lets five seconds pass in which every working node renews.
func (m *cluster) pulses(*rapid.T) {
	m.mono = m.mono.Add(nodeBeat)
	m.base.add(nodeBeat)
	for _, s := range m.working() {
		s.pulse()
	}
}

// watches lets time pass until whoever stands still is declared dead.
func (m *cluster) watches(rt *rapid.T) {
	for range 8 {
		m.pulses(rt)
	}
}

// recover takes over everything that dead epochs left.
func (m *cluster) recover(s *station) {
	before := m.standing()
	m.ok(s.c.Recover(context.Background(), s.node))
	m.ended(before)
}

// takesOver takes one run of a dead epoch over, perhaps by several nodes at once.
func (m *cluster) takesOver(rt *rapid.T) {
	var left []fairlead.Run
	for _, r := range m.allActive() {
		if r.Status.Live() && !m.lives(r.Epoch) {
			left = append(left, r)
		}
	}
	heirs := m.working()
	if len(left) == 0 || len(heirs) == 0 {
		rt.Skip("nothing to take over")
	}
	r := rapid.SampledFrom(left).Draw(rt, "run")
	before := m.standing()
	errs := make([]error, 2*len(heirs))
	var all sync.WaitGroup
	for i := range errs {
		s := heirs[i%len(heirs)]
		all.Go(func() { errs[i] = s.c.takeOver(context.Background(), s.node, r) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil && !fairlead.IsCode(err, fairlead.CodeConflict) { // an heir may be dead itself and not know
			m.ok(err)
		}
	}
	m.ended(before)
	m.left = append(m.left, r)
}

// takesOverLate takes a run over as a node does that looked long ago: nothing may change, whoever has the run now.
func (m *cluster) takesOverLate(rt *rapid.T) {
	if len(m.left) == 0 {
		rt.Skip("nothing was taken over")
	}
	r, s := rapid.SampledFrom(m.left).Draw(rt, "run"), m.one(rt, m.working())
	before := m.run(r.ID)
	m.ok(s.c.takeOver(context.Background(), s.node, r))
	if after := m.run(r.ID); after != before {
		m.rt.Fatalf("a takeover that came late changed run %+v to %+v", before, after)
	}
}

// late lets a worker tell what it did under a claim that is over: its epoch died, or its run went back or ended.
func (m *cluster) late(rt *rapid.T) {
	var over []*shift
	for _, j := range m.zombies {
		if !m.lives(j.Run.Epoch) {
			over = append(over, j)
		}
	}
	for _, s := range m.working() {
		for _, j := range s.jobs {
			if r := m.run(j.Run.ID); r.Fence != j.Run.Fence || !r.Status.Live() {
				over = append(over, j)
			}
		}
	}
	if len(over) == 0 {
		rt.Skip("nobody is late")
	}
	m.isRefused(rapid.SampledFrom(over).Draw(rt, "run"))
}

// isRefused reports under a claim that is over: nothing may change but the log of refusals.
func (m *cluster) isRefused(j *shift) {
	before, session := m.run(j.Run.ID), m.session(j.Session.ID)
	j.seq++
	for _, r := range []Report{
		{Facts: []Fact{{Turn: &TurnStarted{Through: j.Through, Prompt: "late"}}}},
		{Facts: []Fact{message("late")}},
		{End: &TurnEnd{StopReason: "end_turn"}, TreeDead: true},
		{End: &TurnEnd{StopReason: "failed", Failure: &fairlead.Failure{Class: fairlead.ClassConfiguration, Message: "late"}}, TreeDead: true},
		{TreeDead: true},
	} {
		r.Run, r.Fence, r.Node, r.Seq, r.Claimed = j.Run.ID, j.Run.Fence, Node{ID: j.Run.Node, Epoch: j.Run.Epoch}, 1000+j.seq, j.Run
		if d, err := j.s.c.Report(context.Background(), r); err != nil || d != StopTree {
			m.rt.Fatalf("a late report of run %s was answered %v, %v", j.Run.ID, d, err)
		}
		j.seq++
	}
	_, err := j.s.c.Comment(context.Background(), j.as(), j.Task.ID, fairlead.CommentBody{Text: "late"})
	if !fairlead.IsCode(err, fairlead.CodeForbidden) {
		m.rt.Fatalf("a comment under an old claim of run %s was answered %v", j.Run.ID, err)
	}
	if after := m.run(j.Run.ID); after != before {
		m.rt.Fatalf("late reports changed run %+v to %+v", before, after)
	}
	if after := m.session(j.Session.ID); after != session {
		m.rt.Fatalf("late reports changed session %+v to %+v", session, after)
	}
}

// as is the agent as its claim says.
func (j *shift) as() Meta { return (&job{Claimed: j.Claimed}).as() }

// look lets every node claim that was told to, until it misses, and then checks everything.
func (m *cluster) look(rt *rapid.T) {
	for {
		var told []*station
		for _, s := range m.able() {
			if s.told.Swap(false) {
				told = append(told, s)
			}
		}
		if len(told) == 0 {
			break
		}
		got := make([][]*Claimed, len(told))
		claim := func(i int) (err error) { got[i], err = told[i].claims(); return err }
		if len(told) > 1 && rapid.Bool().Draw(rt, "at once") {
			m.ok(errors.Join(together(len(told), claim)...))
		} else {
			for i := range told {
				m.ok(claim(i))
			}
		}
		for i, s := range told {
			for _, k := range got[i] {
				s.takes(k)
			}
		}
	}
	m.check()
}

// claims until there is nothing more.
func (s *station) claims() (got []*Claimed, err error) {
	for {
		k, err := s.c.Claim(context.Background(), s.node)
		if err != nil || k == nil {
			return got, err
		}
		got = append(got, k)
	}
}

// takes a claimed run in hand. Its prompt has to hold every comment that no good turn of its session was told.
func (s *station) takes(k *Claimed) {
	m := s.m
	s.jobs = append(s.jobs, &shift{Claimed: k, s: s})
	if k.Session.Delivered != m.heard[k.Session.ID] {
		m.rt.Fatalf("run %s starts after record %d, but its session was told up to %d", k.Run.ID, k.Session.Delivered, m.heard[k.Session.ID])
	}
	for text, seq := range m.said[k.Task.ID] {
		in := slices.ContainsFunc(k.Records, func(r fairlead.Record) bool { return r.Seq == seq })
		if seq > k.Session.Delivered && !in {
			m.rt.Fatalf("run %s of %s is not told the comment %s, record %d", k.Run.ID, k.Run.Agent, text, seq)
		}
	}
}
