package worker

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

func TestSummaryInThePrompt(t *testing.T) {
	t.Parallel()
	in := coderInput()
	if strings.Contains(buildPrompt(in), "The workspace") {
		t.Error("a task that is no coordination task shows the workspace")
	}
	in.Summary = &control.Summary{
		Runs: []control.SummaryRun{{
			Task: fairlead.TaskRef{Identifier: "FL-3", Step: "work"}, Title: "Mend", Agent: "coder", Status: fairlead.RunQueued, Reason: "comment",
		}},
		Requests: []control.SummaryRequest{{
			ID: "req_1", Kind: fairlead.RequestQuestion, Task: fairlead.TaskRef{Identifier: "FL-3"}, Title: "Mend", Prompt: "which\ncolour?",
			AskedOf: []string{"person:owner"},
		}},
		Notices: []fairlead.Notice{{Kind: "agent_error", Text: strings.Repeat("x", 300), Task: "tsk_1"}},
		More:    true,
	}
	got := buildPrompt(in)
	want := `
## The workspace
Runs:
- FL-3 Mend, at the step work: coder is queued (somebody wrote a comment)
Open questions:
- FL-3 Mend: question req_1, asked of person:owner: which colour?
On the inbox:
- agent_error: ` + strings.Repeat("x", 200) + `… (task tsk_1)
There is more than is shown here.
`
	if !strings.Contains(got, want) {
		t.Errorf("prompt (-want +got):\n%s", cmp.Diff(want, got))
	}
	in.Summary = &control.Summary{}
	if got := buildPrompt(in); strings.Count(got, "- none") != 3 {
		t.Errorf("an empty workspace: %s", got)
	}
}
