package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/dispatch"
	"github.com/fairlead/fairlead/internal/hub"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// idle is a dispatcher for a house in which nobody works.
type idle struct{ dispatch.Dispatcher }

func (idle) WakeTx(*store.Tx) {}

// realLog shows the store's event log to the hub.
type realLog struct{ db *store.DB }

func (l realLog) Bounds(ctx context.Context) (epoch string, tail, head int64, err error) {
	err = l.db.Read(ctx, func(r *store.ReadTx) (err error) {
		if tail, err = r.Tail(); err == nil {
			head, err = r.Head()
		}
		return err
	})
	return l.db.LogEpoch(), tail, head, err
}

func (l realLog) EventsAfter(ctx context.Context, position int64, limit int) ([]fairlead.Event, int64, error) {
	return l.db.EventsAfter(ctx, position, limit, store.EventFilter{})
}

// realHouse is the API over the real control and a real database.
func realHouse(t *testing.T, db *store.DB) (*client.Client, string) {
	t.Helper()
	c := control.New(control.Deps{DB: db, Dispatch: idle{}}, nil)
	if err := c.Setup(t.Context(), control.SetupOptions{OwnerToken: ownerToken, Home: "/home/test"}); err != nil {
		t.Fatal(err)
	}
	signals := db.Signals()
	h := hub.New(realLog{db}, signals.C(store.TopicEvents), &hub.Options{Keep: 16, Batch: 8})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = h.Run(ctx) }()
	s := New(DepsOf(c, h), &Options{Retry: time.Millisecond})
	srv := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		s.open.end()
		srv.Close()
		cancel()
		<-done
		signals.Close()
	})
	cl, err := client.New(srv.URL, ownerToken, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cl, srv.URL
}

func dump(t *testing.T, db *store.DB) []byte {
	t.Helper()
	d, err := db.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// On Postgres an event gets its position after the commit, by somebody else.
	return regexp.MustCompile(`"position":(null|\d+)`).ReplaceAll(d, nil)
}

// Whatever the door refuses leaves no row.
func TestRefusedAtTheDoorStoresNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		_, url := realHouse(t, db)
		before := dump(t, db)
		for _, body := range []string{
			`{"title":"a","title":"b"}`, `{"title":"a","owner":"x"}`, `{"title":1}`, `{}`, "{\"title\":\"\xff\"}", `{"title":"\u0000"}`,
			strings.Repeat(" ", 2<<20), `{"title":"a"`, `[]`,
		} {
			for _, token := range []string{ownerToken, "wrong"} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/v1/tasks", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer "+token)
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if resp.StatusCode < 400 || resp.StatusCode >= 500 {
					t.Errorf("%.20q: %d", body, resp.StatusCode)
				}
			}
		}
		if after := dump(t, db); !bytes.Equal(before, after) {
			t.Errorf("rows changed: %s", cmp.Diff(string(before), string(after)))
		}
	})
}

// The same command again, one after the other or at once, has one effect and one answer.
func TestOperationsOverTheRealControl(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c, _ := realHouse(t, db)
		in := fairlead.NewTask{Title: "once", Op: "the-op"}
		first, err := c.CreateTask(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				again, err := c.CreateTask(t.Context(), in)
				if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(first, again); diff != "" {
					t.Error(diff)
				}
			})
		}
		wg.Wait()
		in.Title = "twice"
		if _, err := c.CreateTask(t.Context(), in); !fairlead.IsCode(err, fairlead.CodeOpReused) {
			t.Errorf("another body under one op: %v", err)
		}
		p, err := c.ListTasks(t.Context(), client.TaskQuery{})
		if err != nil || len(p.Items) != 1 {
			t.Errorf("%d tasks, %v", len(p.Items), err)
		}
		if _, err := c.IfVersion(first.Version+7).Move(t.Context(), first.ID, fairlead.MoveBody{Step: "done"}); !fairlead.IsCode(err, fairlead.CodeStale) {
			t.Errorf("a stale version: %v", err)
		}
		for name, call := range map[string]func() error{
			"unknown task":  func() error { _, err := c.GetTask(t.Context(), "FL-999"); return err },
			"unknown run":   func() error { _, err := c.GetRun(t.Context(), "run_x"); return err },
			"unknown agent": func() error { _, err := c.GetAgent(t.Context(), "nobody"); return err },
		} {
			if err := call(); !fairlead.IsCode(err, fairlead.CodeNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := c.ListTasks(t.Context(), client.TaskQuery{Page: client.Page{Cursor: "nonsense"}}); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("bad cursor: %v", err)
		}
	})
}

// Streams over the real log: one is never cut, one is cut after every few events, one begins when all is over. All see
// the same (S10).
func TestS10_StreamsOverTheRealLog(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c, _ := realHouse(t, db)
		const tasks = 30
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		from := fmt.Sprintf("%s-%d", db.LogEpoch(), 0)
		follow := func(cutEvery int) ([]string, error) {
			var got []string
			created, after := 0, from
			for created < tasks {
				n := 0
				for e, err := range c.Events(ctx, after) {
					if err != nil {
						return got, err
					}
					if e.Reset {
						return got, errors.New("reset")
					}
					got, after = append(got, e.ID+" "+string(e.Kind)+" "+e.Task), e.ID
					if e.Kind == fairlead.EventTaskCreated {
						created++
					}
					if n++; created == tasks || n == cutEvery {
						break
					}
				}
				if ctx.Err() != nil {
					return got, ctx.Err()
				}
			}
			return got, nil
		}
		results := make([][]string, 2)
		var wg sync.WaitGroup
		for i, cutEvery := range []int{-1, 3} {
			wg.Go(func() {
				var err error
				if results[i], err = follow(cutEvery); err != nil {
					t.Error(err)
				}
			})
		}
		for i := range tasks {
			wg.Go(func() {
				if _, err := c.CreateTask(ctx, fairlead.NewTask{Title: fmt.Sprint("task ", i)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		late, err := follow(7)
		if err != nil {
			t.Error(err)
		}
		for i, got := range results {
			if diff := cmp.Diff(late, got); diff != "" {
				t.Errorf("stream %d: %s", i, diff)
			}
		}
		if len(late) < tasks {
			t.Errorf("%d events", len(late))
		}
	})
}
