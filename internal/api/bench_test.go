package api

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(newFake().deps(nil), nil)
	}
}

func BenchmarkMove(b *testing.B) {
	f := newFake()
	h := New(f.deps(nil), nil).Handler()
	send := func(method, path, body string) int {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer "+ownerToken)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	send("POST", "/api/v1/tasks", `{"title":"x"}`)
	for b.Loop() {
		if code := send("POST", "/api/v1/tasks/FL-1/move", `{"step":"done","expected_visit":3,"note":"because it is done"}`); code != 200 {
			b.Fatal(code)
		}
	}
}
