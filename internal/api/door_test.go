package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fairlead/fairlead"
)

// Foreign Host, foreign Origin, a body that is no JSON and a missing token are refused, on the API and on its stream.
func TestS1_Door(t *testing.T) {
	t.Parallel()
	b := newBench(t, &Options{Hosts: []string{"board.example.com", "odd.example.com:8443", "[fd00::1]"}})
	b.task()
	for _, tc := range []struct {
		name   string
		head   head
		status int
		code   fairlead.Code
	}{
		{"localhost", nil, 200, ""},
		{"another port", head{"Host": "localhost:9"}, 200, ""},
		{"no port", head{"Host": "LocalHost"}, 200, ""},
		{"loopback", head{"Host": "127.0.0.1:7420"}, 200, ""},
		{"IPv6 loopback", head{"Host": "[::1]:7420"}, 200, ""},
		{"IPv6 loopback, long", head{"Host": "[0:0:0:0:0:0:0:1]:7420"}, 200, ""},
		{"configured", head{"Host": "board.example.com"}, 200, ""},
		{"configured, other port", head{"Host": "board.example.com:81"}, 200, ""},
		{"configured with its port", head{"Host": "odd.example.com:8443"}, 200, ""},
		{"configured with a port, another", head{"Host": "odd.example.com:8444"}, 403, fairlead.CodeForbidden},
		{"configured IPv6", head{"Host": "[fd00::1]:7420"}, 200, ""},
		{"foreign host", head{"Host": "evil.example.com"}, 403, fairlead.CodeForbidden},
		{"foreign host, good token is not asked", head{"Host": "evil.example.com", "Authorization": "Bearer wrong"}, 403, fairlead.CodeForbidden},
		{"host that begins well", head{"Host": "localhost.evil.example.com"}, 403, fairlead.CodeForbidden},
		{"host with user", head{"Host": "localhost@evil.example.com"}, 403, fairlead.CodeForbidden},
		{"host with a colon alone", head{"Host": "localhost:"}, 403, fairlead.CodeForbidden},
		{"another loopback address", head{"Host": "127.0.0.2:7420"}, 403, fairlead.CodeForbidden},
		{"no host", head{"Host": ""}, 403, fairlead.CodeForbidden},
		{"own origin", head{"Origin": "http://localhost:7420"}, 200, ""},
		{"own origin behind TLS", head{"Host": "board.example.com", "Origin": "https://board.example.com"}, 200, ""},
		{"own origin, port said", head{"Host": "board.example.com:443", "Origin": "https://board.example.com"}, 200, ""},
		{"foreign origin", head{"Origin": "https://evil.example.com"}, 403, fairlead.CodeForbidden},
		{"origin of another port", head{"Origin": "http://localhost:5173"}, 403, fairlead.CodeForbidden},
		{"origin of another name", head{"Origin": "http://127.0.0.1:7420"}, 403, fairlead.CodeForbidden},
		{"origin null", head{"Origin": "null"}, 403, fairlead.CodeForbidden},
		{"origin of a file", head{"Origin": "file://"}, 403, fairlead.CodeForbidden},
		{"no token", head{"-Authorization": ""}, 401, fairlead.CodeUnauthenticated},
		{"unknown token", head{"Authorization": "Bearer hunter2"}, 401, fairlead.CodeUnauthenticated},
		{"empty token", head{"Authorization": "Bearer "}, 401, fairlead.CodeUnauthenticated},
		{"another scheme", head{"Authorization": "Basic " + ownerToken}, 401, fairlead.CodeUnauthenticated},
		{"scheme in another case", head{"Authorization": "bearer " + ownerToken}, 200, ""},
		{"token in the query only", head{"-Authorization": ""}, 401, fairlead.CodeUnauthenticated},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, target := range []string{"/api/v1/tasks", "/api/v1/events", "/openapi.json", "/metrics", "/api/v1/runs/run_1/events"} {
				method := http.MethodGet
				if tc.status == 200 {
					method = http.MethodHead // a stream would not end
				}
				w := b.send(method, target, tc.head, "")
				if tc.status == 200 {
					if w.Code != 200 {
						t.Errorf("%s: %d %s", target, w.Code, w.Body)
					}
					continue
				}
				wantProblem(t, w, tc.status, tc.code)
				if got := w.Header().Get("WWW-Authenticate") != ""; got != (tc.status == 401) {
					t.Errorf("%s: WWW-Authenticate is there: %v", target, got)
				}
			}
		})
	}
}

func TestS1_BodiesThatAreNoJSON(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for name, h := range map[string]head{
		"text/plain":       {"Content-Type": "text/plain"},
		"form":             {"Content-Type": "application/x-www-form-urlencoded"},
		"multipart":        {"Content-Type": "multipart/form-data; boundary=x"},
		"none":             {"-Content-Type": ""},
		"another JSON":     {"Content-Type": "application/merge-patch+json"},
		"broken":           {"Content-Type": "application/json; ;;="},
		"compressed":       {"Content-Encoding": "gzip"},
		"JSON in its name": {"Content-Type": "text/plain; application/json"},
	} {
		w := b.send("POST", "/api/v1/tasks", h, `{"title":"hunter2"}`)
		t.Run(name, func(t *testing.T) { wantProblem(t, w, 415, fairlead.CodeMediaType) })
	}
	if w := b.send("POST", "/api/v1/tasks", head{"Content-Type": "Application/JSON; charset=utf-8"}, `{"title":"x"}`); w.Code != 201 {
		t.Errorf("JSON with parameters: %d %s", w.Code, w.Body)
	}
	if got := b.fake.written(); len(got) != 1 {
		t.Errorf("writes %v, want one", got)
	}
}

func TestHealthNeedsNoToken(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, target := range []string{"/healthz", "/readyz"} {
		if w := b.send("GET", target, head{"-Authorization": ""}, ""); w.Code != 200 {
			t.Errorf("%s: %d", target, w.Code)
		}
		wantProblem(t, b.send("GET", target, head{"-Authorization": "", "Host": "evil"}, ""), 403, fairlead.CodeForbidden)
	}
}

func TestTwoOriginsOrTokensAreNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	r := httptest.NewRequest(http.MethodGet, "/api/v1/tasks", nil)
	r.Host = "localhost"
	r.Header["Origin"] = []string{"http://localhost", "http://evil"}
	w := httptest.NewRecorder()
	b.server.Handler().ServeHTTP(w, r)
	wantProblem(t, w, 403, fairlead.CodeForbidden)
	r.Header.Del("Origin")
	r.Header["Authorization"] = []string{"Bearer " + ownerToken, "Bearer x"}
	w = httptest.NewRecorder()
	b.server.Handler().ServeHTTP(w, r)
	wantProblem(t, w, 401, fairlead.CodeUnauthenticated)
}

func TestWorkspaces(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	side := "Bearer " + sideToken
	for _, tc := range []struct {
		name, query, token, want string
		status                   int
		code                     fairlead.Code
	}{
		{"default", "", "", "main", 201, ""},
		{"named", "?workspace=side", "", "side", 201, ""},
		{"own", "", side, "side", 201, ""},
		{"own, named", "?workspace=side", side, "side", 201, ""},
		{"another's", "?workspace=main", side, "", 403, fairlead.CodeForbidden},
		{"no name", "?workspace=../hunter2", "", "", 422, fairlead.CodeInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := head{}
			if tc.token != "" {
				h["Authorization"] = tc.token
			}
			w := b.send("POST", "/api/v1/tasks"+tc.query, h, `{"title":"x"}`)
			if tc.status >= 400 {
				wantProblem(t, w, tc.status, tc.code)
				return
			}
			if w.Code != tc.status || b.fake.meta().Workspace != tc.want {
				t.Errorf("%d, workspace %q, want %q", w.Code, b.fake.meta().Workspace, tc.want)
			}
		})
	}
	wantProblem(t, b.send("POST", "/api/v1/workspaces", head{"Authorization": side}, `{"key":"new"}`), 403, fairlead.CodeForbidden)
	own := decode[fairlead.Page[fairlead.WorkspaceView]](t, b.send("GET", "/api/v1/workspaces", head{"Authorization": side}, ""))
	if len(own.Items) != 1 || own.Items[0].Key != "side" {
		t.Errorf("a bound token sees %v", own.Items)
	}
}
