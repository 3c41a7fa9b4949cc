package read

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// numbers is a list of n rows whose cursor is the next index.
func numbers(n int) func(p store.Page) ([]int, string, error) {
	return func(p store.Page) (rows []int, next string, err error) {
		from := 0
		if p.Cursor != "" {
			if from, err = strconv.Atoi(p.Cursor); err != nil {
				return nil, "", err
			}
		}
		for i := from; i < min(from+p.Limit, n); i++ {
			rows = append(rows, i)
		}
		if from+p.Limit < n {
			next = strconv.Itoa(from + p.Limit)
		}
		return rows, next, nil
	}
}

// walk reads every page of a list and checks that none is longer than asked.
func walk(t *testing.T, l listing[int, int]) (items []int, pages int) {
	t.Helper()
	for {
		p, err := l.page()
		if err != nil {
			t.Fatal(err)
		}
		pages++
		if len(p.Items) > limit(l.limit) {
			t.Errorf("got a page of %d items, want at most %d", len(p.Items), limit(l.limit))
		}
		items = append(items, p.Items...)
		if l.cursor = p.NextCursor; l.cursor == "" {
			return items, pages
		}
	}
}

func TestPagesCoverAListOnceWhateverTheFilter(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 19, 20, 21, 50, 500, 1234} {
		for _, most := range []int{0, 1, 7, 50, 200, 999} {
			for name, keep := range map[string]func(int) bool{
				"all": func(int) bool { return true }, "none": func(int) bool { return false }, "some": func(i int) bool { return i%37 == 5 },
			} {
				var want []int
				for i := range n {
					if keep(i) {
						want = append(want, i)
					}
				}
				got, _ := walk(t, listing[int, int]{
					limit: most, fetch: numbers(n), show: func(i *int) (int, bool, error) { return *i, keep(*i), nil },
				})
				if !slices.Equal(got, want) {
					t.Errorf("%d rows by %d, %s: got %v, want %v", n, most, name, got, want)
				}
			}
		}
	}
}

func TestAPageStopsGrowingByItsBytes(t *testing.T) {
	t.Parallel()
	l := listing[int, int]{
		limit: 200, fetch: numbers(100), show: func(i *int) (int, bool, error) { return *i, true, nil },
		size: func(*int) int { return pageBytes / 30 },
	}
	got, pages := walk(t, l)
	if len(got) != 100 || pages < 3 || pages > 4 {
		t.Errorf("got %d items on %d pages, want 100, some thirty a page", len(got), pages)
	}
}

func TestAPageHandsErrorsOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	l := listing[int, int]{fetch: numbers(3), show: func(*int) (int, bool, error) { return 0, false, broken }}
	if _, err := l.page(); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of show", err)
	}
	l.fetch = func(store.Page) ([]int, string, error) { return nil, "", broken }
	if _, err := l.page(); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of fetch", err)
	}
}

func TestHeadCutsBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "short", strings.Repeat("ö", 50), strings.Repeat("🦊", 30)} {
		for most := 1; most < 60; most++ {
			got := head(s, most)
			if !utf8.ValidString(got) || len(got) > most+len("…") || len(s) <= most && got != s {
				t.Errorf("head(%q, %d) = %q", s, most, got)
			}
		}
	}
}

func TestStateRulesOut(t *testing.T) {
	t.Parallel()
	asked := situation{row: &store.TaskRow{}, requests: []fairlead.Request{{}}}
	bySomeAgent := situation{row: &store.TaskRow{}, requests: []fairlead.Request{{WhoMay: []string{"agent:lead"}}}}
	done := situation{row: &store.TaskRow{Task: fairlead.Task{Terminal: fairlead.TerminalDone}}}
	for _, x := range []struct {
		name string
		s    situation
		want fairlead.State
		out  bool
	}{
		{"asked, wanted asked", asked, fairlead.StateNeedsYou, false},
		{"asked, wanted todo", asked, fairlead.StateTodo, true},
		{"an agent is asked, wanted asked", bySomeAgent, fairlead.StateNeedsYou, true},
		{"an agent is asked, wanted waiting", bySomeAgent, fairlead.StateWaiting, false},
		{"done, wanted done", done, fairlead.StateDone, false},
		{"done, wanted cancelled", done, fairlead.StateCancelled, true},
		{"nothing yet, wanted running", situation{row: &store.TaskRow{}}, fairlead.StateRunning, false},
		{"no run, wanted running", situation{row: &store.TaskRow{}, runs: []fairlead.Run{}}, fairlead.StateRunning, true},
	} {
		if got := x.s.decided(x.want); got != x.out {
			t.Errorf("%s: got %v, want %v", x.name, got, x.out)
		}
	}
}

func TestNumberedPagesEndAtTheirNumberOrBytes(t *testing.T) {
	t.Parallel()
	rows := []int64{11, 12, 13, 14}
	for _, x := range []struct {
		n, size int
		next    string
		items   int
	}{
		{4, 1, "", 4}, {9, 1, "", 4}, {3, 1, "13", 3}, {4, pageBytes, "11", 1}, {4, pageBytes / 2, "12", 2}, {4, pageBytes / 4, "", 4},
	} {
		p := numbered(rows, x.n, func(r int64) (int64, int64, int) { return r, r, x.size })
		if len(p.Items) != x.items || p.NextCursor != x.next {
			t.Errorf("%d items of %d bytes: got %v with cursor %q, want %d with %q", x.n, x.size, p.Items, p.NextCursor, x.items, x.next)
		}
	}
	if p := numbered([]int64{}, 3, func(r int64) (int64, int64, int) { return r, r, 0 }); p.Items == nil || p.NextCursor != "" {
		t.Errorf("got %+v, want an empty page", p)
	}
}
