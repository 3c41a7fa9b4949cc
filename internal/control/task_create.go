package control

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/store"
)

// DefaultWorkflow is where a task goes that names none.
const DefaultWorkflow = "kanban"

// CreateTask makes a task and enters its first step. With a parent, the parent is the one task the command locks; the
// child counts as open at once and its enter comes from the outbox.
func (c *Control) CreateTask(ctx context.Context, m Meta, body fairlead.NewTask) (fairlead.TaskView, error) {
	const name = "create task"
	var parent string
	var err error
	if err = checkNewTask(body); err != nil {
		return fairlead.TaskView{}, c.refused(ctx, m, command{name: name}, err)
	}
	if body.Parent != "" {
		if parent, err = c.resolve(ctx, m.Workspace, body.Parent); err != nil {
			return fairlead.TaskView{}, c.refused(ctx, m, command{name: name}, fieldNotFound(err, "parent"))
		}
	}
	cmd := command{
		name: name, task: parent, body: body, edges: len(body.BlockedBy) > 0,
		ahead: []store.Need{store.NeedRevision(m.Workspace), store.NeedWorkspace(m.Workspace)},
	}
	return do(ctx, c, m, cmd, func(w *work) (fairlead.TaskView, error) {
		if err := w.mayCreate(); err != nil {
			return fairlead.TaskView{}, err
		}
		spec, err := w.newTask(body)
		if err != nil {
			return fairlead.TaskView{}, err
		}
		created, err := w.create(spec)
		if err != nil {
			return fairlead.TaskView{}, err
		}
		return w.view(created)
	})
}

// view shows a task as it stands in this transaction.
func (w *work) view(t *taskWork) (fairlead.TaskView, error) {
	current := w.task
	w.task = t
	defer func() { w.task = current }()
	if err := w.flush(); err != nil {
		return fairlead.TaskView{}, err
	}
	return w.c.TaskView(&w.tx.ReadTx, t.row)
}

// taskSpec is a task to make with what comes with it.
type taskSpec struct {
	task         fairlead.Task
	step         string
	participants []fairlead.Participant
	blockedBy    []string // task ids
	child        bool     // its parent is the locked task
}

func checkNewTask(b fairlead.NewTask) error {
	var fields []fairlead.FieldError
	bad := func(path, message, remedy string) {
		fields = append(fields, fairlead.FieldError{Path: path, Message: message, Remedy: remedy})
	}
	if strings.TrimSpace(b.Title) == "" {
		bad("title", "a task needs a title", "say in a few words what is to be done")
	}
	if len(b.Title) > 500 {
		bad("title", "the title is too long", "use at most 500 bytes and put the rest into description")
	}
	if b.Priority.Rank() < 0 {
		bad("priority", "unknown priority", "use urgent, high, medium or low")
	}
	if r := b.CancelledBlocker; r != "" && r != fairlead.CancelledResolves && r != fairlead.CancelledKeeps {
		bad("cancelled_blocker", "unknown rule", "use resolve or keep")
	}
	for i, l := range b.Labels {
		if l == "" || len(l) > 100 || strings.ContainsAny(l, "\n\r\t") {
			bad(fmt.Sprintf("labels[%d]", i), "not a label", "use 1 to 100 characters on one line")
		}
	}
	if len(fields) > 0 {
		return &fairlead.Error{Code: fairlead.CodeInvalid, Message: "the task is not valid", Hint: fields[0].Remedy, Fields: fields}
	}
	return nil
}

func fieldNotFound(err error, path string) error {
	if !fairlead.IsCode(err, fairlead.CodeNotFound) {
		return err
	}
	return &fairlead.Error{
		Code: fairlead.CodeInvalid, Message: path + " names nothing that exists", Hint: "use the id or identifier of an existing task",
		Fields: []fairlead.FieldError{{Path: path, Message: "no such task"}},
	}
}

// newTask checks a body against the workspace.
func (w *work) newTask(b fairlead.NewTask) (taskSpec, error) {
	f, err := w.facts()
	if err != nil {
		return taskSpec{}, err
	}
	if b.Workflow == "" {
		b.Workflow = DefaultWorkflow
	}
	if !f.Workflows[b.Workflow] {
		return taskSpec{}, invalidField("workflow", "no such workflow", "list the workflows with: fairlead workflow list")
	}
	if b.Agent != "" && f.Agents[b.Agent].Key == "" {
		return taskSpec{}, invalidField("agent", "no such agent", "list the agents with: fairlead agent list")
	}
	t := fairlead.Task{
		Workspace: w.meta.Workspace, Workflow: b.Workflow, Title: b.Title, Description: b.Description, Requirements: b.Requirements,
		Priority: b.Priority, Labels: dedupe(b.Labels), Origin: fairlead.OriginManual, Creator: w.meta.Actor, Agent: b.Agent,
		Repository: b.Repository, Metadata: b.Metadata, CancelledBlocker: b.CancelledBlocker, Ephemeral: b.Ephemeral,
	}
	if w.meta.Actor.Kind == fairlead.ActorAgent {
		t.Origin = fairlead.OriginAgent
	}
	spec := taskSpec{task: t, step: b.Step}
	if w.task != nil {
		if !w.task.row.ArchivedAt.IsZero() {
			return spec, fairlead.Errorf(fairlead.CodeRefused, "the parent is archived").WithHint("choose another parent")
		}
		spec.child, spec.task.Parent = true, w.task.row.ID
	}
	for i, p := range b.Participants {
		row, err := newParticipant(f, p)
		if err != nil {
			return spec, inField(err, fmt.Sprintf("participants[%d]", i))
		}
		spec.participants = append(spec.participants, row)
	}
	if spec.blockedBy, err = w.blockersOf(b.BlockedBy, spec.task.Parent); err != nil {
		return spec, err
	}
	return spec, nil
}

// blockersOf finds the tasks a new task waits for. A new task closes a cycle only through its parent.
func (w *work) blockersOf(refs []string, parent string) (ids []string, err error) {
	for i, ref := range refs {
		id, err := w.tx.TaskID(w.meta.Workspace, ref)
		if err != nil {
			return nil, fieldNotFound(err, fmt.Sprintf("blocked_by[%d]", i))
		}
		if parent != "" {
			path, err := w.tx.PathTo(w.meta.Workspace, id, parent)
			if err != nil {
				return nil, err
			}
			if path != nil {
				return nil, cycle(path)
			}
		}
		ids = append(ids, id)
	}
	return dedupe(ids), nil
}

// create inserts a task. A child is inserted with its parent and entered from the outbox; any other task becomes the
// one task of the command and is entered at once.
func (w *work) create(spec taskSpec) (*taskWork, error) {
	parent := w.task
	prefix, err := w.tx.Prefix(w.meta.Workspace)
	if err != nil {
		return nil, err
	}
	number, err := w.tx.NextNumber(w.meta.Workspace)
	if err != nil {
		return nil, err
	}
	t := &spec.task
	if t.ID == "" {
		t.ID = w.id(fairlead.PrefixTask)
	}
	t.Number, t.Identifier = number, fmt.Sprintf("%s-%d", prefix, number)
	if t.Priority == "" {
		t.Priority = fairlead.PriorityMedium
	}
	if t.CancelledBlocker == "" {
		t.CancelledBlocker = fairlead.CancelledResolves
	}
	t.Position = float64(w.now.UnixMicro())
	t.CreatedAt, t.UpdatedAt, t.MovedAt = w.now, w.now, w.now
	row := &storeTaskRow{Task: *t}
	if err := w.tx.InsertTask(row); err != nil {
		return nil, err
	}
	w.task = &taskWork{row: row, was: row.Version, dirty: true}
	made := w.task
	if err := w.furnish(spec); err != nil {
		return nil, err
	}
	if parent != nil {
		err := w.flush()
		w.task = parent
		if err != nil {
			return nil, err
		}
		w.record(fairlead.Record{Kind: fairlead.RecordChildCreated}, map[string]any{"task": row.ID, "title": row.Title})
		w.changed()
		return made, w.post(row.ID, fairlead.DerivedOp("enter", row.ID), fairlead.OutboxEnter, nil)
	}
	return made, nil
}

// furnish writes what a new task comes with and begins its first visit.
func (w *work) furnish(spec taskSpec) error {
	t := &w.task.row.Task
	w.record(fairlead.Record{Kind: fairlead.RecordCreated, Actor: t.Creator}, map[string]any{
		"title": t.Title, "workflow": t.Workflow, "parent": t.Parent, "priority": t.Priority, "origin": t.Origin,
	})
	w.emit(fairlead.Event{Kind: fairlead.EventTaskCreated, Task: t.ID, Data: marshal(map[string]any{"identifier": t.Identifier, "title": t.Title})})
	for _, p := range spec.participants {
		p.ID, p.Task, p.By, p.At = w.id(fairlead.PrefixParticipant), t.ID, w.meta.Actor, w.now
		if err := w.putParticipant(p); err != nil {
			return err
		}
		w.changed()
		if refusal := w.canSeat(p); refusal != nil {
			return refusal
		}
	}
	for _, b := range spec.blockedBy {
		if _, err := w.tx.InsertBlocker(fairlead.Blocker{Task: t.ID, BlockedBy: b, By: w.meta.Actor, At: w.now}); err != nil {
			return err
		}
		w.record(fairlead.Record{Kind: fairlead.RecordBlockerAdded}, map[string]any{"blocked_by": b})
	}
	if err := w.tellEnded(); err != nil {
		return err
	}
	trigger := engine.Trigger{Kind: engine.KindCreate, NoEnter: spec.child}
	if spec.step != "" {
		trigger.Move = &engine.Move{To: spec.step}
	}
	_, err := w.decide(trigger)
	return err
}

// createChild carries out the action create_child.
func (w *work) createChild(e engine.CreateChild) error {
	spec := taskSpec{child: true, task: fairlead.Task{
		ID: e.Task, Workspace: w.meta.Workspace, Workflow: e.Workflow, Title: e.Title, Description: e.Description, Agent: e.Agent,
		Parent: w.task.row.ID, Origin: fairlead.OriginManual, Creator: fairlead.Engine(),
	}}
	_, err := w.create(spec)
	return err
}

func dedupe(list []string) []string {
	var out []string
	seen := make(map[string]bool, len(list))
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func invalidField(path, message, remedy string) error {
	return &fairlead.Error{
		Code: fairlead.CodeInvalid, Message: path + ": " + message, Hint: remedy,
		Fields: []fairlead.FieldError{{Path: path, Message: message, Remedy: remedy}},
	}
}
