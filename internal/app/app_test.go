package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
	"github.com/fairlead/fairlead/internal/config"
)

// serve runs a whole server in a home of its own until the test ends.
func serve(t *testing.T) *client.Client {
	t.Helper()
	cfg, err := config.Load(config.Sources{Flags: map[string]string{"home": filepath.Join(t.TempDir(), "home"), "addr": "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	a, err := New(t.Context(), cfg, &Options{NoSweep: true, Ready: func(addr string) { ready <- addr }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	c, err := client.New("http://"+<-ready, a.Token(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNotifyLeavesAServerWithoutAnyPolling(t *testing.T) {
	t.Parallel()
	got := make(chan map[string]string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body map[string]string
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		got <- body
	}))
	defer receiver.Close()
	c := serve(t)
	source := "workflow: bell\nstart: a\nsteps:\n  - {key: a, on: {manual: {ring: [{notify: {url: \"" + receiver.URL + "\", text: \"${task.title} rings\"}}]}}}\n"
	if _, err := c.SaveWorkflow(t.Context(), fairlead.WorkflowBody{Source: source}); err != nil {
		t.Fatal(err)
	}
	task, err := c.CreateTask(t.Context(), fairlead.NewTask{Title: "The bell", Workflow: "bell"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Trigger(t.Context(), task.ID, fairlead.TriggerBody{Kind: fairlead.TriggerManual, Key: "ring"}, false); err != nil {
		t.Fatal(err)
	}
	if body := <-got; body["text"] != "The bell rings" || body["task"] != task.Identifier {
		t.Errorf("got %v", body)
	}
}
