package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// takeover is how long after a node's death its runs go on elsewhere, at most.
const takeover = 45 * time.Second

// couple is two nodes on one Postgres database, each in a home of its own, and an agent whose slow tasks wait for a gate.
type couple struct {
	t    *testing.T
	db   string
	a, b *server
	gate string // slow tasks end when this file is there
}

func newCouple(t *testing.T) *couple {
	t.Helper()
	c := &couple{t: t, db: storetest.Postgres(t).URL, gate: filepath.Join(t.TempDir(), "gate")}
	c.a, c.b = c.start(), c.start()
	c.a.agent("hand", fmt.Sprintf(`
  - when: {prompt: 'a slow one'}
    do:
      - tool: {name: shell, args: {command: "while [ ! -e %s ]; do sleep 0.05; done"}}
      - tool: {name: step_complete_fairlead, args: {}}
  - do:
      - tool: {name: shell, args: {command: "sleep 0.1"}}
      - tool: {name: step_complete_fairlead, args: {}}
`, c.gate), "parallel: 8")
	c.a.save(`
workflow: nodes
start: work
steps:
  - key: work
    agent: hand
    on: {enter: [{queue_run: {to: primary}}], turn_complete: [{move: {to: done}}]}
  - {key: done, terminal: done}
`)
	return c
}

func (c *couple) start() *server {
	c.t.Helper()
	return start(c.t, options{db: c.db, args: []string{"--workers", "2", "--log-level", "warn"}})
}

// tasks makes n tasks of a title.
func (c *couple) tasks(n int, title string) (ids []string) {
	c.t.Helper()
	for range n {
		ids = append(ids, c.a.task("nodes", func(t *fairlead.NewTask) { t.Title = title }).ID)
	}
	return ids
}

// runsOf returns the only run of each task, by what a node sees.
func (c *couple) runsOf(s *server, tasks []string) (runs []fairlead.RunView) {
	c.t.Helper()
	for _, id := range tasks {
		all := must(s.client.TaskRuns(c.t.Context(), id))(c.t)
		if len(all) != 1 {
			c.t.Fatalf("task %s has %d runs, want one", id, len(all))
		}
		runs = append(runs, all[0])
	}
	return runs
}

// all waits until ok holds of every task's run.
func (c *couple) all(s *server, tasks []string, what string, limit time.Duration, ok func(fairlead.RunView) bool) []fairlead.RunView {
	c.t.Helper()
	var runs []fairlead.RunView
	poll(c.t, what, limit, func() bool {
		runs = c.runsOf(s, tasks)
		return !slices.ContainsFunc(runs, func(r fairlead.RunView) bool { return !ok(r) })
	})
	return runs
}

func succeeded(r fairlead.RunView) bool { return r.Status == fairlead.RunSucceeded }

// nodeOf is the live node of a server.
func (c *couple) nodeOf(s *server) string {
	c.t.Helper()
	for _, n := range must(s.client.ListNodes(c.t.Context()))(c.t) {
		if n.PID == s.cmd.Process.Pid && n.DeadAt == nil {
			return n.ID
		}
	}
	c.t.Fatal("the server has no live node")
	return ""
}

// spread puts two slow runs on each node and returns the tasks of those on a and on b.
func (c *couple) spread() (onA, onB []string) {
	c.t.Helper()
	slow := c.tasks(4, "a slow one")
	a, b := c.nodeOf(c.a), c.nodeOf(c.b)
	for _, r := range c.all(c.a, slow, "four slow runs at once", deadline, func(r fairlead.RunView) bool { return r.Status == fairlead.RunRunning }) {
		switch r.Node {
		case a:
			onA = append(onA, r.Task)
		case b:
			onB = append(onB, r.Task)
		}
	}
	if len(onA) != 2 || len(onB) != 2 {
		c.t.Fatalf("got %d runs on one node and %d on the other, want two on each", len(onA), len(onB))
	}
	return onA, onB
}

func (c *couple) open() {
	c.t.Helper()
	if err := os.WriteFile(c.gate, nil, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// TestR22_TwoNodesShareTheQueueAndOneOutlivesTheOther is the small one; `make chaos` is the large one.
func TestR22_TwoNodesShareTheQueueAndOneOutlivesTheOther(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a node to be missed")
	}
	t.Parallel()
	c := newCouple(t)
	quick := c.tasks(24, "a quick one")
	nodes := map[string]int{}
	for _, r := range c.all(c.b, quick, "all quick runs", deadline, succeeded) {
		nodes[r.Node]++
	}
	if len(nodes) != 2 {
		t.Errorf("the runs went to %v, want both nodes", nodes)
	}
	onA, onB := c.spread()
	c.a.kill()
	killed := time.Now()
	if left := c.a.marked(); len(left) > 0 {
		poll(t, "the end of the dead node's trees", 5*time.Second, func() bool { return len(c.a.marked()) == 0 })
	}
	// The other node is full. What it works on ends now, and then it takes over.
	c.open()
	c.all(c.b, onB, "the survivor's own runs", deadline, succeeded)
	for _, r := range c.all(c.b, onA, "the dead node's runs on the other", takeover+deadline, succeeded) {
		if r.Node != c.nodeOf(c.b) || r.Attempt != 0 || r.Fence < 2 {
			t.Errorf("got run %+v, want it on the other node, under a new fence, without an attempt", r)
		}
		if late := r.StartedAt.Sub(killed); late > takeover {
			t.Errorf("the run went on after %v, want under %v", late, takeover)
		}
	}
	t.Logf("the runs of the dead node had ended elsewhere %v after its death", time.Since(killed).Round(time.Millisecond))
	again := c.a.again(options{db: c.db})
	c.all(again, append(onA, quick...), "nothing changed", deadline, succeeded)
}

// TestR10_AStoppedNodeLosesItsWorkAndIsHeardNoMore stops a whole server for longer than it may be silent.
func TestR10_AStoppedNodeLosesItsWorkAndIsHeardNoMore(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a node to be missed")
	}
	t.Parallel()
	c := newCouple(t)
	onA, onB := c.spread()
	before := c.nodeOf(c.a)
	c.a.signal(syscall.SIGSTOP)
	stopped := time.Now()
	poll(t, "the death of the stopped node's trees by their wardens", 25*time.Second, func() bool { return len(c.a.marked()) == 0 })
	if at := time.Since(stopped); at < 10*time.Second {
		t.Errorf("the wardens killed after %v: before the lease was over", at)
	}
	c.open() // the survivor gets free
	c.all(c.b, append(onA, onB...), "the stopped node's work on the other", takeover+deadline, succeeded)
	c.a.signal(syscall.SIGCONT)
	for _, r := range c.runsOf(c.b, onA) {
		poll(t, "the refusal of the stopped node's late report", deadline, func() bool {
			page := must(c.b.client.RunEvents(t.Context(), r.ID, 0))(t)
			return slices.ContainsFunc(page.Items, func(e fairlead.RunEventView) bool {
				return e.Kind == fairlead.RunEventRefused && e.Data["node"] == before
			})
		})
	}
	var now string
	poll(t, "a new epoch of the node that went on", deadline, func() bool {
		for _, n := range must(c.b.client.ListNodes(t.Context()))(t) {
			if n.PID == c.a.cmd.Process.Pid && n.DeadAt == nil && n.ID != before {
				now = n.ID
			}
		}
		return now != ""
	})
	if err := os.Remove(c.gate); err != nil {
		t.Fatal(err)
	}
	c.spread() // it works again
	c.open()
	for _, id := range onA {
		if runs := must(c.b.client.ListRuns(context.WithoutCancel(t.Context()), client.RunQuery{Task: id}))(t); len(runs.Items) != 1 {
			t.Errorf("task %s has %d runs, want its one", id, len(runs.Items))
		}
	}
}
