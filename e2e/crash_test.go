package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// kills is how often the server dies in the middle of its work.
const kills = 50

// TestS4_KillFiftyTimes kills the real server with kill -9 fifty times under load, in random places. From outside, with
// an own log of what was acknowledged (each line synced) and a log of effects that the agents' tools write:
// the database is whole, everything acknowledged is there and gives the same result under its operation id, nothing is
// there twice, no tool call that was recorded ran again, nothing says running without an executor, and no process of an
// agent is left (A23: their children have left their sessions and ignore hang-ups).
func TestS4_KillFiftyTimes(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a server fifty times")
	}
	t.Parallel()
	s := killUnderLoad(t, "", kills)
	whole(t, filepath.Join(s.home, "fairlead.db"))
}

// TestS4_KillOnPostgres is the same, less often, with the database elsewhere.
func TestS4_KillOnPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a server")
	}
	t.Parallel()
	killUnderLoad(t, storetest.Postgres(t).URL, 12)
}

// killUnderLoad is the crash test; the server it returns is down.
func killUnderLoad(t *testing.T, db string, kills int) *server {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	effects := filepath.Join(t.TempDir(), "effects")
	o := options{db: db, args: []string{"--workers", "3", "--log-level", "warn"}}
	s := start(t, o)
	s.agents([]string{"@EFFECTS@", effects}, "crash-worker", "crash-reviewer")
	s.workflows("crash")
	acks := openLog(t, filepath.Join(t.TempDir(), "acknowledged"))
	began := time.Now()
	random := rand.New(rand.NewPCG(seed, 0))
	for range kills {
		s = s.loadAndKill(acks, random, o)
		s.nothingRunsAlone()
	}
	t.Logf("%d kills in %v: %.2f kills a second, %d commands acknowledged", kills, time.Since(began).Round(time.Millisecond),
		float64(kills)/time.Since(began).Seconds(), len(acks.all))
	s.comesToRest(t)
	if left := s.marked(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	acks.check(t, s)
	s.nothingTwice(t, effects, db == "")
	s.stop()
	if left := s.marked(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	return s
}

// loadAndKill sends commands from several clients, kills the server at a random moment, and starts it again.
func (s *server) loadAndKill(acks *ackLog, random *rand.Rand, o options) *server {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	var clients sync.WaitGroup
	for range 6 {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		clients.Go(func() { s.load(ctx, acks, own) })
	}
	work := time.Duration(80+random.IntN(500)) * time.Millisecond
	if o.db != "" {
		work *= 3 // new connections are slower to get going
	}
	timer := time.NewTimer(work)
	<-timer.C
	s.kill()
	cancel()
	clients.Wait()
	return s.again(o)
}

// load sends commands until the server is gone. A command is acknowledged when its answer has come.
func (s *server) load(ctx context.Context, acks *ackLog, random *rand.Rand) {
	for ctx.Err() == nil {
		c := acks.next(random)
		if a, ok := s.try(ctx, c); ok && a.status < 300 {
			acks.write(ack{c.method, c.path, c.body, a.status, a.body})
		}
		if random.IntN(6) == 0 {
			s.answerOpen(ctx, acks, random)
		}
	}
}

// answerOpen approves or rejects what waits for a person.
func (s *server) answerOpen(ctx context.Context, acks *ackLog, random *rand.Rand) {
	open, err := s.client.ListRequests(ctx, client.RequestQuery{State: "open", Page: client.Page{Limit: 20}})
	if err != nil || len(open.Items) == 0 {
		return
	}
	r := open.Items[random.IntN(len(open.Items))]
	body := map[fairlead.RequestKind]string{
		fairlead.RequestQuestion: `{"text":"yes","op":%q}`, fairlead.RequestDecision: `{"verdict":"approve","op":%q}`,
		fairlead.RequestSupervise: `{"option":"go_on","op":%q}`,
	}[r.Kind]
	if body == "" {
		return
	}
	c := call{method: "POST", path: "/api/v1/requests/" + r.ID + "/answer", body: fmt.Sprintf(body, acks.op())}
	if a, ok := s.try(ctx, c); ok && a.status < 300 {
		acks.write(ack{c.method, c.path, c.body, a.status, a.body})
	}
}

// try is raw for a server that may die at any moment.
func (s *server) try(ctx context.Context, c call) (a answer, ok bool) {
	r, err := http.NewRequestWithContext(ctx, c.method, s.url+c.path, strings.NewReader(c.body))
	if err != nil {
		return a, false
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return a, false
	}
	defer func() { _ = resp.Body.Close() }() // read to its end or cut
	var b json.RawMessage
	if err := json.NewDecoder(resp.Body).Decode(&b); err != nil {
		return a, false
	}
	return answer{status: resp.StatusCode, body: string(b)}, true
}

// nothingRunsAlone is R11: within ten seconds of a start every run that says it is worked on is of this very start.
func (s *server) nothingRunsAlone() {
	s.t.Helper()
	nodes := must(s.client.ListNodes(s.t.Context()))(s.t)
	live := ""
	for _, n := range nodes {
		if n.PID == s.cmd.Process.Pid {
			live = n.ID
		}
	}
	for _, status := range []string{"claimed", "running", "stopping"} {
		for _, r := range all(s.t, func(ctx context.Context, cursor string) (fairlead.Page[fairlead.RunView], error) {
			return s.client.ListRuns(ctx, client.RunQuery{Status: status, Page: client.Page{Cursor: cursor, Limit: 200}})
		}) {
			if r.Node != live {
				s.t.Errorf("run %s is %s on the node %q, which is dead", r.ID, r.Status, r.Node)
			}
		}
	}
}

// whole checks the database file.
func whole(t *testing.T, path string) {
	t.Helper()
	db := must(sql.Open("sqlite", path))(t)
	defer func() { _ = db.Close() }() // only read
	var verdict string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity check: %q %v", verdict, err)
	}
	rows, err := db.QueryContext(t.Context(), "PRAGMA foreign_key_check")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // its error is also Err's
	if rows.Next() || rows.Err() != nil {
		t.Errorf("rows point to what is not there: %v", rows.Err())
	}
}

// comesToRest lets the agents take nothing new and waits until none is at work.
func (s *server) comesToRest(t *testing.T) {
	t.Helper()
	for _, agent := range []string{"crash-worker", "crash-reviewer"} {
		must(s.client.PauseAgent(t.Context(), agent, fairlead.PauseBody{}))(t)
	}
	s.until("rest", []string{"runs"}, func(ctx context.Context) (bool, error) {
		live := 0
		for _, status := range []string{"claimed", "running", "stopping"} {
			p, err := s.client.ListRuns(ctx, client.RunQuery{Status: status})
			if err != nil {
				return false, err
			}
			live += len(p.Items)
		}
		return live == 0, nil
	})
}

// replaysUnlessLive compares journal and task of tasks that nobody works on now.
func (s *server) replaysUnlessLive(t *testing.T, task fairlead.TaskView) {
	t.Helper()
	if task.State == fairlead.StateRunning || task.State == fairlead.StateQueued {
		return
	}
	s.replays(t, task.ID)
}
