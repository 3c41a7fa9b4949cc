package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

func TestStoryTellsRecordsInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, data, want string
	}{
		{fairlead.RecordMoved, `{"from":"work","to":"review","reason":"turn_complete","note":"please look"}`, "→ review (from work) because of turn_complete: please look"},
		{fairlead.RecordMoved, `{"from":"review","to":"done","terminal":"done"}`, "→ done (from review) — the task is done"},
		{fairlead.RecordDecision, `{"verdict":"rejected","note":"no test"}`, "rejected: no test"},
		{fairlead.RecordEffectIntent, `{"tool":"shell","input":{"command":"a && b"}}`, "calls shell a && b"},
		{fairlead.RecordEffectIntent, `{"tool":"edit_file","input":{"path":"x","old":"a < b"}}`, `calls edit_file {"old":"a < b","path":"x"}`},
		{fairlead.RecordRequestResolved, `{"state":"answered","answer":{"verdict":"approve","note":"fine"}}`, "request answered: approve – fine"},
		{fairlead.RecordTurnEnded, `{"failure":{"class":"limited","message":"429"}}`, "turn fails: limited: 429"},
		{fairlead.RecordCheckpoint, `{"commit":"0123456789abcdef","pushed":true}`, "leaves the checkpoint 0123456789, pushed"},
		{fairlead.RecordCheckpoint, `{"commit":"0123456789abcdef","pushed":false,"why":"no route"}`, "leaves the checkpoint 0123456789 here only: no route"},
		{fairlead.RecordTreeReleased, `{"host":"alpha","commit":"0123456789abcdef","lost":2}`, "to go on from the checkpoint 0123456789; 2 calls after it are lost"},
		{"something_new", `{"text":"hello"}`, "something new hello"},
		{fairlead.RecordComment, `not json`, "wrote: not json"},
	} {
		got := Story(fairlead.RecordView{Seq: 7, Kind: c.kind, Data: json.RawMessage(c.data), Actor: fairlead.Person("owner")})
		if !strings.HasSuffix(got, c.want) || !strings.Contains(got, "person:owner") {
			t.Errorf("%s: got %q, want it to end in %q", c.kind, got, c.want)
		}
	}
}

func TestATaskSaysWhereItsWorktreeIs(t *testing.T) {
	t.Parallel()
	c := &fairlead.Checkpoint{Commit: "0123456789abcdef"}
	for _, tc := range []struct {
		tree *fairlead.Worktree
		want string
	}{
		{nil, ""},
		{&fairlead.Worktree{Since: 3}, ""},
		{&fairlead.Worktree{Home: "a", Host: "alpha"}, "  worktree on alpha\n"},
		{&fairlead.Worktree{Home: "a", Host: "alpha", Checkpoint: c, Unpushed: "no route"},
			"  worktree on alpha, checkpoint 0123456789 pushed - ago, a later one is not: no route\n"},
		{&fairlead.Worktree{Host: "alpha", Checkpoint: c, Restore: true}, "  worktree released from alpha, checkpoint 0123456789 pushed - ago\n"},
	} {
		if got := worktree(tc.tree); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
