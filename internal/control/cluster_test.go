package control

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// clusterFlow has what can hold a run or a timer at work: places, a settle window, a heartbeat, seats of a second agent,
// and a step that tells of each failure for good.
const clusterFlow = `
workflow: cluster
name: Cluster
start: first
steps:
  - key: first
    name: First
    agent: bob
    wip: 1
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
      agent_error: [{inbox_item: {kind: agent_error, text: "failed"}}]
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
      heartbeat: {every: 20s, missed: once, do: [{queue_run: {to: primary, reason: heartbeat}}]}
      agent_error: [{inbox_item: {kind: agent_error, text: "failed"}}]
  - key: third
    name: Third
    agent: ann
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
      agent_error: [{inbox_item: {kind: agent_error, text: "failed"}}]
  - {key: done, name: Done, terminal: done}
`

// The agents of the model: how many runs each may have from the queue at once, and its ladder.
var (
	clusterSlots   = map[string]int{"ann": 1, "bob": 2}
	clusterLadders = map[string][]time.Duration{"ann": {5 * time.Second, time.Minute}, "bob": {3 * time.Second, 10 * time.Second}}
)

// skewed is the clock of one node: the true time, and how far it is off.
type skewed struct {
	base *hand
	off  atomic.Int64
}

func (s *skewed) Now() time.Time { return s.base.Now().Add(time.Duration(s.off.Load())) }

// broadcast is a dispatcher whose wakes reach every node, as NOTIFY does.
type broadcast struct {
	idle
	m *cluster
}

func (b broadcast) WakeTx(tx *store.Tx) {
	tx.AfterCommit(func() {
		for _, s := range b.m.nodes {
			s.told.Store(true)
		}
	})
}

// scope ends what a history opened at the history's end, not the test's.
type scope struct {
	testing.TB
	rt   *rapid.T
	undo []func()
}

func (s *scope) Cleanup(fn func()) { s.undo = append(s.undo, fn) }

func (s *scope) end() {
	for _, fn := range slices.Backward(s.undo) {
		fn()
	}
}

// Failures of helpers fail the history, which is then made smaller.
func (s *scope) Fatal(args ...any)            { s.rt.Helper(); s.rt.Fatal(args...) }
func (s *scope) Fatalf(f string, args ...any) { s.rt.Helper(); s.rt.Fatalf(f, args...) }
func (s *scope) Errorf(f string, args ...any) { s.rt.Helper(); s.rt.Errorf(f, args...) }

// cluster is the model: one database, the nodes that work on it, and what the model itself knows to be true.
type cluster struct {
	*floor // a node-less observer with the true time; its database is nobody's else on Postgres
	rt     *rapid.T
	base   *hand
	mono   time.Time // what watches count: never set, never jumps
	nodes  []*station
	tasks  []string

	zombies []*shift         // work of epochs that are over
	left    []fairlead.Run   // runs of dead epochs as they were before they were taken over
	fired   []fairlead.Timer // generations that were consumed
	orders  []*order         // commands that were taken
	asked   []string
	said    map[string]map[string]int64 // by task: acknowledged comments, and their place in the journal
	heard   map[string]int64            // by session: up to where a good or parked turn has told it
	flight  map[string]int64            // by session: the range that its last turn began with
	dying   map[string]bool             // runs that failed for good
	errors  map[string]int              // by task: agent errors that have to be in the inbox
	told    map[string]bool             // holds that told of a limit that does not end
}

// histories runs fn over random histories: a few of each database in an ordinary test, as many as -rapid.checks says
// where it is given. A history that failed may be made smaller at any length.
func histories(t *testing.T, sqlite, postgres int, fn func(rt *rapid.T, own testing.TB, b storetest.Backend)) {
	t.Helper()
	t.Parallel()
	for name, left := range map[string]int{"sqlite": sqlite, "postgres": postgres} {
		if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() != f.DefValue {
			left = math.MaxInt
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "postgres" {
				storetest.Postgres(t) // skips where there is none
			}
			rapid.Check(t, func(rt *rapid.T) {
				if left <= 0 {
					return
				}
				left--
				good := false
				own := &scope{TB: t, rt: rt}
				defer func() {
					own.end()
					if !good {
						left = math.MaxInt
					}
				}()
				b := map[string]func(testing.TB) storetest.Backend{"sqlite": storetest.SQLite, "postgres": storetest.Postgres}[name](own)
				fn(rt, own, b)
				good = true
			})
		})
	}
}

// newCluster opens the database once for the observer and once for each node, each with a clock of its own. SQLite has
// one node, whose process is started again and again.
func newCluster(rt *rapid.T, b storetest.Backend, own testing.TB) *cluster {
	m := &cluster{
		rt: rt, base: newHand(), mono: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		said: map[string]map[string]int64{}, heard: map[string]int64{}, flight: map[string]int64{}, dying: map[string]bool{}, errors: map[string]int{}, told: map[string]bool{},
	}
	seed := rapid.Int64().Draw(rt, "seed")
	first := m.open(own, b, seed)
	m.floor = &floor{house: &house{t: own, db: first.db, c: first.c}}
	if b.Name == "postgres" {
		m.db = b.Open(own, &store.Options{Now: m.base.Now, MaxConns: 3})
		m.c = New(Deps{DB: m.db, Dispatch: broadcast{m: m}}, nil)
		m.nodes = append(m.nodes, first, m.open(own, b, seed+1))
	} else {
		m.nodes = []*station{first}
	}
	m.ok(m.c.Setup(context.Background(), SetupOptions{OwnerToken: ownerSecret, Home: "/home/test"}))
	m.agent("ann", "account: one\nretry: [5s, 1m]\n")
	m.agent("bob", "account: one\nparallel: 2\ncooldown: 2s\nretry: [3s, 10s]\n")
	m.save(clusterFlow)
	for _, s := range m.nodes {
		s.begin()
	}
	for i := range 3 {
		v, err := m.c.CreateTask(context.Background(), asClient(), fairlead.NewTask{Title: fmt.Sprint(i), Workflow: "cluster"})
		m.ok(err)
		m.tasks = append(m.tasks, v.ID)
		m.said[v.ID] = map[string]int64{}
	}
	return m
}

func (m *cluster) open(own testing.TB, b storetest.Backend, seed int64) *station {
	clock := &skewed{base: m.base}
	s := &station{m: m, clock: clock, random: rand.New(rand.NewSource(seed))} //nolint:gosec // a history has to come out alike
	s.db = b.Open(own, &store.Options{Now: clock.Now, MaxConns: 6})
	s.c = New(Deps{DB: s.db, Dispatch: broadcast{m: m}}, &Options{Random: s.random})
	return s
}

func (m *cluster) ok(err error) {
	if err != nil {
		m.rt.Helper()
		m.rt.Fatal(err)
	}
}

// runCluster lives random histories. The actions of focus come three times as often as the others.
func runCluster(t *testing.T, focus ...string) {
	t.Helper()
	histories(t, 6, 3, func(rt *rapid.T, own testing.TB, b storetest.Backend) {
		m := newCluster(rt, b, own)
		actions := m.actions(b.Name)
		for _, name := range focus {
			if do := actions[name]; do != nil {
				actions[name+" again"], actions[name+" once more"] = do, do
			}
		}
		rt.Repeat(actions)
		m.finish()
	})
}

func (m *cluster) actions(database string) map[string]func(*rapid.T) {
	all := map[string]func(*rapid.T){
		"":          m.look,
		"order":     m.anyOrder,
		"repeat":    m.repeats,
		"turn":      m.turns,
		"progress":  m.progresses,
		"end":       m.ends,
		"ask":       m.asks,
		"answer":    m.answers,
		"time":      m.waits,
		"fire":      m.fires,
		"refire":    m.refires,
		"jump":      m.jumps,
		"crash":     m.crashes,
		"takeover":  m.takesOver,
		"late":      m.late,
		"late heir": m.takesOverLate,
	}
	if database == "postgres" {
		all["pulse"], all["silence"], all["thaw"], all["watch"] = m.pulses, m.silences, m.thaws, m.watches
	}
	return all
}

// Properties 1 (and 14): after any history of persons, failures, deaths and clocks, with no sweep, every queued run that
// nothing holds is claimed by a node that was told to look, and everything can be worked off.
func TestProperty1_WhatNothingHoldsIsClaimed(t *testing.T) { runCluster(t, "order", "end", "fire") }

// Property 2: at most one live execution for each session, task's tree, assignment and agent's slot, over every takeover.
func TestProperty2_OneLiveExecution(t *testing.T) {
	runCluster(t, "crash", "takeover", "late", "late heir", "silence", "watch", "thaw")
}

// Property 3: a command or report that is sent twice, at once on two nodes, or after a restart, takes effect once.
func TestProperty3_CommandsTakeEffectOnce(t *testing.T) { runCluster(t, "order", "repeat", "crash") }

// Property 8: the journal says what the rows say, whatever died in between, and from any snapshot on.
func TestProperty8_JournalsFoldToRows(t *testing.T) { runCluster(t, "ask", "answer", "end", "crash") }

// Property 10: with clocks that are off and jump, each generation of a timer has one effect.
func TestProperty10_TimersHaveOneEffect(t *testing.T) {
	runCluster(t, "fire", "refire", "jump", "time", "end")
}
