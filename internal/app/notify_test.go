package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

func TestWebhooksAreSignedAndNameTheirDelivery(t *testing.T) {
	t.Parallel()
	type seen struct {
		body, delivery, signature string
	}
	got := make(chan seen, 2)
	status := http.StatusNoContent
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- seen{string(b), r.Header.Get("Fairlead-Delivery"), r.Header.Get("Fairlead-Signature")}
		w.WriteHeader(status)
	}))
	defer receiver.Close()
	row := fairlead.Outbox{Op: "d_1", Payload: []byte(`{"url":"` + receiver.URL + `/hook?key=secret","text":"done"}`)}
	if err := send(t.Context(), receiver.Client(), "key", row); err != nil {
		t.Fatal(err)
	}
	s := <-got
	mac := hmac.New(sha256.New, []byte("key"))
	mac.Write([]byte(s.body))
	if s.body != string(row.Payload) || s.delivery != "d_1" || s.signature != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
		t.Errorf("got %+v", s)
	}
	status = http.StatusFound
	if err := send(t.Context(), receiver.Client(), "key", row); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want a failure that names no address", err)
	}
	receiver.Close()
	if err := send(t.Context(), receiver.Client(), "key", row); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want a failure that names no address", err)
	}
	if backoff(1) != 30*time.Second || backoff(9) < time.Hour {
		t.Error("the waits do not grow over hours")
	}
}

// S1: the token stands only in its file, readable by the user alone, and stays the same.
func TestS1_HomeKeepsItsSecrets(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home")
	h, err := openHome(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := openHome(dir)
	if err != nil || *again != *h {
		t.Errorf("got another home the second time: %v", err)
	}
	if len(h.token) != 64 || h.token == h.hooks {
		t.Errorf("got a token of %d characters", len(h.token))
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v, want a home of mode 0700", info.Mode(), err)
	}
	for _, name := range []string{tokenFile, markFile, hooksFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v, want mode 0600", name, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("got %d files, %v, want the three alone", len(entries), err)
	}
}
