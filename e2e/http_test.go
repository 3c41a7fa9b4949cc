package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// call is one raw HTTP request; an empty member is left out.
type call struct {
	method, path, body string
	host, kind         string            // Host and Content-Type; the type defaults to JSON when there is a body
	token              string            // "-" = none; default the owner's
	header             map[string]string // further headers
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// problem is the shape of every refusal.
type problem struct {
	Type, Title, Code, Detail, Hint, Reason string
	Status                                  int
	Errors                                  []struct {
		Path, Message string
		Line, Column  int
	}
}

// raw sends a request as it stands, without the client.
func (s *server) raw(c call) answer {
	s.t.Helper()
	var body io.Reader
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), c.method, s.url+c.path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if c.host != "" {
		r.Host = c.host
	}
	if c.kind == "" && c.body != "" {
		c.kind = "application/json"
	}
	if c.kind != "" {
		r.Header.Set("Content-Type", c.kind)
	}
	switch c.token {
	case "":
		r.Header.Set("Authorization", "Bearer "+s.token)
	case "-":
	default:
		r.Header.Set("Authorization", c.token)
	}
	for k, v := range c.header {
		r.Header.Set(k, v)
	}
	// A server that refuses a large body early may close before it was sent; the answer is there all the same.
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

// refused sends a request that must be refused: problem+json, with the code and a hint, and without an echo of what
// was sent.
func (s *server) refused(t *testing.T, c call, status int, code string) problem {
	t.Helper()
	a := s.raw(c)
	var p problem
	if a.status != status || a.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s %s: %d %s %s, want %d", c.method, c.path, a.status, a.header.Get("Content-Type"), cut(a.body), status)
		return p
	}
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		t.Errorf("%s %s: %v in %s", c.method, c.path, err, cut(a.body))
	}
	if p.Code != code || p.Status != status || p.Title == "" || p.Type == "" {
		t.Errorf("%s %s: %s, want code %s", c.method, c.path, cut(a.body), code)
	}
	if p.Hint == "" && status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
		t.Errorf("%s %s: no hint in %s", c.method, c.path, cut(a.body))
	}
	if strings.Contains(a.body, marker) {
		t.Errorf("%s %s: the answer echoes what was sent: %s", c.method, c.path, cut(a.body))
	}
	return p
}

// marker stands in refused bodies: no answer may hold it.
const marker = "echo-me-not"

func cut(s string) string { return s[:min(len(s), 400)] }
