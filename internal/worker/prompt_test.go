package worker

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

func rec(kind string, by fairlead.Actor, data string) fairlead.Record {
	return fairlead.Record{Kind: kind, Actor: by, Data: json.RawMessage(data), At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func coderInput() promptInput {
	return promptInput{
		Task:       fairlead.Task{Identifier: "FL-7", Title: "Mend the pump", Description: "It leaks.", Requirements: []string{"no leak", "no noise"}},
		Step:       &workflow.Step{Key: "work", Name: "Work", Prefix: "Be quick.", Suffix: "Be kind.", Complete: workflow.CompleteSignal},
		Assignment: fairlead.Assignment{Agent: "coder", Capacity: fairlead.CapacityPrimary, Step: "work"},
		Profile:    fairlead.AgentProfile{Instructions: "You mend pumps.", Memory: "The pump is old."},
		Wakes: []fairlead.Wake{
			{Reason: "assigned", Payload: map[string]any{"from": "backlog"}}, {Reason: "comment", Payload: map[string]any{"text": "hurry"}},
		},
		Records: []fairlead.Record{
			rec(fairlead.RecordComment, fairlead.Person("owner"), `{"text":"hurry\nplease"}`),
			rec(fairlead.RecordComment, fairlead.Actor{Kind: fairlead.ActorAgent, Key: "coder"}, `{"text":"mine"}`),
			rec(fairlead.RecordDecision, fairlead.Person("owner"), `{"holder":"person:owner","verdict":"rejected","note":"still leaks"}`),
			rec(fairlead.RecordRequestResolved, fairlead.Person("owner"), `{"request":"req_1","state":"declined","answer":{"text":"ask Bob"}}`),
			rec(fairlead.RecordChildEnded, fairlead.Engine(), `{"task":"tsk_9","outcome":"done"}`),
			rec(fairlead.RecordSeatAdded, fairlead.Engine(), `{"seat":"s"}`),
		},
	}
}

func has(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in:\n%s", want, text)
		}
	}
}

func hasNot(t *testing.T, text string, unwanted ...string) {
	t.Helper()
	for _, u := range unwanted {
		if strings.Contains(text, u) {
			t.Errorf("%q should not stand in:\n%s", u, text)
		}
	}
}

func TestFirstPromptHoldsTheWholeContext(t *testing.T) {
	t.Parallel()
	p := buildPrompt(coderInput())
	has(t, p, "You mend pumps.", "FL-7: Mend the pump", "It leaks.", "R2. no noise", "The pump is old.", "the task was assigned to you", `"from":"backlog"`,
		"person:owner wrote: hurry\n  please", "person:owner: rejected still leaks", "request req_1 was declined: ask Bob", "tsk_9 ended: done",
		toolComplete, "Be quick.", "Be kind.")
	hasNot(t, p, "mine", "seat")
}

// A later prompt of the same session has only what is new.
func TestP27_LaterPromptHoldsOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	in := coderInput()
	in.Session = fairlead.Session{Turns: 1, Delivered: 9}
	in.Records = in.Records[2:3]
	p := buildPrompt(in)
	has(t, p, "You go on with FL-7", "still leaks")
	hasNot(t, p, "It leaks.", "You mend pumps.", "hurry", "Interrupted")
	in.Interrupted = true
	has(t, buildPrompt(in), "verify before you repeat")
}

func TestPromptSaysHowATurnEndsWell(t *testing.T) {
	t.Parallel()
	in := coderInput()
	in.Assignment.Capacity = fairlead.Capacity(fairlead.RoleReviewer)
	has(t, buildPrompt(in), toolDecide)
	in.Assignment.Capacity = fairlead.CapacityGuest
	in.Failed = []fairlead.Record{rec(fairlead.RecordMessage, fairlead.Engine(), `{"text":"I give up"}`)}
	p := buildPrompt(in)
	has(t, p, "moves nothing", "I give up")
	in.Assignment.Capacity, in.Step.Complete = fairlead.CapacityPrimary, workflow.CompleteTurn
	hasNot(t, buildPrompt(in), toolComplete)
}

// An agent whose conversation is not on this node gets the whole context again, and hears what became of the worktree.
func TestPromptAfterTheNodeDied(t *testing.T) {
	t.Parallel()
	in := coderInput()
	in.Session = fairlead.Session{Turns: 1, Delivered: 9}
	in.Strange = true
	in.Records = []fairlead.Record{
		rec(fairlead.RecordTreeReleased, fairlead.Person("owner"), `{"commit":"abc","at":"2026-01-02T03:00:00Z","lost":2}`),
	}
	has(t, buildPrompt(in), "You mend pumps.", "It leaks.", "You have worked on this before", toolGet,
		"the worktree is as it was at 2026-01-02 03:00, and what was done in it since is lost (2 calls of tools)")
	in.Records = []fairlead.Record{
		rec(fairlead.RecordTreeReleased, fairlead.Engine(), `{"commit":"abc","at":"2026-01-02T03:00:00Z","lost":0}`),
		rec(fairlead.RecordTreeReleased, fairlead.Person("owner"), `{"lost":3}`),
	}
	has(t, buildPrompt(in), "nothing was done in it since", "the node that had the working directory is dead; what was done in it is lost (3 calls of tools)")
	in.Session.Delivered = 0
	hasNot(t, buildPrompt(in), "You have worked on this before")
}
