package program

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
)

func record(seq int64, visit int, kind string, data map[string]any) fairlead.Record {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return fairlead.Record{Seq: seq, Visit: visit, Kind: kind, Data: b}
}

func story() []fairlead.Record {
	return []fairlead.Record{
		record(1, 0, fairlead.RecordCreated, map[string]any{"workflow": "w", "priority": "high"}),
		record(2, 1, fairlead.RecordMoved, map[string]any{"workflow": "w", "version": 1, "to": "work"}),
		record(3, 1, fairlead.RecordCompleted, nil),
		record(4, 2, fairlead.RecordMoved, map[string]any{"workflow": "w", "version": 2, "from": "work", "to": "review"}),
		record(5, 2, fairlead.RecordSeatAdded, map[string]any{"seat": "s1", "role": "reviewer", "holder": "agent:a", "decision_required": true}),
		record(6, 2, fairlead.RecordSeatAdded, map[string]any{"seat": "s2", "role": "reviewer", "holder": "person:p", "decision_required": true}),
		record(7, 2, fairlead.RecordRequestOpened, map[string]any{"request": "r1"}),
		record(8, 2, fairlead.RecordDecision, map[string]any{"seat": "s1", "verdict": "approved"}),
		record(9, 2, fairlead.RecordDecision, map[string]any{"seat": "s2", "verdict": "comment"}),
		record(10, 2, fairlead.RecordDeferred, map[string]any{"trigger": "comment"}),
		record(11, 2, fairlead.RecordUpdated, map[string]any{"labels": []string{"x"}, "agent": "coder", "priority": "low"}),
		record(12, 2, "unknown", map[string]any{"step": "elsewhere"}),
		record(13, 2, fairlead.RecordBlockerAdded, map[string]any{"blocked_by": "t9"}),
		record(14, 2, fairlead.RecordHeld, map[string]any{"held": "loop"}),
		record(15, 2, fairlead.RecordChildCreated, map[string]any{"task": "t10"}),
	}
}

func TestFoldSaysWhereATaskStands(t *testing.T) {
	t.Parallel()
	got, err := FoldAll(story())
	if err != nil {
		t.Fatal(err)
	}
	want := TaskState{
		Seq: 15, Workflow: "w", Version: 2, Step: "review", Visit: 2, Round: 1, Held: "loop", SignalVisit: 1, Priority: "low", Agent: "coder",
		Labels: []string{"x"}, Seats: map[string]SeatState{
			"s1": {Role: "reviewer", Holder: "agent:a", Required: true}, "s2": {Role: "reviewer", Holder: "person:p", Required: true},
		},
		Requests: map[string]bool{"r1": true}, Deferred: map[int64]bool{10: true}, Blockers: map[string]bool{"t9": true},
		Children: map[string]bool{"t10": true}, Decided: map[string]fairlead.Verdict{"s1": "approved"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFoldTakesThingsBack(t *testing.T) {
	t.Parallel()
	records := append(story(),
		record(16, 2, fairlead.RecordSuperseded, map[string]any{"deferred": 10, "outcome": "no_move"}),
		record(17, 2, fairlead.RecordRequestResolved, map[string]any{"request": "r1", "state": "answered"}),
		record(18, 2, fairlead.RecordSeatRemoved, map[string]any{"seat": "s1"}),
		record(19, 2, fairlead.RecordBlockerRemoved, map[string]any{"blocked_by": "t9"}),
		record(20, 2, fairlead.RecordReleased, map[string]any{"held": ""}),
		record(21, 2, fairlead.RecordRoundOpened, map[string]any{"round": 2}),
		record(22, 2, fairlead.RecordRepinned, map[string]any{"version": 3, "terminal": "done"}),
		record(23, 2, fairlead.RecordArchived, nil),
	)
	got, err := FoldAll(records)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Deferred)+len(got.Requests)+len(got.Blockers)+len(got.Decided) != 0 || len(got.Seats) != 1 || got.Held != "" || got.Round != 2 ||
		got.Version != 3 || got.Terminal != fairlead.TerminalDone || !got.Archived {
		t.Errorf("got %+v", got)
	}
}

func TestFoldRefusesAGapAndBrokenData(t *testing.T) {
	t.Parallel()
	if _, err := Fold(TaskState{Seq: 3}, record(5, 1, fairlead.RecordHeld, nil)); err == nil {
		t.Error("a gap was folded over")
	}
	if _, err := FoldAll([]fairlead.Record{{Seq: 1, Kind: fairlead.RecordMoved, Data: json.RawMessage("{")}}); err == nil {
		t.Error("broken data was folded")
	}
}

// A fold may stop anywhere and go on: fold(all) = fold(snapshot + tail), and no earlier state is changed by it.
func TestFoldGoesOnFromAnySnapshot(t *testing.T) {
	t.Parallel()
	records := story()
	whole, err := FoldAll(records)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		cut := rapid.IntRange(0, len(records)).Draw(t, "cut")
		head, err := FoldAll(records[:cut])
		if err != nil {
			t.Fatal(err)
		}
		kept := head.clone()
		s := head
		for _, r := range records[cut:] {
			if s, err = Fold(s, r); err != nil {
				t.Fatal(err)
			}
		}
		if cut < len(records) {
			if diff := cmp.Diff(whole, s); diff != "" {
				t.Fatal(diff)
			}
		}
		if diff := cmp.Diff(kept, head.clone()); diff != "" {
			t.Fatal("the snapshot was changed:\n" + diff)
		}
	})
}
