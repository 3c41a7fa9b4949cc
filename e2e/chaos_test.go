package e2e

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// Chaos is asked for by the environment: it takes minutes. scripts/chaos.sh sets these.
const (
	chaosRuns    = "FAIRLEAD_CHAOS_RUNS"    // how many runs; unset = no chaos
	chaosSeconds = "FAIRLEAD_CHAOS_SECONDS" // how long nodes are killed, stopped and restarted; default 60
	chaosSeed    = "FAIRLEAD_CHAOS_SEED"    // default: the time
)

// Shape of the load.
const (
	chaosAgents   = 8
	chaosParallel = 4  // slots of each agent
	chaosWorkers  = 12 // slots of each node
	chaosEffects  = 10 // one task of so many runs a process and leaves a trace of it
	longStop      = 40 * time.Second
)

// chaos is two nodes on Postgres that are never safe.
type chaos struct {
	t       *testing.T
	db      string
	random  *rand.Rand
	effects string

	mu    sync.Mutex
	nodes [2]*server

	kills, stops, restarts int
}

// TestR22_Chaos: two nodes on Postgres, killed with kill -9, stopped and restarted at random while they work off many
// short runs. Afterwards the database and a log of real processes are read: every run has exactly one success, nothing
// overlapped on an agent's slot or a task, and no fence was broken.
func TestR22_Chaos(t *testing.T) {
	runs := setting(t, chaosRuns, 0)
	if runs == 0 {
		t.Skip("set " + chaosRuns + ", or use: make chaos")
	}
	seed := uint64(setting(t, chaosSeed, int(time.Now().UnixNano())))
	t.Logf("seed %d", seed)
	c := &chaos{t: t, db: storetest.Postgres(t).URL, random: rand.New(rand.NewPCG(seed, 0)), effects: filepath.Join(t.TempDir(), "effects")}
	for i := range c.nodes {
		c.nodes[i] = c.start("")
	}
	c.prepare()
	began := time.Now()
	var made sync.WaitGroup
	made.Go(func() { c.load(runs) })
	c.rage(time.Duration(setting(t, chaosSeconds, 60)) * time.Second)
	raged := time.Since(began)
	made.Wait()
	db := must(sql.Open("pgx", c.db))(t)
	defer func() { _ = db.Close() }() // only read
	c.rest(db, runs, time.Duration(runs)*200*time.Millisecond+3*time.Minute)
	t.Logf("%d runs; %d kills, %d stops, %d orderly restarts in %v; all done after %v", runs, c.kills, c.stops, c.restarts,
		raged.Round(time.Second), time.Since(began).Round(time.Second))
	c.checkRows(db, runs)
	c.checkIntervals(db)
	c.checkEffects()
}

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	return must(strconv.Atoi(v))(t)
}

func (c *chaos) start(home string) *server {
	return start(c.t, options{home: home, db: c.db, args: []string{"--workers", strconv.Itoa(chaosWorkers), "--log-level", "error", "--drain", "1s"}})
}

func (c *chaos) node(i int) *server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[i]
}

func (c *chaos) prepare() {
	s := c.node(0)
	// The trace of a process: when it began and ended, on the clock of the machine.
	trace := fmt.Sprintf(`echo \"$(date +%%s%%N) begin $FAIRLEAD_EXECUTION\" >> %[1]s; sleep 0.1; echo \"$(date +%%s%%N) end $FAIRLEAD_EXECUTION\" >> %[1]s`, c.effects)
	for i := range chaosAgents {
		s.agent(fmt.Sprintf("hand%d", i), `
  - when: {prompt: 'leaves a trace'}
    do:
      - tool: {name: shell, args: {command: "`+trace+`"}}
      - tool: {name: step_complete_fairlead, args: {}}
  - do:
      - tool: {name: step_complete_fairlead, args: {}}
`, "parallel: "+strconv.Itoa(chaosParallel))
		s.save(fmt.Sprintf(`
workflow: chaos%[1]d
start: work
steps:
  - key: work
    agent: hand%[1]d
    on: {enter: [{queue_run: {to: primary}}], turn_complete: [{move: {to: done, if: 'payload.completed'}}]}
  - {key: done, terminal: done}
`, i))
	}
}

// load makes one task a run, through whatever node answers, each under an operation id of its own until it is
// acknowledged.
func (c *chaos) load(runs int) {
	var next atomic.Int64
	var clients sync.WaitGroup
	for range 6 {
		clients.Go(func() {
			for i := int(next.Add(1)); i <= runs && c.t.Context().Err() == nil; i = int(next.Add(1)) {
				c.make(i)
			}
		})
	}
	clients.Wait()
}

func (c *chaos) make(i int) {
	title := "A short one"
	if i%chaosEffects == 0 {
		title = "One that leaves a trace"
	}
	for try := 0; c.t.Context().Err() == nil; try++ {
		ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
		_, err := c.node((i+try)%2).client.CreateTask(ctx, fairlead.NewTask{
			Title: title, Workflow: fmt.Sprintf("chaos%d", i%chaosAgents), Op: fairlead.OpID(fmt.Sprintf("chaos-%d", i)),
		})
		cancel()
		if err == nil {
			return
		}
		pause(100 * time.Millisecond)
	}
}

// pause waits: here time itself is what is tested.
func pause(d time.Duration) { <-time.NewTimer(d).C }

// rage kills, stops and restarts nodes at random. In its last part one node is stopped for so long that the other must
// declare it dead; meanwhile that one is only stopped for moments.
func (c *chaos) rage(d time.Duration) {
	quiet := time.Now().Add(d - longStop - 2*time.Second)
	for time.Now().Before(quiet) {
		i := c.random.IntN(2)
		switch n := c.random.IntN(10); {
		case n < 6:
			c.node(i).kill()
			c.kills++
			pause(time.Duration(c.random.IntN(1500)) * time.Millisecond)
			c.replace(i)
		case n < 9:
			c.freeze(i, time.Duration(200+c.random.IntN(3000))*time.Millisecond)
		default:
			c.node(i).stop()
			c.restarts++
			c.replace(i)
		}
		pause(time.Duration(c.random.IntN(1500)) * time.Millisecond)
	}
	i := c.random.IntN(2)
	c.node(i).signal(syscall.SIGSTOP)
	c.stops++
	for end := time.Now().Add(longStop); time.Now().Before(end); {
		c.freeze(1-i, time.Duration(c.random.IntN(500))*time.Millisecond)
		pause(2 * time.Second)
	}
	c.node(i).signal(syscall.SIGCONT)
}

func (c *chaos) freeze(i int, d time.Duration) {
	s := c.node(i)
	s.signal(syscall.SIGSTOP)
	pause(d)
	s.signal(syscall.SIGCONT)
	c.stops++
}

func (c *chaos) replace(i int) {
	fresh := c.start(c.node(i).home)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[i] = fresh
}

// rest waits until every task has come to its end.
func (c *chaos) rest(db *sql.DB, runs int, limit time.Duration) {
	c.t.Helper()
	late := time.After(limit)
	for tick := time.NewTicker(200 * time.Millisecond); ; {
		var done int
		if err := db.QueryRowContext(c.t.Context(), `SELECT COUNT(*) FROM tasks WHERE workflow LIKE 'chaos%' AND terminal <> ''`).Scan(&done); err != nil {
			c.t.Fatal(err)
		}
		if done == runs {
			tick.Stop()
			return
		}
		select {
		case <-tick.C:
		case <-late:
			c.t.Fatalf("%d of %d tasks are done after %v", done, runs, limit)
		}
	}
}

// checkEffects reads what real processes wrote: no two executions of one run ran at the same time.
func (c *chaos) checkEffects() {
	f, err := os.Open(c.effects)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read
	type span struct{ execution, begin string }
	last := map[string]span{}
	lines, ended := bufio.NewScanner(f), 0
	for lines.Scan() {
		at, rest, _ := strings.Cut(lines.Text(), " ")
		what, execution, _ := strings.Cut(rest, " ")
		cut := strings.LastIndexByte(execution, '_') // what follows is the fence
		if cut < 0 {
			c.t.Errorf("a line nobody wrote: %q", lines.Text())
			continue
		}
		run := execution[:cut]
		switch what {
		case "begin":
			last[run] = span{execution, at}
		case "end":
			ended++
			if l := last[run]; l.execution != execution {
				c.t.Errorf("%s ended at %s after %s had begun at %s: two processes of one run at the same time", execution, at, l.execution, l.begin)
			}
		}
	}
	c.t.Logf("%d runs left a trace, %d of their processes came to their end", len(last), ended)
}
