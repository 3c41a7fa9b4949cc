package store

import "strings"

// TaskFilter narrows a list of tasks; empty fields match everything.
type TaskFilter struct {
	Workspace string
	Workflow  string
	Step      string
	Label     string
	Query     string // substring of identifier, title or description, in any case
	Parent    string
	Archived  bool // archived tasks too
	Ephemeral bool // ephemeral tasks too
	Open      bool // only tasks that have not ended
}

const taskFilter = `
  AND (?3 = '' OR step = ?3) AND (?4 = '' OR {{has labels ?4}}) AND (?5 = '' OR {{contains search ?5}}) AND (?6 = '' OR parent = ?6)
  AND (?7 = 1 OR archived_at = 0) AND (?8 = 1 OR ephemeral = 0) AND (?9 = 0 OR terminal = '')`

var (
	stmtTasksNewest = define("tasks_newest", `
SELECT `+taskColumns+` FROM tasks WHERE workspace = ?1 AND (?2 = '' OR workflow = ?2)`+taskFilter+`
  AND (created_at, id) < (?10, ?11) ORDER BY created_at DESC, id DESC LIMIT ?12`)

	stmtTasksColumn = define("tasks_column", `
SELECT `+taskColumns+` FROM tasks WHERE workspace = ?1 AND workflow = ?2 AND step = ?3`+taskFilter+`
  AND (position, id) > (?10, ?11) ORDER BY position, id LIMIT ?12`)
)

func (f TaskFilter) args() []any {
	return []any{f.Workspace, f.Workflow, f.Step, f.Label, Fold(strings.TrimSpace(f.Query)), f.Parent, truth(f.Archived), truth(f.Ephemeral), truth(f.Open)}
}

// ListTasks returns a page: the tasks of one step of one workflow in order of position, any others newest first.
func (r *ReadTx) ListTasks(f TaskFilter, p Page) (tasks []TaskRow, next string, err error) {
	limit := p.limit()
	if f.Workflow != "" && f.Step != "" {
		position, id, err := p.behind()
		if err != nil {
			return nil, "", err
		}
		rows, err := all(r, stmtTasksColumn, scanTask, append(f.args(), position, id, limit+1)...)
		tasks, next = cut(rows, limit, func(t *TaskRow) string { return positionCursor(t.Position, t.ID) })
		return tasks, next, err
	}
	at, id, err := p.before()
	if err != nil {
		return nil, "", err
	}
	rows, err := all(r, stmtTasksNewest, scanTask, append(f.args(), at, id, limit+1)...)
	tasks, next = cut(rows, limit, func(t *TaskRow) string { return timeCursor(t.CreatedAt, t.ID) })
	return tasks, next, err
}
