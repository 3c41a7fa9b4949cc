package fairlead_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
)

func TestStampsAreMicrosecondsInUTC(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 0, 0, 120_000_000, time.FixedZone("x", 3600))
	for _, c := range []struct {
		v    any
		want string
	}{
		{fairlead.StampOf(at), `"2026-03-01T09:00:00.120000Z"`},
		{fairlead.Stamp{}, `""`},
		{fairlead.StampPtr(time.Time{}), `null`},
		{fairlead.StampPtr(at), `"2026-03-01T09:00:00.120000Z"`},
	} {
		got, err := json.Marshal(c.v)
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
	var s fairlead.Stamp
	for text, want := range map[string]time.Time{`"2026-03-01T10:00:00.12+01:00"`: at.UTC(), `""`: {}, `null`: {}} {
		if err := json.Unmarshal([]byte(text), &s); err != nil || !s.Equal(want) {
			t.Errorf("%s: got %v, %v, want %v", text, s, err, want)
		}
	}
	for _, text := range []string{`"yesterday"`, `12`, `{}`} {
		if err := json.Unmarshal([]byte(text), &s); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%s: got %v, want invalid", text, err)
		}
	}
}

func TestIDsAreReproducibleAndInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := fairlead.Seed([]byte(rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 16, 16, 16).Draw(t, "seed")))
		a := time.UnixMilli(rapid.Int64Range(0, 1<<44).Draw(t, "a"))
		b := a.Add(time.Duration(rapid.Int64Range(1, 1e6).Draw(t, "later")) * time.Millisecond)
		n, m := rapid.IntRange(0, 1<<30).Draw(t, "n"), rapid.IntRange(0, 1<<30).Draw(t, "m")
		first, later := fairlead.NewID("tsk", a, seed, n), fairlead.NewID("tsk", b, seed, m)
		switch {
		case first != fairlead.NewID("tsk", a, seed, n):
			t.Fatal("the same seed gives another id")
		case first >= later:
			t.Fatalf("%s is not before %s", first, later)
		case n != m && first == fairlead.NewID("tsk", a, seed, m):
			t.Fatal("two ordinals give one id")
		case len(first) != len("tsk_")+26:
			t.Fatalf("got %q", first)
		}
	})
	if fairlead.DerivedOp("a", "bc") == fairlead.DerivedOp("ab", "c") {
		t.Error("parts of a derived operation run together")
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{"a": true, "a-b_1": true, "": false, "A": false, "1a": false, "a/b": false, "a..": false, "a b": false} {
		if got := fairlead.ValidKey(key); got != want {
			t.Errorf("%q: got %t, want %t", key, got, want)
		}
	}
	if err := fairlead.CheckKey("agent key", "A"); !fairlead.IsCode(err, fairlead.CodeInvalid) {
		t.Errorf("got %v, want invalid", err)
	}
	if err := fairlead.CheckKey("agent key", "a"); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	cause := errors.New("no route")
	e := &fairlead.Error{Code: fairlead.CodeUnavailable, Message: "the server is away", Err: cause}
	wrapped := fmt.Errorf("list tasks: %w", e.WithOp("list").WithOp("other").WithHint("try %s", "again"))
	if fairlead.ErrorCode(wrapped) != fairlead.CodeUnavailable || !errors.Is(wrapped, cause) || e.Op != "list" || e.Hint != "try again" {
		t.Errorf("got %+v", e)
	}
	if got, want := wrapped.Error(), "list tasks: list: the server is away: no route"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (&fairlead.Error{Code: fairlead.CodeStale}).Error(); got != "stale" {
		t.Errorf("got %q", got)
	}
	if fairlead.ErrorCode(nil) != "" || fairlead.ErrorCode(cause) != fairlead.CodeInternal || fairlead.IsCode(nil, "") {
		t.Error("codes of other errors are wrong")
	}
	if c := fairlead.Conflict(fairlead.ReasonBusy, "task %d", 1); c.Code != fairlead.CodeConflict || c.Reason != "busy" || c.Message != "task 1" {
		t.Errorf("got %+v", c)
	}
	if got := (&fairlead.Failure{Class: fairlead.ClassEmpty, Message: "nothing"}).Error(); got != "empty: nothing" {
		t.Errorf("got %q", got)
	}
}

func TestActorsAndOperations(t *testing.T) {
	t.Parallel()
	agent := fairlead.Actor{Kind: fairlead.ActorAgent, Key: "coder", Assignment: "asg_1", Run: "run_1"}
	other := agent
	other.Run = "run_2"
	if agent.OpScope() != other.OpScope() {
		t.Error("a retry by another run of the assignment would not find its operation")
	}
	if fairlead.Person("a").OpScope() == (fairlead.Actor{Kind: fairlead.ActorClient, Key: "a"}).OpScope() {
		t.Error("a person and a client share operations")
	}
	if !agent.Automatic() || !fairlead.Engine().Automatic() || fairlead.Person("a").Automatic() || agent.String() != "agent:coder" {
		t.Error("actors are told apart wrongly")
	}
}

func TestTaskFacts(t *testing.T) {
	t.Parallel()
	at := time.Now()
	for _, c := range []struct {
		task  fairlead.Task
		ended bool
		as    fairlead.Terminal
	}{
		{fairlead.Task{}, false, ""},
		{fairlead.Task{Terminal: "done"}, true, "done"},
		{fairlead.Task{ArchivedAt: at}, true, "cancelled"},
		{fairlead.Task{Terminal: "done", ArchivedAt: at}, true, "done"},
	} {
		if c.task.Ended() != c.ended || c.task.Outcome() != c.as {
			t.Errorf("%+v: got %t, %q", c.task, c.task.Ended(), c.task.Outcome())
		}
	}
	labelled, plain := fairlead.Task{Labels: []string{"x", "project:pump"}}, fairlead.Task{Labels: []string{"projects"}}
	if labelled.Project() != "pump" || plain.Project() != "" {
		t.Error("the project is read wrongly")
	}
	ranks := map[fairlead.Priority]int{"urgent": 3, "high": 2, "medium": 1, "": 1, "low": 0, "soon": -1}
	for p, want := range ranks {
		if p.Rank() != want {
			t.Errorf("%q: got %d, want %d", p, p.Rank(), want)
		}
	}
}

func TestSeatsAndVerdicts(t *testing.T) {
	t.Parallel()
	votes := map[fairlead.Role]bool{"reviewer": true, "approver": true, "watcher": false, "collaborator": false}
	for role, want := range votes {
		if !role.Valid() || role.Votes() != want {
			t.Errorf("%s: valid %t, votes %t", role, role.Valid(), role.Votes())
		}
	}
	if fairlead.Role("judge").Valid() {
		t.Error("an unknown role is valid")
	}
	for text, want := range map[string]fairlead.Verdict{"approve": "approved", "rejected": "rejected", "changes_requested": "rejected", "comment": "comment"} {
		if got, err := fairlead.ParseVerdict(text); got != want || err != nil {
			t.Errorf("%s: got %s, %v", text, got, err)
		}
	}
	if _, err := fairlead.ParseVerdict("maybe"); !fairlead.IsCode(err, fairlead.CodeInvalid) {
		t.Errorf("got %v, want invalid", err)
	}
	a, p := fairlead.Seat{Agent: "x"}, fairlead.Seat{Person: "y"}
	if a.Holder() != "agent:x" || p.Holder() != "person:y" {
		t.Error("holders are named wrongly")
	}
}

// Q10: the asker cannot decide, nor any agent that is not named.
func TestQ10_WhoMayResolve(t *testing.T) {
	t.Parallel()
	asker := fairlead.Actor{Kind: fairlead.ActorAgent, Key: "coder", Assignment: "asg_1"}
	other := fairlead.Actor{Kind: fairlead.ActorAgent, Key: "coder", Assignment: "asg_2"}
	open := fairlead.Request{Assignment: "asg_1"}
	named := fairlead.Request{Assignment: "asg_1", WhoMay: []string{"agent:coder", "person:eve"}, AskedOf: []string{"person:owner"}}
	asked := fairlead.Request{AskedOf: []string{"person:owner"}}
	for _, c := range []struct {
		r    fairlead.Request
		by   fairlead.Actor
		want bool
	}{
		{open, asker, false}, {open, other, false}, {open, fairlead.Person("anybody"), true}, {open, fairlead.Engine(), false},
		{open, fairlead.Actor{Kind: fairlead.ActorClient, Key: "ci"}, false},
		{named, asker, false}, {named, other, true}, {named, fairlead.Person("eve"), true}, {named, fairlead.Person("owner"), false},
		{asked, fairlead.Person("owner"), true}, {asked, fairlead.Person("eve"), false},
	} {
		if got := c.r.MayResolve(c.by); got != c.want {
			t.Errorf("%+v by %s: got %t, want %t", c.r, c.by, got, c.want)
		}
	}
}

func TestRunsAndStates(t *testing.T) {
	t.Parallel()
	for status, want := range map[fairlead.RunStatus][2]bool{
		"queued": {false, false}, "claimed": {true, false}, "running": {true, false}, "stopping": {true, false},
		"succeeded": {false, true}, "parked": {false, true}, "dead": {false, true}, "superseded": {false, true}, "cancelled": {false, true},
	} {
		if status.Live() != want[0] || status.Final() != want[1] {
			t.Errorf("%s: live %t, final %t", status, status.Live(), status.Final())
		}
	}
	one, three := fairlead.AgentProfile{}, fairlead.AgentProfile{Parallel: 3}
	if one.Slots() != 1 || three.Slots() != 3 {
		t.Error("slots are counted wrongly")
	}
	answer, comment := fairlead.Wake{By: fairlead.Person("a")}, fairlead.Wake{By: fairlead.Engine()}
	if !answer.ByPerson() || comment.ByPerson() {
		t.Error("a person's wake is told wrongly")
	}
	for _, m := range fairlead.Machines() {
		arrows := fairlead.Transitions(m)
		if len(arrows) == 0 {
			t.Errorf("%s has no arrows", m)
		}
		for _, a := range arrows {
			if !fairlead.CanChange(m, a.From, a.To) {
				t.Errorf("%s cannot change from %q to %q", m, a.From, a.To)
			}
		}
	}
	if fairlead.Transitions("teapot") != nil || fairlead.CanChange("run", "dead", "running") {
		t.Error("arrows that nobody drew")
	}
	for _, k := range fairlead.Triggers() {
		if !k.Valid() {
			t.Errorf("%s is not valid", k)
		}
	}
	if fairlead.TriggerKind("moonrise").Valid() {
		t.Error("an unknown trigger is valid")
	}
}
