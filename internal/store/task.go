package store

import (
	"strings"

	fairlead "github.com/fairlead/fairlead"
)

// TaskRow is a task and whether its first enter has happened (a child's comes from the outbox).
type TaskRow struct {
	fairlead.Task
	Entered bool
}

const taskColumns = taskFields + `, tree`

const taskFields = `id, workspace, number, identifier, workflow, workflow_version, step, visit, round, entered, terminal, title, description,
requirements, priority, position, labels, parent, origin, creator, agent, repository, metadata, cancelled_blocker, ephemeral, coordination,
held, person_visit, signal_visit, record_seq, archived_at, moved_at, created_at, updated_at, version`

var (
	stmtTaskInsert = define("task_insert", `
INSERT INTO tasks (`+taskFields+`, search) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36)`)

	stmtTaskSave = defineSave("task_save", "task", `
UPDATE tasks SET workflow = ?3, workflow_version = ?4, step = ?5, visit = ?6, round = ?7, entered = ?8, terminal = ?9, title = ?10,
description = ?11, requirements = ?12, priority = ?13, position = ?14, labels = ?15, parent = ?16, agent = ?17, repository = ?18,
metadata = ?19, cancelled_blocker = ?20, ephemeral = ?21, coordination = ?22, held = ?23, person_visit = ?24, signal_visit = ?25,
record_seq = ?26, archived_at = ?27, moved_at = ?28, updated_at = ?29, search = ?30, version = version + 1
WHERE id = ?1 AND version = ?2`)

	stmtTaskTree     = define("task_tree", `UPDATE tasks SET tree_home = ?2, tree = ?3 WHERE id = ?1`)
	stmtTaskLoad     = define("task_load", `SELECT `+taskColumns+` FROM tasks WHERE id = ?1`)
	stmtTaskLock     = define("task_lock", `SELECT `+taskColumns+` FROM tasks WHERE id = ?1 {{lock}}`)
	stmtTaskByName   = define("task_by_name", `SELECT `+taskColumns+` FROM tasks WHERE workspace = ?1 AND identifier = ?2`)
	stmtTaskID       = define("task_id", `SELECT id FROM tasks WHERE workspace = ?1 AND (id = ?2 OR identifier = ?3)`)
	stmtTaskStanding = define("task_standing", `SELECT id FROM tasks WHERE workspace = ?1 AND coordination = ?2 AND coordination <> ''`)
	stmtTaskLast     = define("task_last", `
SELECT COALESCE(MAX(position), 0) FROM tasks WHERE workspace = ?1 AND workflow = ?2 AND step = ?3`)
	stmtTasksAt = define("tasks_at", `
SELECT `+taskColumns+` FROM tasks WHERE workspace = ?1 AND workflow = ?2 AND step {{in ?3}} AND terminal = '' AND archived_at = 0 ORDER BY id`)
)

func scanTask(s scanner, t *TaskRow) error {
	return s.Scan(&t.ID, &t.Workspace, &t.Number, &t.Identifier, &t.Workflow, &t.WorkflowVersion, &t.Step, &t.Visit, &t.Round, boolCol{&t.Entered},
		&t.Terminal, &t.Title, &t.Description, jsonCol{&t.Requirements}, &t.Priority, &t.Position, jsonCol{&t.Labels}, &t.Parent, &t.Origin,
		jsonCol{&t.Creator}, &t.Agent, jsonCol{&t.Repository}, jsonCol{&t.Metadata}, &t.CancelledBlocker, boolCol{&t.Ephemeral}, &t.Coordination,
		&t.Held, &t.PersonVisit, &t.SignalVisit, &t.RecordSeq, timeCol{&t.ArchivedAt}, timeCol{&t.MovedAt}, timeCol{&t.CreatedAt},
		timeCol{&t.UpdatedAt}, &t.Version, jsonCol{&t.Worktree})
}

// Fold is how texts are compared in searches, on both databases alike.
func Fold(s string) string { return strings.ToLower(s) }

func searchText(t *fairlead.Task) string {
	return Fold(t.Identifier + "\n" + t.Title + "\n" + t.Description)
}

// InsertTask adds a task; version 0 becomes 1.
func (tx *Tx) InsertTask(t *TaskRow) error {
	if t.Version == 0 {
		t.Version = 1
	}
	err := tx.later(stmtTaskInsert, t.ID, t.Workspace, t.Number, t.Identifier, t.Workflow, t.WorkflowVersion, t.Step, t.Visit, t.Round,
		truth(t.Entered), t.Terminal, t.Title, t.Description, listArg(t.Requirements), t.Priority, t.Position, listArg(t.Labels), t.Parent, t.Origin,
		actorArg(t.Creator), t.Agent, pointerArg(t.Repository), mapArg(t.Metadata), t.CancelledBlocker, truth(t.Ephemeral), t.Coordination,
		t.Held, t.PersonVisit, t.SignalVisit, t.RecordSeq, micros(t.ArchivedAt), micros(t.MovedAt), micros(t.CreatedAt), micros(t.UpdatedAt),
		t.Version, searchText(&t.Task))
	if err == nil && tx.memo.task == "" {
		tx.memo.lockedTask(t.ID, -1)
		tx.memo.made, tx.memo.runsKnown = true, true
	}
	return err
}

// SaveTask writes everything that may change, if the row still has version was, and raises t.Version. A stale version
// is an error with code stale.
func (tx *Tx) SaveTask(t *TaskRow, was int64) error {
	err := tx.later(stmtTaskSave, t.ID, was, t.Workflow, t.WorkflowVersion, t.Step, t.Visit, t.Round, truth(t.Entered), t.Terminal, t.Title,
		t.Description, listArg(t.Requirements), t.Priority, t.Position, listArg(t.Labels), t.Parent, t.Agent, pointerArg(t.Repository),
		mapArg(t.Metadata), t.CancelledBlocker, truth(t.Ephemeral), t.Coordination, t.Held, t.PersonVisit, t.SignalVisit, t.RecordSeq,
		micros(t.ArchivedAt), micros(t.MovedAt), micros(t.UpdatedAt), searchText(&t.Task))
	if err != nil {
		return err
	}
	t.Version = was + 1
	return nil
}

// SaveWorktree writes where a task's directory is. The task is locked; its version stays, for nobody decides by it.
func (tx *Tx) SaveWorktree(task string, w fairlead.Worktree) error {
	return tx.later(stmtTaskTree, task, w.Home, pointerArg(&w))
}

// LockTask locks the one existing task of the command and returns it as it is now; load the rest after it, or two
// commands that ran at the same time will each miss what the other did. A second task panics.
func (tx *Tx) LockTask(id string) (*TaskRow, error) {
	st := stmtTaskLoad
	if tx.order.take(rankTask, id) {
		st = stmtTaskLock
		tx.memo.lockedTask(id, tx.touched)
	}
	return tx.loadTask(st, id)
}

func (r *ReadTx) loadTask(st *Stmt, args ...any) (*TaskRow, error) {
	t, err := maybe(r, st, scanTask, args...)
	if err == nil && t == nil {
		return nil, notFound("task")
	}
	return t, err
}

// LoadTask returns a task by its id.
func (r *ReadTx) LoadTask(id string) (*TaskRow, error) {
	if r.shelf.has(id, anyVisit) {
		return r.shelf.tasks[id], nil
	}
	return r.loadTask(stmtTaskLoad, id)
}

// LoadTaskByRef returns a task by its id or, within the workspace, by its identifier ("FL-123", in any case).
func (r *ReadTx) LoadTaskByRef(workspace, ref string) (*TaskRow, error) {
	if !strings.HasPrefix(ref, fairlead.PrefixTask+"_") {
		return r.loadTask(stmtTaskByName, workspace, strings.ToUpper(ref))
	}
	t, err := r.loadTask(stmtTaskLoad, ref)
	if err == nil && t.Workspace != workspace {
		return nil, notFound("task")
	}
	return t, err
}

// TaskID returns the id of the task LoadTaskByRef would return.
func (r *ReadTx) TaskID(workspace, ref string) (id string, err error) {
	err = one(r, "task", stmtTaskID, into(&id), workspace, ref, strings.ToUpper(ref))
	return id, err
}

// CoordinationTask returns the id of an agent's standing task, "" for none.
func (r *ReadTx) CoordinationTask(workspace, agent string) (id string, err error) {
	_, err = r.get(stmtTaskStanding, into(&id), workspace, agent)
	return id, err
}

// MaxPosition returns the last position of a column, 0 for an empty one.
func (r *ReadTx) MaxPosition(workspace, workflow, step string) (position float64, err error) {
	_, err = r.get(stmtTaskLast, into(&position), workspace, workflow, step)
	return position, err
}

// TasksAt returns the tasks that stand at one of the steps and have not ended, by id.
func (r *ReadTx) TasksAt(workspace, workflow string, steps ...string) ([]TaskRow, error) {
	return all(r, stmtTasksAt, scanTask, workspace, workflow, listArg(steps))
}
