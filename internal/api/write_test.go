package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

func TestOperations(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	first := b.send("POST", "/api/v1/tasks", nil, `{"title":"x","priority":"high","op":"one"}`)
	for name, again := range map[string]struct {
		head head
		body string
	}{
		"the same":        {nil, `{"title":"x","priority":"high","op":"one"}`},
		"another order":   {nil, ` { "op" : "one", "priority":"high", "title":"x" } `},
		"in the header":   {head{"Idempotency-Key": "one"}, `{"title":"x","priority":"high"}`},
		"in both":         {head{"Idempotency-Key": "one"}, `{"title":"x","priority":"high","op":"one"}`},
		"escaped letters": {nil, `{"title":"\u0078","priority":"high","op":"one"}`},
	} {
		w := b.send("POST", "/api/v1/tasks", again.head, again.body)
		if w.Code != first.Code || w.Body.String() != first.Body.String() {
			t.Errorf("%s: %d %s, want %d %s", name, w.Code, w.Body, first.Code, first.Body)
		}
	}
	for name, other := range map[string]struct{ method, path, body string }{
		"another body": {"POST", "/api/v1/tasks", `{"title":"y","priority":"high","op":"one"}`},
		"more":         {"POST", "/api/v1/tasks", `{"title":"x","priority":"high","labels":[],"op":"one"}`},
		"another path": {"POST", "/api/v1/people", `{"key":"x","op":"one"}`},
	} {
		w := b.send(other.method, other.path, nil, other.body)
		t.Run(name, func(t *testing.T) { wantProblem(t, w, 422, fairlead.CodeOpReused) })
	}
	// Another actor's operation of the same name is another operation.
	if w := b.send("POST", "/api/v1/tasks", head{"Authorization": "Bearer " + toolToken}, `{"title":"z","op":"one"}`); w.Code != 201 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff([]string{"CreateTask", "CreateTask"}, b.fake.written()); diff != "" {
		t.Error(diff)
	}
	// An operation of an empty body may stand in a DELETE's header.
	if w := b.send("DELETE", "/api/v1/tasks/tsk_1/blockers/FL-9", head{"Idempotency-Key": "two"}, ""); w.Code != 200 || b.fake.meta().Op != "two" {
		t.Errorf("%d, op %q", w.Code, b.fake.meta().Op)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	id := b.task()
	w := b.send("GET", "/api/v1/tasks/"+id, nil, "")
	if w.Header().Get("ETag") != `"1"` {
		t.Fatalf("ETag %q", w.Header().Get("ETag"))
	}
	if w := b.send("PATCH", "/api/v1/tasks/"+id, head{"If-Match": `"1"`}, `{"title":"y"}`); w.Code != 200 || w.Header().Get("ETag") != `"2"` {
		t.Errorf("%d, ETag %q", w.Code, w.Header().Get("ETag"))
	}
	wantProblem(t, b.send("POST", "/api/v1/tasks/"+id+"/move", head{"If-Match": `"1"`}, `{"step":"s"}`), 412, fairlead.CodeStale)
	if w := b.send("POST", "/api/v1/tasks/"+id+"/move", head{"If-Match": `*`}, `{"step":"s"}`); w.Code != 200 || w.Header().Get("ETag") != `"3"` {
		t.Errorf("%d, ETag %q", w.Code, w.Header().Get("ETag"))
	}
	for tag, want := range map[string]int{`"4"`: 304, `W/"4"`: 304, `"1", "4"`: 304, `*`: 304, `"3"`: 200, `4`: 200} {
		w := b.send("GET", "/api/v1/workflows/kanban", head{"If-None-Match": tag}, "")
		if w.Code != want || (want == 304 && w.Body.Len() > 0) {
			t.Errorf("If-None-Match %s: %d %s, want %d", tag, w.Code, w.Body, want)
		}
	}
}

func TestStatusesThatDiffer(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	id := b.task()
	b.fake.saved = false
	if w := b.send("POST", "/api/v1/workflows", nil, `{"source":"x"}`); w.Code != 200 {
		t.Errorf("the same content: %d", w.Code)
	}
	b.fake.busy = true
	if w := b.send("POST", "/api/v1/tasks/"+id+"/start", nil, `{"if_busy":"queue"}`); w.Code != 202 || decode[fairlead.StartResult](t, w).Run != "run_1" {
		t.Errorf("queued: %d %s", w.Code, w.Body)
	}
}

func TestQueriesReachControl(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for target, want := range map[string]any{
		"/api/v1/tasks": control.TaskQuery{Limit: 50},
		"/api/v1/tasks?workflow=w&step=s&state=needs_you&label=l&q=%C3%A4&parent=p&archived=true&ephemeral=true&limit=200&cursor=c": control.TaskQuery{
			Workflow: "w", Step: "s", State: "needs_you", Label: "l", Q: "ä", Parent: "p", Archived: true, Ephemeral: true, Limit: 200, Cursor: "c",
		},
		"/api/v1/runs?task=t&agent=a&status=dead&step=s&limit=1": control.RunQuery{Task: "t", Agent: "a", Status: "dead", Step: "s", Limit: 1},
		"/api/v1/requests": control.RequestQuery{State: "open", Limit: 50},
		"/api/v1/requests?state=answered&kind=form&person=p": control.RequestQuery{State: "answered", Kind: "form", Person: "p", Limit: 50},
		"/api/v1/inbox":            "owner",
		"/api/v1/inbox?person=ann": "ann",
	} {
		if w := b.send("GET", target, nil, ""); w.Code != 200 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
		if diff := cmp.Diff(want, b.fake.last); diff != "" {
			t.Errorf("%s: %s", target, diff)
		}
	}
	if w := b.send("GET", "/api/v1/inbox", head{"Authorization": "Bearer " + toolToken}, ""); w.Code != 200 || b.fake.last != "" {
		t.Errorf("a client's inbox asks for %q", b.fake.last)
	}
}

// Every state of the vocabulary is one of the filter.
func TestFiltersKnowEveryState(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, s := range []fairlead.State{
		fairlead.StateDone, fairlead.StateCancelled, fairlead.StateNeedsYou, fairlead.StateRunning, fairlead.StateFailed,
		fairlead.StatePaused, fairlead.StateQueued, fairlead.StateWaiting, fairlead.StateTodo,
	} {
		if w := b.send("GET", "/api/v1/tasks?state="+string(s), nil, ""); w.Code != 200 {
			t.Errorf("state %s: %d", s, w.Code)
		}
	}
	for _, s := range []fairlead.RunStatus{
		fairlead.RunQueued, fairlead.RunClaimed, fairlead.RunRunning, fairlead.RunStopping, fairlead.RunSucceeded,
		fairlead.RunParked, fairlead.RunCancelled, fairlead.RunSuperseded, fairlead.RunDead,
	} {
		if w := b.send("GET", "/api/v1/runs?status="+string(s), nil, ""); w.Code != 200 {
			t.Errorf("status %s: %d", s, w.Code)
		}
	}
	for _, s := range []fairlead.RequestState{
		fairlead.RequestOpen, fairlead.RequestAnswered, fairlead.RequestDeclined, fairlead.RequestExpired,
		fairlead.RequestWithdrawn, fairlead.RequestSuperseded, fairlead.RequestUndelivered,
	} {
		if w := b.send("GET", "/api/v1/requests?state="+string(s), nil, ""); w.Code != 200 {
			t.Errorf("state %s: %d", s, w.Code)
		}
	}
}
