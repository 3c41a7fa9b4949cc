package workflow_test

import (
	"fmt"

	"github.com/fairlead/fairlead/internal/workflow"
)

func ExampleCompile() {
	source := []byte(`
workflow: errands
steps:
  - key: work
    agent: assistant
    on:
      enter: [{queue_run: {to: primary}}]
      turn_complete: [{move: {to: done, if: "children.open == 0"}}]
  - {key: done, terminal: done}
`)
	d, report := workflow.Compile(source, workflow.Names{Agents: map[string]bool{"assistant": true}})
	fmt.Println(report.Err(), d.Start)
	leave := d.Step("work").On["turn_complete"][0]
	holds, err := leave.If.Eval(workflow.Facts{Children: workflow.ChildrenFacts{Open: 1}})
	fmt.Println(leave.To, holds, err)
	// Output:
	// <nil> work
	// done false <nil>
}

func ExampleFileErrors() {
	report := workflow.Lint([]byte("workflow: errands\nsteps:\n  - {key: work, agnet: assistant}\n"), workflow.Names{})
	fmt.Print(workflow.FileErrors("errands.yaml", report.Errors))
	// Output:
	// errands.yaml:3:17: unknown key "agnet" in a step (did you mean agent?)
}
