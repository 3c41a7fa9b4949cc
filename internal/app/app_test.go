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

// A22: archiving a task takes its tree away and loses nothing: what was not committed is on a rescue ref.
func TestA22_ArchivingRescuesADirtyTree(t *testing.T) {
	t.Parallel()
	c := serve(t)
	repo := filepath.Join(t.TempDir(), "repo")
	if err := demoRepository(t.Context(), repo); err != nil {
		t.Fatal(err)
	}
	agent := "agent: messy\nadapter: script\nscript:\n  - do: [{tool: {name: write_file, args: {path: work.txt, content: precious}}}]\n"
	flow := "workflow: mess\nstart: a\nsteps:\n  - {key: a, agent: messy, on: {enter: [{queue_run: {to: primary}}], turn_complete: [{move: {to: b}}]}}\n  - {key: b}\n"
	if _, err := c.ApplyAgent(t.Context(), fairlead.AgentBody{Source: agent}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SaveWorkflow(t.Context(), fairlead.WorkflowBody{Source: flow}); err != nil {
		t.Fatal(err)
	}
	task, err := c.CreateTask(t.Context(), fairlead.NewTask{Title: "Mess", Workflow: "mess", Repository: &fairlead.Repository{Path: repo}})
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range c.Events(t.Context(), "0-0", "task:"+task.ID) {
		if err != nil {
			t.Fatal(err)
		}
		_ = ev
		if now, err := c.GetTask(t.Context(), task.ID); err != nil || now.Step == "b" && now.State == fairlead.StateTodo {
			break
		}
	}
	if _, err := c.Archive(t.Context(), task.ID, fairlead.OpBody{}); err != nil {
		t.Fatal(err)
	}
	ref := ""
	for ref == "" { // git has no signal to wait for; each look is a process of its own
		if ref, err = git(t.Context(), repo, "for-each-ref", "--format=%(refname)", "refs/fairlead/rescue"); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := git(t.Context(), repo, "show", ref+":work.txt"); err != nil || text != "precious" {
		t.Errorf("got %q, %v on %s, want what was not committed", text, err, ref)
	}
}
