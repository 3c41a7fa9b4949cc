package tool_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/tool"
)

func TestWebFetch(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<html><head><title>x</title></head><script>evil()</script><h1>Head &amp; foot</h1>\n\n\n<p>one<br>two</p></html>"))
	})
	mux.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte("a <b>"))
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat("x", 3<<20))) })
	mux.HandleFunc("/bin", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0, 1, 2}) })
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/text", http.StatusFound) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	b := setup(t, &tool.Options{Fetch: true, FetchPrivate: true})
	if r := b.want("web_fetch", m{"url": s.URL + "/page"}, agent.OutcomeOK, ""); r.Text != "Head & foot\n\none\ntwo" {
		t.Errorf("got %q", r.Text)
	}
	b.want("web_fetch", m{"url": s.URL + "/text"}, agent.OutcomeOK, "a <b>")
	b.want("web_fetch", m{"url": s.URL + "/to"}, agent.OutcomeOK, "a <b>")
	b.want("web_fetch", m{"url": s.URL + "/bin"}, agent.OutcomeError, "not text")
	b.want("web_fetch", m{"url": s.URL + "/none"}, agent.OutcomeError, "404")
	b.want("web_fetch", m{"url": s.URL + "/loop"}, agent.OutcomeError, "redirects")
	b.want("web_fetch", m{"url": s.URL + "/file"}, agent.OutcomeError, "only http")
	b.want("web_fetch", m{"url": "file:///etc/passwd"}, agent.OutcomeError, "only http")
	b.want("web_fetch", m{"url": "http://user:pw@host/"}, agent.OutcomeError, "only http")
	if r := b.want("web_fetch", m{"url": s.URL + "/big"}, agent.OutcomeOK, "left out"); len(r.Text) > 70<<10 {
		t.Errorf("got %d bytes", len(r.Text))
	}
}

func TestS2_WebFetchStaysOutside(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	b := setup(t, &tool.Options{Fetch: true})
	for _, u := range []string{s.URL, "http://localhost:1/", "http://[::1]:1/", "http://[::ffff:127.0.0.1]:1/", "http://0.0.0.0:1/", "http://10.0.0.1/",
		"http://169.254.169.254/latest/meta-data", "http://100.64.0.1/", "http://[fd00::1]/", "http://[fe80::1]/"} {
		b.want("web_fetch", m{"url": u}, agent.OutcomeDenied, "not public")
	}
	if _, ok := agent.FindTool(setup(t, nil).box, "web_fetch"); ok {
		t.Error("it is offered without being asked for")
	}
}
