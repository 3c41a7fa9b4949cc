package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzBody holds the checker to what it promises: what it lets pass every reader reads alike, and what it refuses it
// refuses with a 400 that says where.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, `"a"`, `1e5`, `{"a":1,"A":2}`, `{"a":{"b":[1,{"c":null}]}}`, `{"a":"\u0000"}`, `{"a":"\ud83d\ude00"}`,
		`{"a":"\ud83d"}`, "{\"k\":1,\"\u212a\":2}", "{\"s\":1,\"\u017f\":2}", `[[[[]]]]`, `{"a":1e999}`, "\xff", `{"a"`, `{"a":1}{}`, `{"\\u0061":1,"a":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		err := checkJSON(body)
		if err != nil {
			p := problemOf(err)
			if p.Status != 400 || len(p.Errors) != 1 || p.Errors[0].Line < 1 || p.Errors[0].Column < 1 {
				t.Fatalf("refused with %+v", p)
			}
			return
		}
		if !utf8.Valid(body) || !json.Valid(body) {
			t.Fatal("let pass what is no JSON")
		}
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			t.Fatalf("let pass what cannot be read: %v", err)
		}
		if n := keys(v); n != countKeys(t, body) {
			t.Fatal("let pass an object that loses keys")
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(again, []byte(`\u0000`)) && !bytes.Contains(again, []byte(`\\u0000`)) {
			t.Fatal("let pass a NUL")
		}
		if err := checkJSON(again); err != nil {
			t.Fatalf("let pass a body and refuses it when it is written again: %v", err)
		}
	})
}

// keys counts the keys of a decoded value.
func keys(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		n += len(v)
		for _, x := range v {
			n += keys(x)
		}
	case []any:
		for _, x := range v {
			n += keys(x)
		}
	}
	return n
}

// countKeys counts the keys as they were sent.
func countKeys(t *testing.T, body []byte) int {
	d := json.NewDecoder(bytes.NewReader(body))
	n := 0
	var stack []bool // true: in an object, where every other token is a key
	var at []int
	for {
		tok, err := d.Token()
		if err != nil {
			return n
		}
		if delim, ok := tok.(json.Delim); ok && (delim == ']' || delim == '}') {
			stack, at = stack[:len(stack)-1], at[:len(at)-1]
			continue
		}
		if len(stack) > 0 {
			if stack[len(stack)-1] && at[len(at)-1]%2 == 0 {
				n++
			}
			at[len(at)-1]++
		}
		if delim, ok := tok.(json.Delim); ok {
			stack, at = append(stack, delim == '{'), append(at, 0)
		}
		if len(stack) > 10000 {
			t.Fatal("too deep for the test")
		}
	}
}

// FuzzRequest sends anything to a route: never a 500, always JSON, never an unknown shape written.
func FuzzRequest(f *testing.F) {
	for _, path := range []string{"/api/v1/tasks", "/api/v1/tasks/FL-1/move", "/api/v1/requests/req_1/answer", "/api/v1/workflows"} {
		for _, body := range []string{`{"title":"x"}`, `{"step":1e30}`, `{"values":[1,2]}`, `{"source":"x","remap":{"a":null}}`} {
			f.Add("POST", path, body)
		}
	}
	server := New(newFake().deps(nil), nil)
	f.Fuzz(func(t *testing.T, method, path, body string) {
		if strings.HasPrefix(path, "/api/v1/events") || strings.ContainsAny(method, "\x00 \r\n\t") || method == "" {
			t.Skip()
		}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		u, err := r.URL.Parse(path)
		if err != nil || u.Host != "" {
			t.Skip()
		}
		r.Method, r.URL, r.Host = method, u, "localhost"
		r.Header.Set("Authorization", "Bearer "+ownerToken)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if w.Code >= 400 {
			var p Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
	})
}

func TestFoldingIsThatOfTheDecoder(t *testing.T) {
	t.Parallel()
	for a := rune(0); a < 0x2000; a++ {
		for _, b := range []rune{a, foldRune(a)} {
			if !strings.EqualFold(string(a), string(b)) && utf8.ValidRune(a) {
				t.Fatalf("%q folds to %q", a, b)
			}
		}
	}
	for _, pair := range []string{"kK", "sſ", "kK", "ΣΣ", "σς", "ǅǆ", "åÅ"} {
		r := []rune(pair)
		if foldRune(r[0]) != foldRune(r[1]) {
			t.Errorf("%q and %q are told apart", r[0], r[1])
		}
	}
}
