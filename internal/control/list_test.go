package control

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// handClock is a clock that a test sets, in microseconds after a beginning.
type handClock struct{ us atomic.Int64 }

func (c *handClock) now() time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(c.us.Load()) * time.Microsecond)
}

// seededHouse is a house whose ids are the same in every run.
func seededHouse(t *testing.T, db *store.DB) *house {
	h := &house{t: t, db: db, c: New(Deps{DB: db, Dispatch: idle{}}, &Options{Random: rand.NewChaCha8([32]byte{7})})}
	h.must(h.c.Setup(t.Context(), SetupOptions{OwnerToken: ownerSecret, Home: "/home/test"}))
	return h
}

// titles walks a list to its end and returns the titles.
func (h *house) titles(q TaskQuery) (out []string, pages int) {
	h.t.Helper()
	for {
		p, err := h.c.ListTasks(h.t.Context(), mainWorkspace, q)
		h.must(err)
		pages++
		for _, v := range p.Items {
			out = append(out, v.Title)
		}
		if p.NextCursor == "" {
			return out, pages
		}
		q.Cursor = p.NextCursor
	}
}

func TestListsAreTheSameOnBothDatabases(t *testing.T) {
	t.Parallel()
	names := []string{"Ähre", "apfel", "Zebra", "äpfel", "zoo_1", "Zoo%", "zoo", "emoji 🦊", "a b", "A"}
	lists := map[string]map[string][]string{}
	var found []string
	t.Run("walk", func(t *testing.T) {
		for _, open := range []func(testing.TB) storetest.Backend{storetest.SQLite, storetest.Postgres} {
			backend := open(t)
			var clock handClock
			h := seededHouse(t, backend.Open(t, &store.Options{Now: clock.now}))
			got := map[string][]string{}
			for i := range 45 {
				clock.us.Store(int64(i / 3)) // three tasks at each instant
				_, err := h.c.CreateTask(t.Context(), owner(), fairlead.NewTask{
					Title: fmt.Sprintf("%s %d", names[i%len(names)], i), Labels: []string{[]string{"odd", "even"}[i%2]}, Ephemeral: i == 7,
				})
				h.must(err)
			}
			for name, q := range map[string]TaskQuery{
				"all": {Limit: 7}, "column": {Workflow: "kanban", Step: "backlog", Limit: 7}, "label": {Label: "odd", Limit: 4}, "umlaut": {Q: "ÄPF"},
				"percent": {Q: "o%"}, "underscore": {Q: "O_1"}, "identifier": {Q: "fl-4"}, "ephemeral": {Ephemeral: true}, "state": {State: "todo", Limit: 7},
				"none": {State: "running"},
			} {
				got[name], _ = h.titles(q)
			}
			lists[backend.Name] = got
			found = append(found, backend.Name)
		}
	})
	one := lists[found[0]]
	if len(one["all"]) != 44 || len(one["ephemeral"]) != 45 || len(one["label"]) != 23 || len(one["umlaut"]) != 5 || len(one["none"]) != 0 {
		t.Errorf("got %d, %d, %d, %d, %d tasks", len(one["all"]), len(one["ephemeral"]), len(one["label"]), len(one["umlaut"]), len(one["none"]))
	}
	if diff := cmp.Diff(one["all"], one["state"]); diff != "" {
		t.Errorf("the list by state differs:\n%s", diff)
	}
	if len(one["column"]) != 44 {
		t.Errorf("got %d tasks in the column, want 44", len(one["column"]))
	}
	for _, name := range found[1:] {
		if diff := cmp.Diff(one, lists[name]); diff != "" {
			t.Errorf("the lists differ on %s:\n%s", name, diff)
		}
	}
}

func TestPagesNeitherRepeatNorMissWhileTasksAreAdded(t *testing.T) {
	t.Parallel()
	var clock handClock
	storetest.EachWith(t, &store.Options{Now: clock.now}, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		want := map[string]bool{}
		add := func(n int) {
			for i := range n {
				if i%3 == 0 { // several tasks at one instant
					clock.us.Add(1)
				}
				v, err := h.c.CreateTask(t.Context(), owner(), fairlead.NewTask{Title: "t"})
				h.must(err)
				want[v.ID] = true
			}
		}
		add(23)
		before := len(want)
		seen := map[string]bool{}
		last, cursor := "", ""
		for {
			p, err := h.c.ListTasks(t.Context(), mainWorkspace, TaskQuery{Limit: 4, Cursor: cursor})
			h.must(err)
			for _, v := range p.Items {
				if at := fmt.Sprint(v.CreatedAt.UnixMicro(), " ", v.ID); last != "" && at >= last {
					t.Errorf("%s comes after %s", at, last)
				} else {
					last = at
				}
				if seen[v.ID] {
					t.Errorf("%s comes twice", v.Identifier)
				}
				seen[v.ID] = true
			}
			if cursor = p.NextCursor; cursor == "" {
				break
			}
			add(1)
		}
		if len(seen) != before {
			t.Errorf("got %d tasks, want the %d there were at the first page", len(seen), before)
		}
		for _, q := range []TaskQuery{{Cursor: "!"}, {Cursor: "bm9uc2Vuc2U"}, {State: "happy"}} {
			_, err := h.c.ListTasks(t.Context(), mainWorkspace, q)
			refused(t, err, fairlead.CodeInvalid)
		}
		_, err := h.c.ListTasks(t.Context(), "nowhere", TaskQuery{})
		refused(t, err, fairlead.CodeNotFound)
		_, err = h.c.GetTask(t.Context(), mainWorkspace, "FL-9999")
		refused(t, err, fairlead.CodeNotFound)
	})
}

func TestAListPageStaysSmall(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t).Open(t, nil))
	long := strings.Repeat("lang ö ", 4000)
	for range 60 {
		_, err := h.c.CreateTask(t.Context(), owner(), fairlead.NewTask{Title: "t", Description: long, Metadata: map[string]any{"note": long[:6000]}})
		h.must(err)
	}
	all, pages := h.titles(TaskQuery{Limit: 200})
	if len(all) != 60 || pages < 2 {
		t.Errorf("got %d tasks on %d pages, want 60 on several", len(all), pages)
	}
	p, err := h.c.ListTasks(t.Context(), mainWorkspace, TaskQuery{Limit: 200})
	h.must(err)
	if n := len(marshal(p)); n > 256<<10 {
		t.Errorf("a page has %d bytes, want at most 256 KiB", n)
	}
	if v := h.see(p.Items[0].ID); v.Description != long {
		t.Error("the task itself does not show all of its description")
	}
}
