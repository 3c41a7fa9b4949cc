package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

const (
	malformed = fairlead.CodeInvalid // with 400
	invalid   = fairlead.CodeInvalid // with 422
)

func TestBadInput(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.task()
	before := b.fake.written()
	deep := strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70)
	for _, tc := range []struct {
		name, method, path string
		head               head
		body               string
		status             int
		code               fairlead.Code
	}{
		// What stands before any schema.
		{"ten megabytes", "POST", "/api/v1/tasks", nil, `{"title":"` + strings.Repeat("x", 10<<20) + `"}`, 413, fairlead.CodeTooLarge},
		{"one byte too many", "POST", "/api/v1/tasks", nil, `{"title":"` + strings.Repeat("x", maxBody) + `"}`, 413, fairlead.CodeTooLarge},
		{"no UTF-8", "POST", "/api/v1/tasks", nil, "{\"title\":\"\xff\"}", 400, malformed},
		{"NUL", "POST", "/api/v1/tasks", nil, "{\"title\":\"a\x00\"}", 400, malformed},
		{"escaped NUL", "POST", "/api/v1/tasks", nil, `{"title":"hunter2\u0000"}`, 400, malformed},
		{"escaped NUL in a key", "POST", "/api/v1/tasks", nil, `{"title":"x","metadata":{"a\u0000":1}}`, 400, malformed},
		{"half a surrogate pair", "POST", "/api/v1/tasks", nil, `{"title":"\ud83d"}`, 400, malformed},
		{"the other half", "POST", "/api/v1/tasks", nil, `{"title":"\udc00\ud83d"}`, 400, malformed},
		{"key twice", "POST", "/api/v1/tasks", nil, `{"title":"a","title":"hunter2"}`, 400, malformed},
		{"key twice, escaped", "POST", "/api/v1/tasks", nil, `{"title":"a","t\u0069tle":"b"}`, 400, malformed},
		{"key in two cases", "POST", "/api/v1/tasks", nil, `{"title":"a","Title":"b"}`, 400, malformed},
		{"key in two cases, deep", "POST", "/api/v1/tasks", nil, `{"title":"a","metadata":{"x":[{"k":1,"K":2}]}}`, 400, malformed},
		{"key with a Kelvin sign", "POST", "/api/v1/tasks", nil, "{\"title\":\"a\",\"metadata\":{\"k\":1,\"\u212a\":2}}", 400, malformed},
		{"too deep", "POST", "/api/v1/tasks", nil, `{"title":"a","metadata":` + deep + `}`, 400, malformed},
		{"broken off", "POST", "/api/v1/tasks", nil, `{"title":"hunter2`, 400, malformed},
		{"no JSON", "POST", "/api/v1/tasks", nil, `title: hunter2`, 400, malformed},
		{"two values", "POST", "/api/v1/tasks", nil, `{"title":"a"} {}`, 400, malformed},
		{"trailing comma", "POST", "/api/v1/tasks", nil, `{"title":"a",}`, 400, malformed},
		{"number out of range", "POST", "/api/v1/tasks", nil, `{"title":"a","metadata":{"n":1e999}}`, 400, malformed},
		{"bad body on a route without one", "DELETE", "/api/v1/tasks/FL-1/blockers/FL-2", nil, `{"op":"a","op":"b"}`, 400, malformed},

		// Shapes.
		{"unknown field", "POST", "/api/v1/tasks", nil, `{"title":"a","owner":"hunter2"}`, 422, invalid},
		{"field in another case", "POST", "/api/v1/tasks", nil, `{"Title":"hunter2"}`, 422, invalid},
		{"$schema", "POST", "/api/v1/tasks", nil, `{"title":"a","$schema":"hunter2"}`, 422, invalid},
		{"missing field", "POST", "/api/v1/tasks", nil, `{"description":"hunter2"}`, 422, invalid},
		{"wrong type", "POST", "/api/v1/tasks", nil, `{"title":{"x":"hunter2"}}`, 422, invalid},
		{"wrong type, deep", "POST", "/api/v1/tasks", nil, `{"title":"a","participants":[{"role":7}]}`, 422, invalid},
		{"unknown field, deep", "POST", "/api/v1/tasks", nil, `{"title":"a","repository":{"path":"/x","hunter":"hunter2"}}`, 422, invalid},
		{"null for a list", "POST", "/api/v1/tasks", nil, `{"title":"a","participants":[null]}`, 422, invalid},
		{"fraction for a whole number", "POST", "/api/v1/tasks/FL-1/move", nil, `{"step":"a","expected_visit":1.5}`, 422, invalid},
		{"whole number out of range", "POST", "/api/v1/tasks/FL-1/move", nil, `{"step":"a","expected_visit":1e30}`, 422, invalid},
		{"a list for a body", "POST", "/api/v1/tasks", nil, `[]`, 422, invalid},
		{"null for a body", "POST", "/api/v1/tasks", nil, `null`, 422, invalid},
		{"no body", "POST", "/api/v1/tasks", nil, ``, 422, invalid},
		{"blank body", "POST", "/api/v1/tasks", nil, "  ", 400, malformed},

		// Targets.
		{"unknown path", "GET", "/api/v1/nothing", nil, "", 404, fairlead.CodeNotFound},
		{"root", "GET", "/", nil, "", 404, fairlead.CodeNotFound},
		{"trailing slash", "GET", "/api/v1/tasks/", nil, "", 404, fairlead.CodeNotFound},
		{"double slash", "GET", "/api//v1/tasks", nil, "", 404, fairlead.CodeNotFound},
		{"dot segments", "GET", "/api/v1/tasks/../tasks", nil, "", 404, fairlead.CodeNotFound},
		{"escaped dot segments", "GET", "/api/v1/tasks/%2e%2e%2fhunter2", nil, "", 404, fairlead.CodeNotFound},
		{"path separator in a name", "GET", "/api/v1/workflows/a%2Fhunter2", nil, "", 422, invalid},
		{"backslash in a name", "GET", "/api/v1/tasks/a%5Chunter2", nil, "", 422, invalid},
		{"NUL in a path", "GET", "/api/v1/tasks/a%00b", nil, "", 400, malformed},
		{"no UTF-8 in a path", "GET", "/api/v1/tasks/a%ffb", nil, "", 400, malformed},
		{"very long name", "GET", "/api/v1/tasks/" + strings.Repeat("a", 500), nil, "", 422, invalid},
		{"upper-case key", "GET", "/api/v1/agents/Coder", nil, "", 422, invalid},
		{"unknown id", "GET", "/api/v1/tasks/FL-99", nil, "", 404, fairlead.CodeNotFound},
		{"unknown id of a run", "GET", "/api/v1/runs/run_9", nil, "", 404, fairlead.CodeNotFound},
		{"method", "PUT", "/api/v1/tasks", nil, "", 405, fairlead.CodeMethod},
		{"method of a task", "DELETE", "/api/v1/tasks/FL-1", nil, "", 405, fairlead.CodeMethod},
		{"invented method", "BREW", "/api/v1/tasks", nil, "", 405, fairlead.CodeMethod},
		{"preflight", "OPTIONS", "/api/v1/tasks", nil, "", 405, fairlead.CodeMethod},

		// Queries.
		{"limit too large", "GET", "/api/v1/tasks?limit=201", nil, "", 422, invalid},
		{"limit zero", "GET", "/api/v1/tasks?limit=0", nil, "", 422, invalid},
		{"limit no number", "GET", "/api/v1/tasks?limit=hunter2", nil, "", 422, invalid},
		{"bad cursor", "GET", "/api/v1/tasks?cursor=bad", nil, "", 422, invalid},
		{"unknown state", "GET", "/api/v1/tasks?state=hunter2", nil, "", 422, invalid},
		{"unknown status", "GET", "/api/v1/runs?status=hunter2", nil, "", 422, invalid},
		{"unknown parameter", "GET", "/api/v1/tasks?hunter=hunter2", nil, "", 422, invalid},
		{"parameter twice", "GET", "/api/v1/tasks?q=a&q=hunter2", nil, "", 400, malformed},
		{"broken escape", "GET", "/api/v1/tasks?q=%zz", nil, "", 400, malformed},
		{"NUL in a query", "GET", "/api/v1/tasks?q=%00", nil, "", 400, malformed},
		{"negative after", "GET", "/api/v1/tasks/FL-1/journal?after=-1", nil, "", 422, invalid},
		{"unknown topic", "GET", "/api/v1/events?topics=board,hunter2", nil, "", 422, invalid},
		{"topic of no task", "GET", "/api/v1/events?topics=task:FL-99", nil, "", 404, fairlead.CodeNotFound},
		{"too many topics", "GET", "/api/v1/events?topics=" + strings.Repeat("inbox,", 60) + "inbox", nil, "", 422, invalid},
		{"no seq", "GET", "/api/v1/runs/run_1/events", head{"Accept": "text/event-stream", "Last-Event-ID": "hunter2"}, "", 422, invalid},

		// Headers.
		{"two operations", "POST", "/api/v1/tasks", head{"Idempotency-Key": "b"}, `{"title":"x","op":"a"}`, 400, malformed},
		{"operation too long", "POST", "/api/v1/tasks", nil, `{"title":"x","op":"` + strings.Repeat("o", 300) + `"}`, 422, invalid},
		{"operation with a space", "POST", "/api/v1/tasks", nil, `{"title":"x","op":"a b"}`, 422, invalid},
		{"stale version", "PATCH", "/api/v1/tasks/FL-1", head{"If-Match": `"9"`}, `{"title":"x"}`, 412, fairlead.CodeStale},
		{"weak version", "PATCH", "/api/v1/tasks/FL-1", head{"If-Match": `W/"1"`}, `{"title":"x"}`, 412, fairlead.CodeStale},
		{"version without quotes", "PATCH", "/api/v1/tasks/FL-1", head{"If-Match": `1`}, `{"title":"x"}`, 412, fairlead.CodeStale},
		{"version zero", "PATCH", "/api/v1/tasks/FL-1", head{"If-Match": `"0"`}, `{"title":"x"}`, 412, fairlead.CodeStale},
		{"two versions", "PATCH", "/api/v1/tasks/FL-1", head{"If-Match": `"1", "2"`}, `{"title":"x"}`, 400, malformed},
		{"invalid key", "POST", "/api/v1/people", nil, `{"key":"../hunter2"}`, 422, invalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := b.send(tc.method, tc.path, tc.head, tc.body)
			wantProblem(t, w, tc.status, tc.code)
			if tc.status == 405 && w.Header().Get("Allow") == "" {
				t.Error("405 without Allow")
			}
		})
	}
	t.Cleanup(func() {
		if got := b.fake.written(); len(got) != len(before) {
			t.Errorf("bad input was written: %v", got[len(before):])
		}
	})
}

func TestProblemsSayWhere(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	p := wantProblem(t, b.send("POST", "/api/v1/tasks", nil, `{"title":"a","repository":{"paht":"hunter2"}}`), 422, invalid)
	if len(p.Errors) != 2 || p.Errors[0].Path != "repository" || p.Errors[1].Path != "repository.paht" || p.Errors[1].Remedy == "" {
		t.Errorf("errors %+v", p.Errors)
	}
	p = wantProblem(t, b.send("POST", "/api/v1/tasks", nil, "{\n  \"title\": \"ä\", \"title\": 1}"), 400, malformed)
	if len(p.Errors) != 1 || p.Errors[0].Line != 2 || p.Errors[0].Column != 24 {
		t.Errorf("errors %+v, want line 2, column 24", p.Errors)
	}
}

func TestHeadersOfTheWire(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	w := b.send("POST", "/api/v1/tasks", nil, `{"title":"a"}`)
	for name, want := range map[string]string{
		"Content-Type": "application/json", "ETag": `"1"`, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Link": "",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if strings.Contains(w.Body.String(), "$schema") {
		t.Errorf("body links to a schema: %s", w.Body)
	}
}

// A body of unknown length is bounded too.
func TestChunkedBodyIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	r := httptest.NewRequest(http.MethodPost, "/api/v1/tasks", strings.NewReader(strings.Repeat(" ", maxBody+1)))
	r.ContentLength = -1
	r.Host = "localhost"
	r.Header = http.Header{"Authorization": {"Bearer " + ownerToken}, "Content-Type": {"application/json"}}
	w := httptest.NewRecorder()
	b.server.Handler().ServeHTTP(w, r)
	wantProblem(t, w, 413, fairlead.CodeTooLarge)
}
