package engine

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

var update = flag.Bool("update", false, "write the golden files anew")

// tape is a history in words: each trigger with its plan.
type tape struct {
	*bench
	out strings.Builder
	ids map[string]string
}

func record(t *testing.T, name string) *tape {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return &tape{bench: newBench(t, string(source)), ids: map[string]string{}}
}

func (r *tape) play(t Trigger) Plan {
	r.t.Helper()
	p := r.do(t)
	fmt.Fprintf(&r.out, "%s by %s\n", labelOf(t), t.Actor)
	for _, e := range p.Effects {
		data, err := json.Marshal(e)
		if err != nil {
			r.t.Fatal(err)
		}
		fmt.Fprintf(&r.out, "  %s %s\n", kinds([]Effect{e})[0], compact(data))
	}
	for _, e := range p.Why {
		fmt.Fprintf(&r.out, "  because %s[%d] %s %s %s %s\n", e.Trigger, e.Index, e.Action, e.Outcome, e.Reason, e.Detail)
	}
	fmt.Fprintf(&r.out, "  stands at %s, visit %d\n\n", p.Step, p.Visit)
	return p
}

// compact leaves out what is empty, so that a golden file shows what a plan says.
func compact(data []byte) string {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return string(data)
	}
	out, _ := json.Marshal(prune(v))
	return string(out)
}

func prune(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for k, x := range m {
		switch x := prune(x).(type) {
		case nil:
			delete(m, k)
		case string:
			if x == "" || x == "0001-01-01T00:00:00Z" {
				delete(m, k)
			}
		case float64:
			if x == 0 {
				delete(m, k)
			}
		case bool:
			if !x {
				delete(m, k)
			}
		case map[string]any:
			if len(x) == 0 {
				delete(m, k)
			}
		}
	}
	return m
}

var idPattern = regexp.MustCompile(`\b(asg|req|sea|tsk)_[0-9a-z]{26}\b`)

// golden compares the history with its file; ids are numbered in the order in which they appear.
func (r *tape) golden(name string) {
	r.t.Helper()
	got := idPattern.ReplaceAllStringFunc(r.out.String(), func(id string) string {
		if r.ids[id] == "" {
			r.ids[id] = fmt.Sprintf("%s#%d", id[:3], len(r.ids)+1)
		}
		return r.ids[id]
	})
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // a file of this package
	if err != nil {
		r.t.Fatal(err)
	}
	equal(r.t, name, got, string(want))
}

func TestE34_APlainBoardHasGoldenPlans(t *testing.T) {
	t.Parallel()
	r := record(t, "board")
	r.play(Trigger{Kind: KindCreate, Actor: owner})
	r.play(starts(r.works("coder", fairlead.CapacityPrimary)))
	r.play(r.turnEnds(r.primary(), false))
	r.play(r.turnEnds(r.primary(), true))
	r.play(Trigger{Kind: fairlead.TriggerComment, Actor: owner, Payload: map[string]any{"comment_id": "com_1", "author": "person:owner"}})
	r.play(starts(r.works("coder", fairlead.CapacityPrimary)))
	r.play(r.turnEnds(r.primary(), true))
	r.play(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "done"}})
	r.golden("board")
	for _, e := range r.log {
		switch e.(type) {
		case OpenRound, AddSeat, OpenRequest, CloseRequest, DeferTrigger, AddNotice, HoldTask:
			t.Errorf("a plain board gives rise to %T", e)
		}
	}
}

func TestAReviewHasGoldenPlans(t *testing.T) {
	t.Parallel()
	r := record(t, "review")
	r.play(Trigger{Kind: KindCreate, Actor: owner})
	r.play(r.turnEnds(r.primary(), true))
	r.play(r.voted("agent:reviewer", fairlead.VerdictApproved))
	r.play(r.voted("person:anna", fairlead.VerdictRejected))
	r.play(r.turnEnds(r.primary(), true))
	r.play(r.voted("agent:tester", fairlead.VerdictComment))
	r.play(r.voted("agent:tester", fairlead.VerdictApproved))
	r.play(r.voted("agent:reviewer", fairlead.VerdictApproved))
	r.play(r.voted("person:anna", fairlead.VerdictApproved))
	r.play(Trigger{Kind: KindMove, Actor: client, Move: &Move{To: "work", Note: "from outside"}})
	r.play(r.resolved(fairlead.RequestApproval, fairlead.RequestAnswered, &fairlead.Answer{Verdict: "approve"}))
	r.golden("review")
}
