package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
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
	for i := range 6 {
		clients.Go(func() { s.load(ctx, acks, rand.New(rand.NewPCG(random.Uint64(), uint64(i)))) })
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

// nothingTwice counts what happened: every comment once; every tool call settled once, never begun again after that, and
// with no more traces outside than it was begun.
func (s *server) nothingTwice(t *testing.T, effects string, busy bool) {
	t.Helper()
	tasks := all(t, func(ctx context.Context, cursor string) (fairlead.Page[fairlead.TaskView], error) {
		return s.client.ListTasks(ctx, client.TaskQuery{Workflow: "crash", Page: client.Page{Cursor: cursor, Limit: 200}})
	})
	settled := 0
	calls := map[string]*effect{}
	for _, task := range tasks {
		texts := map[string]int{}
		for _, c := range must(s.client.Comments(t.Context(), task.ID))(t) {
			if texts[c.Text]++; texts[c.Text] > 1 && c.Author.Kind == fairlead.ActorPerson {
				t.Errorf("%s: the comment %q is there twice", task.Identifier, c.Text)
			}
		}
		settled += s.effects(t, task.ID, calls)
		s.replaysUnlessLive(t, task)
	}
	traces := readEffects(t, effects)
	again := 0
	for key, n := range traces {
		c := calls[key]
		switch {
		case c == nil:
			t.Errorf("%s happened and is not on record", key)
		case n > c.begun:
			t.Errorf("%s happened %d times and was begun %d times", key, n, c.begun)
		case n > 1:
			again++ // it was cut off before its outcome was on record
		}
	}
	for key, c := range calls {
		if c.settled == 1 && c.ok && traces[key] == 0 {
			t.Errorf("%s is settled and left no trace", key)
		}
	}
	t.Logf("%d tasks, %d settled calls, %d traces outside, %d of them of calls that were cut off and begun again", len(tasks), settled, len(traces), again)
	if len(tasks) == 0 || busy && (settled == 0 || len(traces) == 0) {
		t.Error("too little happened")
	}
}

// effect is what a journal says of one call that leaves a trace.
type effect struct {
	begun, settled int
	ok             bool
}

// effects reads the calls of a task's journal into all, by run and label, and returns how many are settled.
func (s *server) effects(t *testing.T, task string, all map[string]*effect) (settled int) {
	t.Helper()
	byCall := map[string]*effect{}
	for _, r := range s.journal(task) {
		var d struct {
			Call, Outcome string
			Input         struct{ Command string }
		}
		if r.Kind != fairlead.RecordEffectIntent && r.Kind != fairlead.RecordEffectOutcome {
			continue
		}
		if err := json.Unmarshal(r.Data, &d); err != nil {
			t.Fatal(err)
		}
		c := byCall[d.Call]
		if c == nil {
			c = &effect{}
			byCall[d.Call] = c
		}
		if c.settled > 0 {
			t.Errorf("the call %s of %s is on record as settled, and then once more as %s", d.Call, task, r.Kind)
		}
		if r.Kind == fairlead.RecordEffectOutcome {
			// A call that a stop cancelled may have no trace, and is begun again if its turn goes on.
			if d.Outcome != "cancelled" {
				c.settled, c.ok = 1, d.Outcome == "ok"
				settled++
			}
			continue
		}
		c.begun++
		if m := trace.FindStringSubmatch(d.Input.Command); m != nil {
			key := r.Run + " " + m[1]
			if all[key] != nil && all[key] != c {
				t.Errorf("%s: the run did the whole turn twice:\n%s", key, s.story(task, r.Run))
			}
			all[key] = c
		}
	}
	return settled
}

// story is what a task's journal says of a run, in short.
func (s *server) story(task, run string) string {
	var b strings.Builder
	for _, r := range s.journal(task) {
		if r.Run == run {
			fmt.Fprintf(&b, "%d %s %s\n", r.Seq, r.Kind, string(r.Data[:min(len(r.Data), 160)]))
		}
	}
	for _, e := range must(s.client.RunEvents(s.t.Context(), run, 0))(s.t).Items {
		fmt.Fprintf(&b, "  %s %s %v\n", e.At.Format("05.000"), e.Kind, e.Data)
	}
	return b.String()
}

// trace finds the label of a command that leaves one.
var trace = regexp.MustCompile(`FAIRLEAD_EXECUTION (\w+)`)

// readEffects counts the traces by run and label; the name of an execution is its run's with the number of the claim.
func readEffects(t *testing.T, path string) map[string]int {
	t.Helper()
	n := map[string]int{}
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // nothing happened yet
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		execution, label, ok := strings.Cut(strings.TrimSpace(line), " ")
		run, _, _ := strings.Cut(strings.TrimPrefix(execution, "exe_"), "_")
		if !ok {
			continue // cut off in the middle of the line
		}
		n["run_"+run+" "+label]++
	}
	return n
}

// replaysUnlessLive compares journal and task of tasks that nobody works on now.
func (s *server) replaysUnlessLive(t *testing.T, task fairlead.TaskView) {
	t.Helper()
	if task.State == fairlead.StateRunning || task.State == fairlead.StateQueued {
		return
	}
	s.replays(t, task.ID)
}

// ack is a command with its acknowledged result.
type ack struct {
	Method, Path, Body string
	Status             int
	Answer             string
}

// ackLog is what clients know to be done. Each line is on disk before the next command is sent.
type ackLog struct {
	mu    sync.Mutex
	file  *os.File
	all   []ack
	tasks []string
	count int
}

func openLog(t *testing.T, path string) *ackLog {
	t.Helper()
	f := must(os.Create(path))(t)
	t.Cleanup(func() { _ = f.Close() }) // synced line by line
	return &ackLog{file: f}
}

func (l *ackLog) op() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	return fmt.Sprintf("crash-%d", l.count)
}

// next is a command on a task that is known to exist, or a new task.
func (l *ackLog) next(random *rand.Rand) call {
	op := l.op()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tasks) == 0 || random.IntN(8) == 0 {
		return call{method: "POST", path: "/api/v1/tasks", body: fmt.Sprintf(`{"title":"task %s","workflow":"crash","op":%q}`, op, op)}
	}
	of := "/api/v1/tasks/" + l.tasks[len(l.tasks)-1-random.IntN(min(len(l.tasks), 20))]
	switch random.IntN(6) {
	case 0:
		return call{method: "POST", path: of + "/move", body: fmt.Sprintf(`{"step":"work","op":%q}`, op)}
	case 1:
		return call{method: "POST", path: of + "/triggers", body: fmt.Sprintf(`{"kind":"manual","key":"mark","op":%q}`, op)}
	case 2:
		return call{method: "POST", path: of + "/decisions", body: fmt.Sprintf(`{"verdict":"reject","note":"again","op":%q}`, op)}
	}
	return call{method: "POST", path: of + "/comments", body: fmt.Sprintf(`{"text":"comment %s","op":%q}`, op, op)}
}

func (l *ackLog) write(a ack) {
	line, err := json.Marshal(a)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		panic(err)
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		panic(err)
	}
	if err := l.file.Sync(); err != nil {
		panic(err)
	}
	l.all = append(l.all, a)
	if a.Path == "/api/v1/tasks" {
		var t struct{ ID string }
		if json.Unmarshal([]byte(a.Answer), &t) == nil {
			l.tasks = append(l.tasks, t.ID)
		}
	}
}

// check sends every acknowledged command again under its operation id: the same result, whatever happened since.
func (l *ackLog) check(t *testing.T, s *server) {
	t.Helper()
	wrong := 0
	for _, a := range l.all {
		again := s.raw(call{method: a.Method, path: a.Path, body: a.Body})
		if again.status == a.Status && compact(again.body) == compact(a.Answer) {
			continue
		}
		if wrong++; wrong <= 5 {
			t.Errorf("%s %s %s: acknowledged %d %s, now %d %s", a.Method, a.Path, a.Body, a.Status, cut(a.Answer), again.status, cut(again.body))
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d acknowledged commands have another result now", wrong, len(l.all))
	}
	for _, id := range l.tasks {
		if _, err := s.client.GetTask(t.Context(), id); err != nil {
			t.Errorf("an acknowledged task is gone: %v", err)
		}
	}
}

func compact(s string) string {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return s
	}
	return string(b)
}
