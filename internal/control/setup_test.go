package control

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/dispatch"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// idle is a dispatcher for tests that look for themselves.
type idle struct{ dispatch.Dispatcher }

func (idle) WakeTx(*store.Tx) {}

// house is a server that was set up, seen by its owner.
type house struct {
	t  testing.TB
	db *store.DB
	c  *Control
}

const ownerSecret = "flt_owner-of-the-test"

func newHouse(t testing.TB, db *store.DB) *house {
	t.Helper()
	h := &house{t: t, db: db, c: New(Deps{DB: db, Dispatch: idle{}}, nil)}
	h.must(h.c.Setup(t.Context(), SetupOptions{OwnerToken: ownerSecret, Home: "/home/test"}))
	return h
}

// again is the same server after a restart: nothing but the database is left.
func (h *house) again() *house {
	return &house{t: h.t, db: h.db, c: New(Deps{DB: h.db, Dispatch: idle{}}, nil)}
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func owner() Meta { return Meta{Workspace: mainWorkspace, Actor: fairlead.Person(ownerPerson)} }

func asPerson(person string) Meta {
	return Meta{Workspace: mainWorkspace, Actor: fairlead.Person(person)}
}

// save saves a workflow.
func (h *house) save(source string) fairlead.WorkflowView {
	h.t.Helper()
	v, err := h.c.SaveWorkflow(h.t.Context(), owner(), fairlead.WorkflowBody{Source: source})
	h.must(err)
	return v
}

// task makes a task on a workflow.
func (h *house) task(workflow string) fairlead.TaskView {
	h.t.Helper()
	v, err := h.c.CreateTask(h.t.Context(), owner(), fairlead.NewTask{Title: "Task on " + workflow, Workflow: workflow})
	h.must(err)
	return v
}

func (h *house) see(task string) fairlead.TaskView {
	h.t.Helper()
	v, err := h.c.GetTask(h.t.Context(), mainWorkspace, task)
	h.must(err)
	return v
}

// open lists the open requests of a task, oldest first.
func (h *house) open(task string) []fairlead.RequestView {
	h.t.Helper()
	p, err := h.c.ListRequests(h.t.Context(), mainWorkspace, RequestQuery{Task: task})
	h.must(err)
	for i, j := 0, len(p.Items)-1; i < j; i, j = i+1, j-1 {
		p.Items[i], p.Items[j] = p.Items[j], p.Items[i]
	}
	return p.Items
}

func (h *house) answer(id string, a fairlead.Answer) fairlead.RequestView {
	h.t.Helper()
	v, err := h.c.Answer(h.t.Context(), owner(), id, fairlead.AnswerBody{Answer: a})
	h.must(err)
	return v
}

// dump is the database but for the audit of refusals, which they alone may add to.
func (h *house) dump() string {
	h.t.Helper()
	raw := h.rawDump()
	var out []string
	skip := false
	for _, line := range strings.Split(string(raw), "\n") {
		if strings.HasPrefix(line, "# ") {
			skip = strings.HasPrefix(line, "# audit ")
		}
		if !skip {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// rawDump waits until the sequencer has given every event its position: it does so behind the commits.
func (h *house) rawDump() []byte {
	h.t.Helper()
	signals := h.db.Signals()
	defer signals.Close()
	for {
		raw, err := h.db.Dump(h.t.Context())
		h.must(err)
		if !bytes.Contains(raw, []byte(`"position":null`)) {
			return raw
		}
		select {
		case <-signals.C(store.TopicEvents):
		case <-h.t.Context().Done():
			h.t.Fatal("events stayed without a position")
		}
	}
}

// audits counts the refusals recorded of a command.
func (h *house) audits(command string) (n int) {
	h.t.Helper()
	for _, line := range bytes.Split(h.rawDump(), []byte("\n")) {
		if bytes.Contains(line, []byte(`"code":`)) && bytes.Contains(line, []byte(`"command":"`+command+`"`)) {
			n++
		}
	}
	return n
}

// refused checks that an error is a refusal of a code.
func refused(t *testing.T, err error, code fairlead.Code) *fairlead.Error {
	t.Helper()
	if !fairlead.IsCode(err, code) {
		t.Fatalf("got error %v (%s), want code %s", err, fairlead.ErrorCode(err), code)
	}
	e, ok := err.(*fairlead.Error) //nolint:errorlint // the door sees it as it is
	if !ok {
		t.Fatalf("got a wrapped error %v", err)
	}
	return e
}

func TestSetupMakesWhatAServerStartsWithAndChangesNothingAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		ctx := t.Context()
		agents, err := h.c.ListAgents(ctx, mainWorkspace)
		h.must(err)
		workflows, err := h.c.ListWorkflows(ctx, mainWorkspace)
		h.must(err)
		people, err := h.c.ListPeople(ctx, mainWorkspace)
		h.must(err)
		if len(agents) != 6 || len(workflows) != 2 || len(people) != 1 || people[0].Key != "owner" {
			t.Fatalf("got %d agents, %d workflows, people %v; want 6, 2 and the owner", len(agents), len(workflows), people)
		}
		before := h.dump()
		h.must(h.again().c.Setup(ctx, SetupOptions{OwnerToken: ownerSecret, Home: "/home/test"}))
		if h.dump() != before {
			t.Error("a second setup changed the database")
		}
	})
}

func TestSetupLetsEachHomeIn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		ctx := t.Context()
		lets := func(secret string, want bool) {
			t.Helper()
			caller, err := h.c.Authenticate(ctx, secret)
			if want && (err != nil || caller.Actor != fairlead.Person("owner") || caller.Workspace != "") {
				t.Errorf("got %+v, %v; want the owner of every workspace", caller, err)
			}
			if !want {
				refused(t, err, fairlead.CodeUnauthenticated)
			}
		}
		lets(ownerSecret, true)
		lets("", false)
		lets("flt_wrong", false)
		h.must(h.c.Setup(ctx, SetupOptions{OwnerToken: "flt_other", Home: "/home/other"}))
		lets(ownerSecret, true)
		lets("flt_other", true)
		h.must(h.c.Setup(ctx, SetupOptions{OwnerToken: "flt_new", Home: "/home/test"}))
		lets(ownerSecret, false)
		lets("flt_new", true)
		lets("flt_other", true)
		if err := h.c.Setup(ctx, SetupOptions{OwnerToken: "x"}); err == nil {
			t.Error("a setup without a home was accepted: it would throw out everybody's tokens")
		}
	})
}

func TestSetupAdaptsProfiles(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t).Open(t, nil)
	c := New(Deps{DB: db, Dispatch: idle{}}, nil)
	err := c.Setup(context.Background(), SetupOptions{OwnerToken: "x", Home: "y", Adapter: func(p fairlead.AgentProfile) fairlead.AgentProfile {
		p.Adapter = "llm"
		return p
	}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.GetAgent(t.Context(), mainWorkspace, "coder")
	if err != nil || a.Adapter != "llm" {
		t.Errorf("got adapter %q, %v; want llm", a.Adapter, err)
	}
	ws, err := c.AddWorkspace(t.Context(), asPerson("anna"), fairlead.KeyNameBody{Key: "night-shift"})
	if err != nil || ws.Prefix != "NS" {
		t.Fatalf("got %+v, %v; want the prefix NS", ws, err)
	}
	if a, err = c.GetAgent(t.Context(), "night-shift", "coder"); err != nil || a.Adapter != "llm" {
		t.Errorf("the new workspace's coder has adapter %q, %v; want that of main", a.Adapter, err)
	}
	people, err := c.ListPeople(t.Context(), "night-shift")
	if err != nil || len(people) != 2 {
		t.Errorf("got people %v, %v; want anna and owner", people, err)
	}
	_, err = c.AddWorkspace(t.Context(), asPerson("anna"), fairlead.KeyNameBody{Key: "night-shift"})
	if e := refused(t, err, fairlead.CodeConflict); e.Reason != fairlead.ReasonExists {
		t.Errorf("got reason %q, want exists", e.Reason)
	}
}

// Identifiers name directories and branches: two workspaces must not share them.
func TestWorkspacesTellTheirIdentifiersApart(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		seen := map[string]bool{"FL": true}
		for _, key := range []string{"abc", "abcd", "fl", "abce"} {
			v, err := h.c.AddWorkspace(t.Context(), owner(), fairlead.KeyNameBody{Key: key})
			h.must(err)
			if seen[v.Prefix] {
				t.Errorf("workspace %s shares the prefix %s", key, v.Prefix)
			}
			seen[v.Prefix] = true
		}
	})
}
