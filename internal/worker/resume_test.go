package worker

import (
	"encoding/json"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/control"
)

// A turn that was cut off goes on, however often; one whose end was heard does not come back.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	prompt := func(id string) agent.Entry { return agent.Entry{Kind: agent.EntryPrompt, Turn: 1, PromptID: id} }
	end := agent.Entry{Kind: agent.EntryEnd, Turn: 1, End: &agent.TurnEnd{Reason: agent.EndTurn}}
	started := func(fence string) fairlead.Record {
		return fairlead.Record{Kind: fairlead.RecordTurnStarted, Run: "run", Data: json.RawMessage(`{"fence":` + fence + `}`)}
	}
	ended := fairlead.Record{Kind: fairlead.RecordTurnEnded, Run: "run", Data: json.RawMessage(`{}`)}
	for _, tc := range []struct {
		name    string
		entries []agent.Entry
		own     []fairlead.Record
		want    string
		moved   bool
	}{
		{"nothing began", nil, nil, "fresh", false},
		{"open", []agent.Entry{prompt("run_1")}, []fairlead.Record{started("1")}, "run_1", false},
		{"open over two claims", []agent.Entry{prompt("run_1")}, []fairlead.Record{started("1"), started("2")}, "run_1", false},
		{"ended, not heard", []agent.Entry{prompt("run_2"), end}, []fairlead.Record{started("1"), started("2")}, "run_2", false},
		{"cut off twice, then ended, not heard", []agent.Entry{prompt("run_1"), end}, []fairlead.Record{started("1"), started("2")}, "run_1", false},
		{"ended under another run", []agent.Entry{prompt("old_1"), end}, []fairlead.Record{{Kind: fairlead.RecordTurnStarted, Run: "old", Data: json.RawMessage(`{"fence":1}`)}}, "fresh", false},
		{"open under another run", []agent.Entry{prompt("old_1")}, nil, "fresh", false},
		{"ended and heard", []agent.Entry{prompt("run_1"), end}, []fairlead.Record{started("1"), ended, started("2")}, "fresh", false},
		{"open, from before the work was let go", []agent.Entry{prompt("run_1")}, nil, "fresh", true},
		{"open since", []agent.Entry{prompt("run_2")}, []fairlead.Record{started("2")}, "run_2", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := goesOn(tc.entries, "run", "fresh", unheard(&control.Claimed{Run: fairlead.Run{ID: "run"}, Own: tc.own}), tc.moved); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// Calls whose outcome is on record are settled; a cancelled one may run again.
func TestSettled(t *testing.T) {
	t.Parallel()
	outcome := func(data string) fairlead.Record {
		return fairlead.Record{Kind: fairlead.RecordEffectOutcome, Data: json.RawMessage(data)}
	}
	got := settled([]fairlead.Record{
		outcome(`{"call":"a","outcome":"ok","output":"done","paths":["x"]}`), outcome(`{"call":"b","outcome":"cancelled"}`),
		{Kind: fairlead.RecordEffectIntent, Data: json.RawMessage(`{"call":"c"}`)}, outcome(`{"head":"…"}`),
	})
	if r := got["a"]; len(got) != 1 || r.Outcome != agent.OutcomeOK || r.Text != "done" || len(r.Paths) != 1 {
		t.Errorf("got %+v", got)
	}
}
