package control

import (
	"context"
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/catalog"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/workflow"
)

// coordinationWorkflow is the workflow of the standing tasks of agents with a duty. Such a task never ends.
const coordinationWorkflow = "coordination"

// SaveWorkflow makes a new immutable version of a workflow. The same content is the same version. A file with errors
// stores nothing, and neither does one that takes a step away on which tasks stand, unless Remap says where they go:
// then each of them moves right after this commit.
func (c *Control) SaveWorkflow(ctx context.Context, m Meta, body fairlead.WorkflowBody) (fairlead.WorkflowView, error) {
	if m.Op == "" {
		m.Op = body.Op
	}
	body.Op = ""
	v, err := do(ctx, c, m, command{name: "save workflow", run: m.Actor.Run, body: body}, func(w *work) (fairlead.WorkflowView, error) {
		return w.saveWorkflow(body)
	})
	if err == nil && v.Key == coordinationWorkflow {
		err = c.ensureCoordinations(background(ctx), m.Workspace)
	}
	return v, err
}

func (w *work) saveWorkflow(body fairlead.WorkflowBody) (fairlead.WorkflowView, error) {
	none := fairlead.WorkflowView{}
	if err := w.personOnly("workflows"); err != nil {
		return none, err
	}
	if err := w.tx.LockWorkspace(w.meta.Workspace); err != nil {
		return none, err
	}
	f, err := w.facts()
	if err != nil {
		return none, err
	}
	d, report := compile(f, body.Source)
	if err := report.Err(); err != nil {
		return none, err
	}
	var old *workflow.Definition
	version := f.Newest(d.Key)
	if version > 0 {
		if old, err = w.c.catalog.Definition(&w.tx.ReadTx, w.meta.Workspace, d.Key, version); err != nil {
			return none, err
		}
	}
	if old != nil && old.Digest == d.Digest {
		v, err := w.c.WorkflowView(&w.tx.ReadTx, w.meta.Workspace, d.Key)
		v.Warns = report.Warnings
		return v, err
	}
	if err := expectVersion(w.meta.IfVersion, body.ExpectedVersion, version); err != nil {
		return none, err
	}
	moved, err := w.remap(old, d, body.Remap)
	if err != nil {
		return none, err
	}
	d.Version = version + 1
	row, err := w.insertWorkflow(d)
	if err != nil {
		return none, err
	}
	v := read.ShowWorkflow(row, d)
	v.Saved, v.Moved, v.Warns = true, moved, report.Warnings
	return v, w.workspaceChanged()
}

// compile reads a file as this workspace would use it.
func compile(f *catalog.Facts, source string) (*workflow.Definition, *workflow.Report) {
	d, report := workflow.Compile([]byte(source), f.Names())
	if d == nil || d.Key != coordinationWorkflow {
		return d, report
	}
	for _, s := range d.Steps {
		if s.Terminal != fairlead.TerminalNone {
			report.Errors = append(report.Errors, fairlead.FieldError{
				Path: "steps." + s.Key + ".terminal", Line: s.Pos.Line, Column: s.Pos.Column,
				Message: "a coordination task never ends", Remedy: "leave terminal out",
			})
		}
	}
	return d, report
}

func expectVersion(ifMatch int64, expected, have int) error {
	if ifMatch != 0 && ifMatch != int64(have) || expected != 0 && expected != have {
		return fairlead.Errorf(fairlead.CodeStale, "the workflow is at version %d", have).
			WithHint("look at what was saved since, then save again with that version")
	}
	return nil
}

func (w *work) insertWorkflow(d *workflow.Definition) (fairlead.WorkflowVersion, error) {
	row := fairlead.WorkflowVersion{
		Workspace: w.meta.Workspace, Key: d.Key, Version: d.Version, Name: d.Name, Style: d.Style, Source: d.Source, Digest: d.Digest,
		By: w.meta.Actor, At: w.now,
	}
	if err := w.tx.InsertWorkflowVersion(&row); err != nil {
		return row, err
	}
	w.emit(fairlead.Event{Kind: fairlead.EventWorkflowSaved, Workspace: row.Workspace, Version: int64(row.Version), Data: marshal(map[string]any{
		"workflow": row.Key, "version": row.Version,
	})})
	return row, nil
}

// workspaceChanged says that what decisions need of the workspace is another now. It takes a leaf lock: call it last.
func (w *work) workspaceChanged() error {
	workspace := w.meta.Workspace
	if err := w.tx.BumpRevision(workspace); err != nil {
		return err
	}
	w.tx.AfterCommit(func() { w.c.catalog.Forget(workspace) })
	return nil
}

// remap finds the tasks that stand on steps which the new version takes away. Each gets a move from the outbox; without
// a word on where they go, the save is refused with the list.
func (w *work) remap(old, d *workflow.Definition, remap map[string]string) (moved []string, err error) {
	if err := workflow.CheckRemap(old, d, remap).Err(); err != nil {
		return nil, err
	}
	gone := workflow.Removed(old, d)
	if len(gone) == 0 {
		return nil, nil
	}
	rows, err := w.tx.TasksAt(w.meta.Workspace, d.Key, gone...)
	if err != nil {
		return nil, err
	}
	var lost []store.TaskRow
	for _, row := range rows {
		if remap[row.Step] == "" {
			lost = append(lost, row)
		}
	}
	if len(lost) > 0 {
		return nil, occupied(lost)
	}
	for _, row := range rows {
		op := fairlead.DerivedOp("remap", w.meta.Workspace, d.Key, strconv.Itoa(d.Version), d.Digest, row.ID)
		if err := w.post(row.ID, op, fairlead.OutboxRemap, remap); err != nil {
			return nil, err
		}
		moved = append(moved, row.Identifier)
	}
	return moved, nil
}

// occupiedShown is up to how many tasks the refusal names.
const occupiedShown = 100

func occupied(rows []store.TaskRow) error {
	e := fairlead.Errorf(fairlead.CodeRefused, "tasks stand on steps that this version does not have: %d of them", len(rows)).
		WithHint("say where they go, as remap {old step: new step}, or move them first")
	steps := make(map[string][]string)
	for i, row := range rows {
		if i == occupiedShown {
			break
		}
		if steps[row.Step] == nil {
			e.Fields = append(e.Fields, fairlead.FieldError{
				Path: "steps." + row.Step, Message: "tasks stand on this step", Remedy: "name it in remap",
			})
		}
		steps[row.Step] = append(steps[row.Step], row.Identifier)
	}
	e.Data = map[string]any{"steps": steps, "count": len(rows)}
	return e
}

// LintWorkflow says what a save would find, and stores nothing.
func (c *Control) LintWorkflow(ctx context.Context, ws, source string) (fairlead.LintResult, error) {
	var out fairlead.LintResult
	err := c.db.Read(ctx, func(tx *storeReadTx) error {
		if err := read.CheckWorkspace(tx, ws); err != nil {
			return err
		}
		f, err := c.catalog.Facts(tx, ws)
		if err != nil {
			return err
		}
		d, report := compile(f, source)
		out = fairlead.LintResult{OK: len(report.Errors) == 0, Errors: report.Errors, Warnings: report.Warnings}
		if d != nil {
			out.Key = d.Key
		}
		return nil
	})
	if err != nil {
		return fairlead.LintResult{}, questionError("lint workflow", err)
	}
	return out, nil
}
