package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// must returns v, or ends the test with the error.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wants ends the test unless the error has the code; "" wants none.
func wants(t testing.TB, what string, err error, code fairlead.Code) {
	t.Helper()
	if code == "" && err == nil || code != "" && fairlead.IsCode(err, code) {
		return
	}
	t.Fatalf("%s: got %v, want code %q", what, err, code)
}

// fixture reads a file of testdata with its @NAMES@ filled in.
func fixture(t testing.TB, name string, vars ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(vars...).Replace(string(b))
}

// agents applies agents, one document a name.
func (s *server) agents(vars []string, names ...string) {
	s.t.Helper()
	for _, n := range names {
		must(s.client.ApplyAgent(s.t.Context(), fairlead.AgentBody{Source: fixture(s.t, n+".yaml", vars...)}))(s.t)
	}
}

// workflows saves workflows of testdata.
func (s *server) workflows(names ...string) {
	s.t.Helper()
	for _, n := range names {
		must(s.client.SaveWorkflow(s.t.Context(), fairlead.WorkflowBody{Source: fixture(s.t, n+".yaml")}))(s.t)
	}
}

// save saves a workflow written in the test.
func (s *server) save(source string) fairlead.WorkflowView {
	s.t.Helper()
	return must(s.client.SaveWorkflow(s.t.Context(), fairlead.WorkflowBody{Source: source}))(s.t)
}

// agent applies an agent written in the test: its key and its script.
func (s *server) agent(key, script string, more ...string) {
	s.t.Helper()
	source := "agent: " + key + "\nadapter: script\n" + strings.Join(more, "\n") + "\nscript:\n" + script
	must(s.client.ApplyAgent(s.t.Context(), fairlead.AgentBody{Source: source}))(s.t)
}

// task creates a task on a workflow.
func (s *server) task(workflow string, more ...func(*fairlead.NewTask)) fairlead.TaskView {
	s.t.Helper()
	n := fairlead.NewTask{Title: "A task on " + workflow, Workflow: workflow}
	for _, m := range more {
		m(&n)
	}
	return must(s.client.CreateTask(s.t.Context(), n))(s.t)
}

func (s *server) show(task string) fairlead.TaskView {
	s.t.Helper()
	return must(s.client.GetTask(s.t.Context(), task))(s.t)
}

func (s *server) move(task, step string) fairlead.Outcome {
	s.t.Helper()
	return must(s.client.Move(s.t.Context(), task, fairlead.MoveBody{Step: step}))(s.t)
}

func (s *server) comment(task, text string) fairlead.CommentView {
	s.t.Helper()
	return must(s.client.Comment(s.t.Context(), task, fairlead.CommentBody{Text: text}))(s.t)
}

// requests lists every request of a task, of whatever state.
func (s *server) requests(task string) []fairlead.RequestView {
	s.t.Helper()
	return all(s.t, func(ctx context.Context, cursor string) (fairlead.Page[fairlead.RequestView], error) {
		return s.client.ListRequests(ctx, client.RequestQuery{Task: task, Page: client.Page{Cursor: cursor, Limit: 200}})
	})
}

// journal reads a task's whole journal.
func (s *server) journal(task string) (records []fairlead.RecordView) {
	s.t.Helper()
	after := int64(0)
	for {
		p := must(s.client.Journal(s.t.Context(), task, after, 200))(s.t)
		records = append(records, p.Items...)
		if p.NextCursor == "" {
			return records
		}
		after = records[len(records)-1].Seq
	}
}

// kinds counts the journal's records by kind.
func (s *server) kinds(task string) map[string]int {
	s.t.Helper()
	n := map[string]int{}
	for _, r := range s.journal(task) {
		n[r.Kind]++
	}
	return n
}

// all reads every page of a list.
func all[T any](t testing.TB, next func(ctx context.Context, cursor string) (fairlead.Page[T], error)) (items []T) {
	t.Helper()
	for v, err := range client.Each(t.Context(), next) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, v)
	}
	return items
}

// person adds a person and returns a client with a token of their own.
func (s *server) person(key string) *client.Client {
	s.t.Helper()
	must(s.client.AddPerson(s.t.Context(), fairlead.KeyNameBody{Key: key, Name: key}))(s.t)
	return s.as(must(s.client.AddToken(s.t.Context(), fairlead.TokenBody{Person: key}))(s.t).Secret)
}

// dump returns every row of the server's database while the server runs. On Postgres it waits until every event has its
// place in the log, which is given after the commit.
func (s *server) dump(db string) string {
	s.t.Helper()
	if db == "" {
		db = filepath.Join(s.home, "fairlead.db")
	}
	d := must(store.Open(s.t.Context(), db, nil))(s.t)
	defer func() { _ = d.Close() }() // only read
	text := ""
	poll(s.t, "the placing of events", deadline, func() bool {
		text = string(must(d.Dump(s.t.Context()))(s.t))
		return !strings.Contains(text, `"position":null`)
	})
	return text
}

// databases runs fn on a server of each database; the URL is "" for SQLite.
func databases(t *testing.T, fn func(t *testing.T, db string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, "")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, storetest.Postgres(t).URL)
	})
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	return string(must(json.Marshal(v))(t))
}

// childrenOf lists the children of a task.
func (s *server) childrenOf(task string) []fairlead.TaskView {
	s.t.Helper()
	return all(s.t, func(ctx context.Context, cursor string) (fairlead.Page[fairlead.TaskView], error) {
		return s.client.ListTasks(ctx, client.TaskQuery{Parent: task, Page: client.Page{Cursor: cursor}})
	})
}

// field reads a text of a JSON object.
func field(t testing.TB, data json.RawMessage, name string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	text, _ := m[name].(string)
	return text
}
