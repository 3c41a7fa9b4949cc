package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

type workflowCmd struct {
	List      workflowList      `cmd:"" help:"List workflows."`
	Show      workflowShow      `cmd:"" help:"Show a workflow."`
	Apply     workflowApply     `cmd:"" help:"Save a workflow from a file."`
	Lint      workflowLint      `cmd:"" help:"Check a file without saving it."`
	Simulate  workflowSimulate  `cmd:"" help:"Show what a trigger would do, on a made-up task."`
	Repin     workflowRepin     `cmd:"" help:"Move a standing task to the newest version of its workflow."`
	Export    workflowExport    `cmd:"" help:"Print a workflow's source."`
	Templates workflowTemplates `cmd:"" help:"List the embedded templates, or print one."`
}

type workflowList struct{}

func (c *workflowList) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	all, err := cl.ListWorkflows(e.ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, w := range all {
		rows = append(rows, []string{w.Key, "v" + strconv.Itoa(w.Version), strconv.Itoa(len(w.Steps)), w.Name})
	}
	return e.table(all, []string{"key", "version", "steps", "name"}, rows)
}

type workflowKey struct {
	Key string `arg:"" help:"Key of the workflow."`
}

type workflowShow struct{ workflowKey }

func (c *workflowShow) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	w, err := cl.GetWorkflow(e.ctx, c.Key)
	if err != nil {
		return err
	}
	return e.show(w, func(out io.Writer) {
		fmt.Fprintf(out, "%s v%d  %s\n", w.Key, w.Version, w.Name)
		for _, s := range w.Steps {
			fmt.Fprintf(out, "  %-12s %s", s.Key, s.Name)
			fmt.Fprint(out, told(" agent %s", s.Agent), told(" %s", string(s.Terminal)))
			if len(s.Moves) > 0 {
				fmt.Fprintf(out, " → %v", s.Moves)
			}
			fmt.Fprintln(out)
		}
	})
}

type workflowExport struct{ workflowKey }

func (c *workflowExport) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	w, err := cl.GetWorkflow(e.ctx, c.Key)
	if err != nil {
		return err
	}
	return e.show(w, func(out io.Writer) { fmt.Fprint(out, w.Source) })
}

type workflowApply struct {
	File   string   `arg:"" help:"YAML file; - reads stdin."`
	Remap  []string `help:"OLD=NEW: where tasks on a removed step go; repeat for more."`
	Expect int      `help:"Refuse unless this is the newest version."`
}

func (c *workflowApply) Run(e *env) error {
	source, err := e.read(c.File)
	if err != nil {
		return err
	}
	remap, err := pairs(c.Remap)
	if err != nil {
		return err
	}
	cl, err := e.client()
	if err != nil {
		return err
	}
	w, err := cl.SaveWorkflow(e.ctx, fairlead.WorkflowBody{Source: source, Remap: remap, ExpectedVersion: c.Expect})
	if err != nil {
		return err
	}
	for _, f := range w.Warns {
		fmt.Fprintln(e.Stderr, "warning:", finding(c.File, f))
	}
	return e.show(w, func(out io.Writer) {
		state := "unchanged"
		if w.Saved {
			state = "saved"
		}
		fmt.Fprintf(out, "%s v%d %s\n", w.Key, w.Version, state)
		for _, t := range w.Moved {
			fmt.Fprintf(out, "  moves %s\n", t)
		}
	})
}

type workflowLint struct {
	File []string `arg:"" help:"YAML files."`
	// Offline checks a file by itself, without the agents and people of a server.
	Offline bool `help:"Check the files alone, without a server's agents and people."`
}

// Run prints file:line:column, the fault and a remedy for every finding; it fails when there are errors.
func (c *workflowLint) Run(e *env) error {
	results, bad := []fairlead.LintResult{}, 0
	for _, name := range c.File {
		source, err := e.read(name)
		if err != nil {
			return err
		}
		r, err := c.lint(e, source)
		if err != nil {
			return err
		}
		results = append(results, r)
		bad += len(r.Errors)
		if e.json {
			continue
		}
		for _, f := range r.Errors {
			fmt.Fprintln(e.Stdout, "error:", finding(name, f))
		}
		for _, f := range r.Warnings {
			fmt.Fprintln(e.Stdout, "warning:", finding(name, f))
		}
		if r.OK {
			fmt.Fprintf(e.Stdout, "%s: ok\n", name)
		}
	}
	if e.json {
		if err := e.print(results); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fairlead.Errorf(fairlead.CodeInvalid, "errors found: %d", bad)
	}
	return nil
}

func (c *workflowLint) lint(e *env, source string) (fairlead.LintResult, error) {
	if c.Offline {
		d, report := workflow.Compile([]byte(source), workflow.Names{})
		r := fairlead.LintResult{OK: len(report.Errors) == 0, Errors: report.Errors, Warnings: report.Warnings}
		if d != nil {
			r.Key = d.Key
		}
		return r, nil
	}
	cl, err := e.client()
	if err != nil {
		return fairlead.LintResult{}, err
	}
	return cl.LintWorkflow(e.ctx, source)
}

type workflowSimulate struct {
	File    string `arg:"" help:"YAML file, or the key of a saved workflow."`
	Trigger string `help:"Trigger: its kind, or manual:KEY." required:""`
	Step    string `help:"Step the task stands at (default the start)."`
	Payload string `help:"Payload as JSON."`
}

func (c *workflowSimulate) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	body := fairlead.SimulateBody{Step: c.Step, Trigger: c.Trigger}
	if fairlead.ValidKey(c.File) {
		body.Key = c.File
	} else if body.Source, err = e.read(c.File); err != nil {
		return err
	}
	if body.Payload, err = payload(c.Payload); err != nil {
		return err
	}
	out, err := cl.Simulate(e.ctx, body)
	if err != nil {
		return err
	}
	return e.outcome(out)
}

func payload(text string) (map[string]any, error) {
	if text == "" {
		return nil, nil
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return nil, errUsage{"the payload is not a JSON object"}
	}
	return m, nil
}

type workflowRepin struct {
	taskRef
	DryRun bool `help:"Only say what would change."`
}

func (c *workflowRepin) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	out, err := cl.Repin(e.ctx, c.Task, fairlead.RepinBody{DryRun: c.DryRun})
	if err != nil {
		return err
	}
	return e.outcome(out)
}

type workflowTemplates struct {
	Key string `arg:"" optional:"" help:"Template to print."`
}

func (c *workflowTemplates) Run(e *env) error {
	if c.Key != "" {
		source := workflow.TemplateSource(c.Key)
		if source == nil {
			return fairlead.Errorf(fairlead.CodeNotFound, "no such template").WithHint("list them with: fairlead workflow templates")
		}
		return e.show(map[string]string{"key": c.Key, "source": string(source)}, func(w io.Writer) { _, _ = w.Write(source) })
	}
	type template struct {
		Key  string `json:"key"`
		Name string `json:"name"`
	}
	var all []template
	var rows [][]string
	for _, t := range workflow.Templates() {
		d, _ := workflow.Compile(t.Source, workflow.Names{})
		all = append(all, template{t.Key, d.Name})
		rows = append(rows, []string{t.Key, d.Name})
	}
	return e.table(all, []string{"key", "name"}, rows)
}
