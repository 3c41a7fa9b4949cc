package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
)

// wire is every route of the contract with a request it takes, the status of a success and the write it makes.
var wire = []struct {
	method, path, body string
	status             int
	write              string
}{
	{"GET", "/api/v1/tasks?workflow=w&step=s&state=todo&label=l&q=x&limit=10", "", 200, ""},
	{"POST", "/api/v1/tasks", `{"title":"x","op":"a"}`, 201, "CreateTask"},
	{"GET", "/api/v1/tasks/FL-1", "", 200, ""},
	{"PATCH", "/api/v1/tasks/FL-1", `{"title":"y","position":1.5,"metadata":{"a":null}}`, 200, "UpdateTask"},
	{"POST", "/api/v1/tasks/FL-1/repin", `{"dry_run":true}`, 200, "Repin"},
	{"POST", "/api/v1/tasks/FL-1/move", `{"step":"done","expected_visit":1}`, 200, "Move"},
	{"GET", "/api/v1/tasks/FL-1/comments", "", 200, ""},
	{"POST", "/api/v1/tasks/FL-1/comments", `{"text":"hi"}`, 201, "Comment"},
	{"POST", "/api/v1/tasks/FL-1/decisions", `{"verdict":"approve","note":"ok"}`, 200, "Decide"},
	{"GET", "/api/v1/tasks/FL-1/quorum", "", 200, ""},
	{"POST", "/api/v1/tasks/FL-1/triggers", `{"kind":"manual","key":"go","payload":{"x":1}}`, 200, "Trigger"},
	{"POST", "/api/v1/tasks/FL-1/triggers?dry_run=true", `{"kind":"comment"}`, 200, ""},
	{"POST", "/api/v1/tasks/FL-1/start", `{"message":"go","if_busy":"queue"}`, 200, "Start"},
	{"POST", "/api/v1/tasks/FL-1/start", ``, 200, "Start"},
	{"POST", "/api/v1/tasks/FL-1/stop", `{}`, 200, "Stop"},
	{"POST", "/api/v1/tasks/FL-1/archive", ``, 200, "Archive"},
	{"POST", "/api/v1/tasks/FL-1/participants", `{"role":"reviewer","person":"ann","decision_required":false}`, 201, "AddParticipant"},
	{"DELETE", "/api/v1/tasks/FL-1/participants/par_1", ``, 200, "RemoveParticipant"},
	{"POST", "/api/v1/tasks/FL-1/blockers", `{"blocked_by":"FL-2"}`, 201, "AddBlocker"},
	{"DELETE", "/api/v1/tasks/FL-1/blockers/FL-2", `{"op":"z"}`, 200, "RemoveBlocker"},
	{"GET", "/api/v1/tasks/FL-1/journal?after=3&limit=7", "", 200, ""},
	{"GET", "/api/v1/tasks/FL-1/runs", "", 200, ""},
	{"GET", "/api/v1/tasks/FL-1/sessions", "", 200, ""},
	{"GET", "/api/v1/tasks/FL-1/transitions", "", 200, ""},
	{"GET", "/api/v1/runs?status=queued", "", 200, ""},
	{"GET", "/api/v1/runs/run_1", "", 200, ""},
	{"GET", "/api/v1/runs/run_1/why", "", 200, ""},
	{"GET", "/api/v1/runs/run_1/events", "", 200, ""},
	{"POST", "/api/v1/runs/run_1/cancel", ``, 200, "CancelRun"},
	{"POST", "/api/v1/runs/run_1/retry", `{"op":"r"}`, 200, "RetryRun"},
	{"POST", "/api/v1/runs/run_1/release", `{"op":"r"}`, 200, "ReleaseRun"},
	{"GET", "/api/v1/requests?state=open", "", 200, ""},
	{"GET", "/api/v1/requests/req_1", "", 200, ""},
	{"POST", "/api/v1/requests/req_1/answer", `{"values":{"a":[1]},"text":"t"}`, 200, "Answer"},
	{"GET", "/api/v1/inbox", "", 200, ""},
	{"POST", "/api/v1/notices/not_1/dismiss", ``, 204, "DismissNotice"},
	{"GET", "/api/v1/workflows", "", 200, ""},
	{"POST", "/api/v1/workflows", `{"source":"name: x","remap":{"a":"b"},"expected_version":3}`, 201, "SaveWorkflow"},
	{"GET", "/api/v1/workflows/kanban", "", 200, ""},
	{"GET", "/api/v1/workflows/schema.json", "", 200, ""},
	{"POST", "/api/v1/workflows/lint", `{"source":"name: x"}`, 200, ""},
	{"POST", "/api/v1/workflows/simulate", `{"key":"kanban","trigger":"enter"}`, 200, ""},
	{"GET", "/api/v1/agents", "", 200, ""},
	{"POST", "/api/v1/agents", `{"source":"agent: x"}`, 200, "ApplyAgent"},
	{"GET", "/api/v1/agents/coder", "", 200, ""},
	{"POST", "/api/v1/agents/coder/pause", `{"reason":"quiet"}`, 200, "PauseAgent"},
	{"POST", "/api/v1/agents/coder/resume", ``, 200, "ResumeAgent"},
	{"GET", "/api/v1/people", "", 200, ""},
	{"POST", "/api/v1/people", `{"key":"ann","name":"Ann"}`, 201, "AddPerson"},
	{"GET", "/api/v1/workspaces", "", 200, ""},
	{"POST", "/api/v1/workspaces", `{"key":"side"}`, 201, "AddWorkspace"},
	{"GET", "/api/v1/tokens", "", 200, ""},
	{"POST", "/api/v1/tokens", `{"client":"ci"}`, 201, "AddToken"},
	{"GET", "/api/v1/routines", "", 200, ""},
	{"POST", "/api/v1/routines", `{"source":"routine: x"}`, 200, "ApplyRoutine"},
	{"GET", "/api/v1/routines/weekly", "", 200, ""},
	{"GET", "/api/v1/routines/weekly/receipts", "", 200, ""},
	{"POST", "/api/v1/routines/weekly/fire", ``, 200, "FireRoutine"},
	{"POST", "/api/v1/routines/weekly/pause", `{"reason":"holiday"}`, 200, "PauseRoutine"},
	{"POST", "/api/v1/routines/weekly/resume", ``, 200, "ResumeRoutine"},
	{"GET", "/api/v1/budgets", "", 200, ""},
	{"POST", "/api/v1/budgets", `{"scope":"workspace","meter":"money","limit":"5","period":"day"}`, 200, "SetBudget"},
	{"POST", "/api/v1/budgets/bud_1/raise", `{"by":"5"}`, 200, "RaiseBudget"},
	{"DELETE", "/api/v1/budgets/bud_1", ``, 200, "DeleteBudget"},
	{"GET", "/api/v1/usage", "", 200, ""},
	{"GET", "/api/v1/nodes", "", 200, ""},
	{"GET", "/openapi.json", "", 200, ""},
	{"GET", "/healthz", "", 200, ""},
	{"GET", "/readyz", "", 200, ""},
	{"GET", "/metrics", "", 200, ""},
}

func TestEveryRouteAnswers(t *testing.T) {
	t.Parallel()
	for _, tc := range wire {
		t.Run(tc.method+" "+tc.path, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			b.task()
			w := b.send(tc.method, tc.path, nil, tc.body)
			if w.Code != tc.status {
				t.Fatalf("%d %s, want %d", w.Code, w.Body, tc.status)
			}
			if strings.Contains(w.Body.String(), "null") && !strings.HasSuffix(tc.path, ".json") {
				t.Errorf("the answer holds a null: %s", w.Body)
			}
			want := []string{"CreateTask"}
			if tc.write != "" {
				want = append(want, tc.write)
			}
			if diff := cmp.Diff(want, b.fake.written()); diff != "" {
				t.Error(diff)
			}
			if tc.write != "" {
				m := b.fake.meta()
				if m.Workspace != "main" || m.Actor != fairlead.Person("owner") || m.Fingerprint == "" {
					t.Errorf("meta %+v", m)
				}
			}
		})
	}
}

// GET and HEAD never decide: whatever stands behind a link, a mail program that opens it changes nothing (Q6).
func TestQ6_GetAndHeadNeverDecide(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.task()
	before := len(b.fake.written())
	for _, tc := range wire {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for _, query := range []string{"", "?op=x&verdict=approve", "?_method=POST"} {
				target, _, _ := strings.Cut(tc.path, "?")
				h := head{"X-HTTP-Method-Override": "POST", "Idempotency-Key": "k"}
				w := b.send(method, target+query, h, `{"verdict":"approve"}`)
				if query == "" && tc.method == "GET" && w.Code != tc.status {
					t.Errorf("%s %s: %d", method, target, w.Code)
				}
			}
		}
	}
	if got := b.fake.written(); len(got) != before {
		t.Errorf("GET and HEAD wrote %v", got[before:])
	}
}

// The contract lists no route that this table lacks, and the document describes each.
func TestDocument(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	body := b.send("GET", "/openapi.json", nil, "").Body.Bytes()
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("openapi %q", doc.OpenAPI)
	}
	operations := map[string]bool{}
	for path, item := range doc.Paths {
		for method := range item {
			operations[strings.ToUpper(method)+" "+path] = false
		}
	}
	for _, tc := range wire {
		r, err := http.NewRequest(tc.method, tc.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, pattern := b.server.mux.Handler(r)
		operations[pattern] = true
	}
	operations["GET /api/v1/events"] = true // tested with its stream
	for operation, tested := range operations {
		if !tested {
			t.Errorf("no request of the table reaches %s", operation)
		}
	}
	for _, not := range []string{"$schema", "http://", `"array","null"`, "ErrorModel"} {
		if text := string(body); strings.Contains(text, not) {
			i := strings.Index(text, not)
			t.Errorf("the document holds %s: %s", not, text[max(0, i-80):i+40])
		}
	}
	for _, want := range []string{problemType, "text/event-stream", "EventView", `"Problem"`, `"bearer"`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the document lacks %s", want)
		}
	}
	for _, page := range []string{"/docs", "/schemas/TaskView.json", "/openapi.yaml"} {
		wantProblem(t, b.send("GET", page, nil, ""), 404, fairlead.CodeNotFound)
	}
}

func TestAcceptDoesNotMatter(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, accept := range []string{"*/*", "application/json", "text/html,*/*;q=0.8", "image/png", "json", "application/problem+json"} {
		w := b.send("GET", "/api/v1/tasks", head{"Accept": accept}, "")
		if got := w.Header().Get("Content-Type"); w.Code != 200 || got != "application/json" {
			t.Errorf("Accept %s: %d %s", accept, w.Code, got)
		}
	}
}
