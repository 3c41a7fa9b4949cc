package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
)

// serve answers every request with a function.
func serve(t *testing.T, h http.HandlerFunc, o *Options) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := New(srv.URL+"/", "secret", o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNewRefusesWhatIsNoAddress(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "localhost:7420", "ftp://x", "http://", "http://a b", "/api"} {
		if _, err := New(url, "t", nil); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("New(%q) = %v, want invalid", url, err)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		b, _ := io.ReadAll(r.Body)
		body = string(b)
		fmt.Fprint(w, `{"id":"tsk_1"}`)
	}, &Options{Workspace: "side"})
	v, err := c.IfVersion(4).Move(t.Context(), "a/b", fairlead.MoveBody{Step: "done", Op: "mine"})
	if err != nil || v.Step != "" {
		t.Fatal(v, err)
	}
	want := map[string]string{
		"path": "POST /api/v1/tasks/a%2Fb/move?workspace=side", "body": `{"step":"done","op":"mine"}`,
		"auth": "Bearer secret", "op": "mine", "type": "application/json", "match": `"4"`,
	}
	if diff := cmp.Diff(want, map[string]string{
		"path": got.Method + " " + got.URL.RequestURI(), "body": body, "auth": got.Header.Get("Authorization"),
		"op": got.Header.Get("Idempotency-Key"), "type": got.Header.Get("Content-Type"), "match": got.Header.Get("If-Match"),
	}); diff != "" {
		t.Error(diff)
	}
	if _, err := c.In("other").Archive(t.Context(), "FL-1", fairlead.OpBody{}); err != nil {
		t.Fatal(err)
	}
	if got.URL.Query().Get("workspace") != "other" || len(got.Header.Get("Idempotency-Key")) < 20 || got.Header.Get("If-Match") != "" {
		t.Errorf("%v %v", got.URL, got.Header)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		status int
		body   string
		want   *fairlead.Error
		exit   int
	}{
		{
			"conflict", 409,
			`{"type":"t","title":"Conflict","status":409,"code":"conflict","detail":"d","hint":"h","reason":"resolved","winner":"ann","errors":[{"path":"p","message":"m"}]}`,
			&fairlead.Error{
				Code: fairlead.CodeConflict, Message: "d", Hint: "h", Reason: "resolved", Data: map[string]any{"winner": "ann"},
				Fields: []fairlead.FieldError{{Path: "p", Message: "m"}},
			}, ExitConflict,
		},
		{"malformed", 400, `{"title":"Bad Request","code":"invalid"}`, &fairlead.Error{Code: fairlead.CodeMalformed, Message: "Bad Request"}, ExitRefused},
		{"invalid", 422, `{"code":"invalid","detail":"d"}`, &fairlead.Error{Code: fairlead.CodeInvalid, Message: "d"}, ExitRefused},
		{"not found", 404, `{"code":"not_found","detail":"d"}`, &fairlead.Error{Code: fairlead.CodeNotFound, Message: "d"}, ExitNotFound},
		{"proxy", 502, `<html>`, &fairlead.Error{Code: fairlead.CodeUnavailable, Message: "Bad Gateway", Hint: "is this the address of a Fairlead server?"}, ExitUnreachable},
		{"redirect", 302, ``, &fairlead.Error{Code: fairlead.CodeRefused, Message: "Found", Hint: "is this the address of a Fairlead server?"}, ExitRefused},
		{"foreign 404", 404, `null`, &fairlead.Error{Code: fairlead.CodeNotFound, Message: "Not Found", Hint: "is this the address of a Fairlead server?"}, ExitNotFound},
		{"internal", 500, `{"code":"internal","title":"Internal Server Error"}`, &fairlead.Error{Code: fairlead.CodeInternal, Message: "Internal Server Error"}, ExitFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://elsewhere.example.com/")
				w.WriteHeader(tc.status)
				fmt.Fprint(w, tc.body)
			}, nil)
			_, err := c.GetTask(t.Context(), "FL-1")
			if diff := cmp.Diff(error(tc.want), err); diff != "" {
				t.Error(diff)
			}
			if got := ExitCode(err); got != tc.exit {
				t.Errorf("exit code %d, want %d", got, tc.exit)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for want, errs := range map[int][]error{
		ExitOK:     {nil},
		ExitFailed: {errors.New("x"), context.Canceled, &fairlead.Error{Code: fairlead.CodeInternal}},
		ExitUsage:  {fmt.Errorf("no such flag: %w", ErrUsage)},
		ExitConflict: {
			fmt.Errorf("move: %w", &fairlead.Error{Code: fairlead.CodeConflict}), &fairlead.Error{Code: fairlead.CodeStale},
		},
		ExitRefused: {
			&fairlead.Error{Code: fairlead.CodeMalformed}, &fairlead.Error{Code: fairlead.CodeUnauthenticated},
			&fairlead.Error{Code: fairlead.CodeForbidden}, &fairlead.Error{Code: fairlead.CodeMethod},
			&fairlead.Error{Code: fairlead.CodeTooLarge}, &fairlead.Error{Code: fairlead.CodeMediaType},
			&fairlead.Error{Code: fairlead.CodeInvalid}, &fairlead.Error{Code: fairlead.CodeRefused},
			&fairlead.Error{Code: fairlead.CodeOpReused}, &fairlead.Error{Code: fairlead.CodeLimited},
		},
		ExitNotFound:    {&fairlead.Error{Code: fairlead.CodeNotFound}},
		ExitUnreachable: {&fairlead.Error{Code: fairlead.CodeUnavailable}},
	} {
		for _, err := range errs {
			if got := ExitCode(err); got != want {
				t.Errorf("ExitCode(%v) = %d, want %d", err, got, want)
			}
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(nil)
	srv.Close()
	c, err := New(srv.URL, "t", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.GetTask(t.Context(), "FL-1")
	var e *fairlead.Error
	if !errors.As(err, &e) || e.Code != fairlead.CodeUnavailable || e.Hint == "" || ExitCode(err) != ExitUnreachable {
		t.Errorf("%v", err)
	}
	for _, err := range c.Events(t.Context(), "") {
		if ExitCode(err) != ExitUnreachable {
			t.Errorf("a stream that never came: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.GetTask(ctx, "FL-1"); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up: %v", err)
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	pages := map[string]fairlead.Page[int]{"": {Items: []int{1, 2}, NextCursor: "b"}, "b": {NextCursor: "c"}, "c": {Items: []int{3}}}
	next := func(_ context.Context, cursor string) (fairlead.Page[int], error) {
		p, ok := pages[cursor]
		if !ok {
			return p, errors.New("bad cursor")
		}
		return p, nil
	}
	var got []int
	for n, err := range Each(t.Context(), next) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n)
	}
	if diff := cmp.Diff([]int{1, 2, 3}, got); diff != "" {
		t.Error(diff)
	}
	for range Each(t.Context(), next) {
		break // must not ask again
	}
	delete(pages, "c")
	var last error
	for _, err := range Each(t.Context(), next) {
		last = err
	}
	if last == nil {
		t.Error("an error did not end the walk")
	}
}

func TestStreamRefused(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"code":"invalid","detail":"unknown topic"}`)
	}, nil)
	n := 0
	for _, err := range c.Events(t.Context(), "", "nonsense") {
		if n++; !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d errors, want one", n)
	}
}

// A stream that does not come back ends when patience ends.
func TestStreamPatience(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			fmt.Fprint(w, "retry: 1\nid: e-1\n\n")
			return
		}
		if got := r.Header.Get("Last-Event-ID"); got != "e-1" {
			t.Errorf("Last-Event-ID %q", got)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}, &Options{Patience: 50 * time.Millisecond})
	var last error
	for _, err := range c.Events(t.Context(), "") {
		last = err
	}
	if !fairlead.IsCode(last, fairlead.CodeUnavailable) || calls.Load() < 3 {
		t.Errorf("%v after %d tries", last, calls.Load())
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "id: e-1\nevent: reset\ndata: {\"id\":\"e-1\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for e, err := range c.Events(ctx, "x-9") {
		if err != nil || !e.Reset || e.ID != "e-1" {
			t.Errorf("%+v %v", e, err)
		}
		n++
		cancel()
	}
	if n != 1 {
		t.Errorf("%d events, want one", n)
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	f := newFrames(strings.NewReader(": hi\n\n\nid: 1\nevent:kind\ndata: a\ndata:  b\n\nid\ndata\n\nretry: 20\nretry: soon\nid: 3\nunknown: x\n\nid: 4\ndata: cut"))
	want := []frame{{id: "1", event: "kind", data: "a\n b"}, {}, {id: "3", retry: 20 * time.Millisecond}}
	for _, w := range want {
		got, err := f.next()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w, got, cmp.AllowUnexported(frame{})); diff != "" {
			t.Error(diff)
		}
	}
	if got, err := f.next(); !errors.Is(err, io.EOF) {
		t.Errorf("half a frame came out: %+v", got)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add("id: 1\nevent: a\ndata: b\n\n")
	f.Add("retry: 99999999999999999999\n\n:\n\n")
	f.Fuzz(func(t *testing.T, s string) {
		r := newFrames(strings.NewReader(s))
		for i := 0; ; i++ {
			got, err := r.next()
			if err != nil {
				return
			}
			if got.retry < 0 || i > len(s) {
				t.Fatalf("frame %d: %+v", i, got)
			}
		}
	})
}
