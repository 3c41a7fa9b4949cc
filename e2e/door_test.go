package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// S1: foreign Host, foreign Origin, text/plain body, missing token on API and SSE are refused; the token stands only in
// its file, which only its owner can read.
func TestS1_TheDoor(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	port := s.url[strings.LastIndex(s.url, ":"):]
	for _, path := range []string{"/api/v1/tasks", "/api/v1/events", "/openapi.json", "/metrics"} {
		get := func(c call) call { c.method, c.path = "GET", path; return c }
		s.refused(t, get(call{host: "evil.example.com"}), 403, "forbidden")
		s.refused(t, get(call{host: "evil.example.com" + port}), 403, "forbidden")
		s.refused(t, get(call{host: "127.0.0.1.evil.example.com"}), 403, "forbidden")
		s.refused(t, get(call{header: map[string]string{"Origin": "https://evil.example.com"}}), 403, "forbidden")
		s.refused(t, get(call{header: map[string]string{"Origin": "null"}}), 403, "forbidden")
		s.refused(t, get(call{header: map[string]string{"Origin": "http://127.0.0.1:1"}}), 403, "forbidden")
		s.refused(t, get(call{token: "-"}), 401, "unauthenticated")
		s.refused(t, get(call{token: "Bearer " + marker}), 401, "unauthenticated")
		s.refused(t, get(call{token: "Basic " + s.token}), 401, "unauthenticated")
		// The host is checked before the token: a foreign page learns nothing about tokens.
		s.refused(t, get(call{host: "evil.example.com", token: "-"}), 403, "forbidden")
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := s.raw(call{method: "GET", path: path, token: "-"}); a.status != 200 {
			t.Errorf("%s without a token: %d %s", path, a.status, a.body)
		}
		s.refused(t, call{method: "GET", path: path, token: "-", host: "evil.example.com"}, 403, "forbidden")
	}
	s.refused(t, call{method: "POST", path: "/api/v1/tasks", body: `{"title":"x"}`, kind: "text/plain"}, 415, "media_type")
	s.refused(t, call{method: "GET", path: "/api/v1/tasks?token=" + s.token, token: "-"}, 401, "unauthenticated")
	for _, host := range []string{"localhost" + port, "127.0.0.1" + port, "[::1]" + port} {
		if a := s.raw(call{method: "GET", path: "/api/v1/tasks", host: host, header: map[string]string{"Origin": "http://" + host}}); a.status != 200 {
			t.Errorf("host %s: %d %s", host, a.status, a.body)
		}
	}
	s.stop()
	s.modes(t)
}

// modes checks that nothing of the home is open to others, and that the token stands in no other file.
func (s *server) modes(t *testing.T) {
	t.Helper()
	if strings.Contains(s.log.String(), s.token) {
		t.Error("the log holds the token")
	}
	err := filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: mode %o, want %o", path, got, want)
		}
		if d.IsDir() || d.Name() == "token" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), s.token) {
			t.Errorf("%s holds the token", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
