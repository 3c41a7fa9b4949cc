package read

import (
	"context"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/workflow"
)

// GetWorkflow shows the newest version of a workflow with its source.
func (r *Reader) GetWorkflow(ctx context.Context, ws, key string) (fairlead.WorkflowView, error) {
	return ask(ctx, r, "show workflow", func(tx *store.ReadTx) (fairlead.WorkflowView, error) {
		if err := CheckWorkspace(tx, ws); err != nil {
			return fairlead.WorkflowView{}, err
		}
		return r.WorkflowView(tx, ws, key)
	})
}

// WorkflowView shows the newest version of a workflow as it stands in the caller's transaction.
func (r *Reader) WorkflowView(tx *store.ReadTx, ws, key string) (fairlead.WorkflowView, error) {
	d, err := r.catalog.Definition(tx, ws, key, 0)
	if err != nil {
		return fairlead.WorkflowView{}, err
	}
	row, err := tx.WorkflowVersion(ws, key, d.Version)
	if err != nil {
		return fairlead.WorkflowView{}, err
	}
	return ShowWorkflow(row, d), nil
}

// ListWorkflows lists the newest versions by key, without their sources.
func (r *Reader) ListWorkflows(ctx context.Context, ws string) ([]fairlead.WorkflowView, error) {
	return ask(ctx, r, "list workflows", func(tx *store.ReadTx) ([]fairlead.WorkflowView, error) {
		out := []fairlead.WorkflowView{}
		if err := CheckWorkspace(tx, ws); err != nil {
			return out, err
		}
		rows, err := tx.ListWorkflows(ws)
		if err != nil {
			return out, err
		}
		for _, row := range rows {
			d, err := r.catalog.Definition(tx, ws, row.Key, row.Version)
			if err != nil {
				return out, err
			}
			v := ShowWorkflow(row, d)
			v.Source = ""
			out = append(out, v)
		}
		return out, nil
	})
}

// ShowWorkflow shows a saved version.
func ShowWorkflow(row fairlead.WorkflowVersion, d *workflow.Definition) fairlead.WorkflowView {
	v := fairlead.WorkflowView{
		Key: row.Key, Name: row.Name, Style: row.Style, Version: row.Version, Source: row.Source, Digest: row.Digest,
		Steps: []fairlead.StepView{}, At: fairlead.StampOf(row.At),
	}
	for _, s := range d.Steps {
		v.Steps = append(v.Steps, fairlead.StepView{
			Key: s.Key, Name: s.Name, Stage: s.Stage, Agent: s.Agent, Program: s.Program, WIP: s.WIP, Terminal: s.Terminal, Moves: moves(s),
		})
	}
	return v
}

// moves lists the steps that the moves of a step name, each once, in the order of the triggers.
func moves(s *workflow.Step) []string {
	var out []string
	add := func(actions []workflow.Action) {
		for _, a := range actions {
			if (a.Kind == workflow.ActionMove || a.Kind == workflow.ActionEnd) && !slices.Contains(out, a.To) {
				out = append(out, a.To)
			}
		}
	}
	for _, k := range fairlead.Triggers() {
		add(s.On[k])
	}
	keys := make([]string, 0, len(s.Manual))
	for k := range s.Manual {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		add(s.Manual[k])
	}
	return out
}
