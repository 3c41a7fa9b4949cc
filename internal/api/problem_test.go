package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
)

func TestEveryCodeHasItsStatus(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for code, status := range map[fairlead.Code]int{
		fairlead.CodeMalformed: 400, fairlead.CodeUnauthenticated: 401, fairlead.CodeForbidden: 403, fairlead.CodeNotFound: 404,
		fairlead.CodeMethod: 405, fairlead.CodeConflict: 409, fairlead.CodeStale: 412, fairlead.CodeTooLarge: 413,
		fairlead.CodeMediaType: 415, fairlead.CodeInvalid: 422, fairlead.CodeRefused: 422, fairlead.CodeOpReused: 422,
		fairlead.CodeLimited: 429, fairlead.CodeInternal: 500, fairlead.CodeUnavailable: 503, "unheard": 500,
	} {
		b.fake.fail["GetTask"] = fmt.Errorf("read task: %w", fairlead.Errorf(code, "said").WithHint("do this"))
		w := b.send("GET", "/api/v1/tasks/FL-1", nil, "")
		want := code
		switch code {
		case fairlead.CodeMalformed:
			want = fairlead.CodeInvalid
		case "unheard":
			want = fairlead.CodeInternal
		}
		p := wantProblem(t, w, status, want)
		if status != 500 && (p.Detail != "said" || p.Hint != "do this") {
			t.Errorf("%s: %s", code, w.Body)
		}
	}
}

func TestConflictNamesTheWinner(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	e := fairlead.Conflict(fairlead.ReasonResolved, "the question is answered").WithHint("look at it")
	e.Data = map[string]any{"winner": "person:ann", "status": "fact that must not hide a member"}
	e.Fields = []fairlead.FieldError{{Path: "verdict", Line: 3, Column: 1, Message: "m", Remedy: "r"}}
	e.Err = errors.New("inside")
	b.fake.fail["Answer"] = e
	w := b.send("POST", "/api/v1/requests/req_1/answer", nil, `{"verdict":"approve"}`)
	wantProblem(t, w, 409, fairlead.CodeConflict)
	want := map[string]any{
		"type": "urn:fairlead:problem:conflict", "title": "Conflict", "status": 409.0, "code": "conflict",
		"detail": "the question is answered", "hint": "look at it", "reason": "resolved", "winner": "person:ann",
		"errors": []any{map[string]any{"path": "verdict", "line": 3.0, "column": 1.0, "message": "m", "remedy": "r"}},
	}
	if diff := cmp.Diff(want, decode[map[string]any](t, w)); diff != "" {
		t.Error(diff)
	}
}

func TestInternalErrorsAreLoggedOnceAndNotShown(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"of the vocabulary": &fairlead.Error{Code: fairlead.CodeInternal, Message: "table secret", Err: errors.New("disk secret")},
		"foreign":           errors.New("disk secret"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			b.fake.fail["GetTask"] = err
			w := b.send("GET", "/api/v1/tasks/FL-1", nil, "")
			wantProblem(t, w, 500, fairlead.CodeInternal)
			if strings.Contains(w.Body.String(), "secret") {
				t.Errorf("shown: %s", w.Body)
			}
			if got := strings.Count(b.log.String(), "disk secret"); got != 1 {
				t.Errorf("logged %d times: %s", got, b.log)
			}
		})
	}
}

func TestCancelledCallersAreNoFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.fake.fail["GetTask"] = fmt.Errorf("read: %w", context.Canceled)
	wantProblem(t, b.send("GET", "/api/v1/tasks/FL-1", nil, ""), 503, fairlead.CodeUnavailable)
	if b.log.String() != "" {
		t.Errorf("logged: %s", b.log)
	}
}

func TestPanicsNeverReachAClient(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"GetTask", "Authenticate"} {
		b := newBench(t, nil)
		b.fake.panics = where
		w := b.send("GET", "/api/v1/tasks/FL-1", nil, "")
		wantProblem(t, w, 500, fairlead.CodeInternal)
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("shown: %s", w.Body)
		}
		if got := strings.Count(b.log.String(), "fake panic"); got != 1 {
			t.Errorf("logged %d times", got)
		}
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.server.Ready = func(context.Context) error { return errors.New("no secret database") }
	w := b.send("GET", "/readyz", head{"-Authorization": ""}, "")
	wantProblem(t, w, 503, fairlead.CodeUnavailable)
	if strings.Contains(w.Body.String(), "secret") || !strings.Contains(b.log.String(), "secret") {
		t.Errorf("shown %s, logged %s", w.Body, b.log)
	}
	if w := b.send("GET", "/healthz", nil, ""); w.Code != 200 {
		t.Errorf("healthz: %d", w.Code)
	}
}

// A fact that cannot be written must not cost the answer.
func TestUnwritableFacts(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	e := fairlead.Errorf(fairlead.CodeRefused, "x")
	e.Data = map[string]any{"f": func() {}}
	writeProblem(w, e)
	var p Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 500 || p.Status != 500 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
