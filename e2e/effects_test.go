package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

// nothingTwice counts what happened: every comment once; every tool call settled once, never begun again after that, and
// with no more traces outside than it was begun.
func (s *server) nothingTwice(t *testing.T, effects string, busy bool) {
	t.Helper()
	tasks := all(t, func(ctx context.Context, cursor string) (fairlead.Page[fairlead.TaskView], error) {
		return s.client.ListTasks(ctx, client.TaskQuery{Workflow: "crash", Page: client.Page{Cursor: cursor, Limit: 200}})
	})
	settled := 0
	calls := map[string]*effect{}
	for _, task := range tasks {
		texts := map[string]int{}
		for _, c := range must(s.client.Comments(t.Context(), task.ID))(t) {
			if texts[c.Text]++; texts[c.Text] > 1 && c.Author.Kind == fairlead.ActorPerson {
				t.Errorf("%s: the comment %q is there twice", task.Identifier, c.Text)
			}
		}
		settled += s.effects(t, task.ID, calls)
		s.replaysUnlessLive(t, task)
	}
	traces := readEffects(t, effects)
	again := 0
	for key, n := range traces {
		c := calls[key]
		switch {
		case c == nil:
			t.Errorf("%s happened and is not on record", key)
		case n > c.begun:
			t.Errorf("%s happened %d times and was begun %d times", key, n, c.begun)
		case n > 1:
			again++ // it was cut off before its outcome was on record
		}
	}
	for key, c := range calls {
		if c.settled == 1 && c.ok && traces[key] == 0 {
			t.Errorf("%s is settled and left no trace", key)
		}
	}
	t.Logf("%d tasks, %d settled calls, %d traces outside, %d of them of calls that were cut off and begun again", len(tasks), settled, len(traces), again)
	if len(tasks) == 0 || busy && (settled == 0 || len(traces) == 0) {
		t.Error("too little happened")
	}
}

// effect is what a journal says of one call that leaves a trace.
type effect struct {
	begun, settled int
	ok             bool
}

// effects reads the calls of a task's journal into all, by run and label, and returns how many are settled.
func (s *server) effects(t *testing.T, task string, all map[string]*effect) (settled int) {
	t.Helper()
	byCall := map[string]*effect{}
	for _, r := range s.journal(task) {
		var d struct {
			Call, Outcome string
			Input         struct{ Command string }
		}
		if r.Kind != fairlead.RecordEffectIntent && r.Kind != fairlead.RecordEffectOutcome {
			continue
		}
		if err := json.Unmarshal(r.Data, &d); err != nil {
			t.Fatal(err)
		}
		c := byCall[d.Call]
		if c == nil {
			c = &effect{}
			byCall[d.Call] = c
		}
		if c.settled > 0 {
			t.Errorf("the call %s of %s is on record as settled, and then once more as %s", d.Call, task, r.Kind)
		}
		if r.Kind == fairlead.RecordEffectOutcome {
			// A call that a stop cancelled may have no trace, and is begun again if its turn goes on.
			if d.Outcome != "cancelled" {
				c.settled, c.ok = 1, d.Outcome == "ok"
				settled++
			}
			continue
		}
		c.begun++
		if m := trace.FindStringSubmatch(d.Input.Command); m != nil {
			key := r.Run + " " + m[1]
			if all[key] != nil && all[key] != c {
				t.Errorf("%s: the run did the whole turn twice:\n%s", key, s.story(task, r.Run))
			}
			all[key] = c
		}
	}
	return settled
}

// story is what a task's journal says of a run, in short.
func (s *server) story(task, run string) string {
	var b strings.Builder
	for _, r := range s.journal(task) {
		if r.Run == run {
			fmt.Fprintf(&b, "%d %s %s\n", r.Seq, r.Kind, string(r.Data[:min(len(r.Data), 160)]))
		}
	}
	for _, e := range must(s.client.RunEvents(s.t.Context(), run, 0))(s.t).Items {
		fmt.Fprintf(&b, "  %s %s %v\n", e.At.Format("05.000"), e.Kind, e.Data)
	}
	return b.String()
}

// trace finds the label of a command that leaves one.
var trace = regexp.MustCompile(`FAIRLEAD_EXECUTION (\w+)`)

// readEffects counts the traces by run and label; the name of an execution is its run's with the number of the claim.
func readEffects(t *testing.T, path string) map[string]int {
	t.Helper()
	n := map[string]int{}
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // nothing happened yet
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		execution, label, ok := strings.Cut(strings.TrimSpace(line), " ")
		run, _, _ := strings.Cut(strings.TrimPrefix(execution, "exe_"), "_")
		if !ok {
			continue // cut off in the middle of the line
		}
		n["run_"+run+" "+label]++
	}
	return n
}
