package control

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

// TestCoordinationSeesTheWorkspace: the run of a standing task gets what is worked on, asked and has failed elsewhere;
// any other run gets nothing of it.
func TestCoordinationSeesTheWorkspace(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.save(strings.Replace(beatFlow("coordination", `every: 1h, do: [{queue_run: {to: primary}}]`), "  - {key: done, name: Done, terminal: done}\n", "", 1))
		f.agent("chief", "duty: ceo\n")
		f.agent("cat", "")
		f.task("stay")
		other := f.claimed()
		if other.Summary != nil {
			t.Error("an ordinary run sees the workspace")
		}
		other.start()
		_, err := f.c.Ask(t.Context(), other.as(), fairlead.AskBody{Kind: fairlead.RequestQuestion, Prompt: "which colour?"})
		f.must(err)
		f.until(1, 10, 0)
		f.fire()
		k := f.claimed()
		s := k.Summary
		if k.Run.Agent != "chief" || s == nil {
			t.Fatalf("run of %s with summary %v", k.Run.Agent, s)
		}
		if len(s.Runs) != 1 || s.Runs[0].Agent != "ann" || s.Runs[0].Title != "Task on stay" || s.Runs[0].Status != fairlead.RunRunning {
			t.Errorf("runs %+v", s.Runs)
		}
		if len(s.Requests) != 1 || s.Requests[0].Prompt != "which colour?" || s.Requests[0].Task.ID != other.Task.ID || s.More {
			t.Errorf("requests %+v", s.Requests)
		}
	})
}
