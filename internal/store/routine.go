package store

import (
	fairlead "github.com/fairlead/fairlead"
)

const routineColumns = `workspace, key, profile, secret, paused, pause_reason, paused_at, anchor, waiting, last_at, last_task, version, updated_at`

var (
	stmtRoutinePut = define("routine_put", `
INSERT INTO routines (`+routineColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 1, ?12)
ON CONFLICT (workspace, key) DO UPDATE SET profile = ?3, secret = ?4, paused = ?5, pause_reason = ?6, paused_at = ?7, anchor = ?8,
  waiting = ?9, last_at = ?10, last_task = ?11, version = routines.version + 1, updated_at = ?12
RETURNING version`)
	stmtRoutineLoad = define("routine_load", `SELECT `+routineColumns+` FROM routines WHERE workspace = ?1 AND key = ?2`)
	stmtRoutines    = define("routines", `SELECT `+routineColumns+` FROM routines WHERE workspace = ?1 ORDER BY key`)

	stmtRoutineTaskPut  = define("routine_task_put", `INSERT INTO routine_tasks (task, workspace, routine) VALUES (?1, ?2, ?3)`)
	stmtRoutineOf       = define("routine_of", `SELECT routine FROM routine_tasks WHERE task = ?1`)
	stmtRoutineTaskDrop = define("routine_task_drop", `
DELETE FROM routine_tasks WHERE workspace = ?1 AND routine = ?2
  AND EXISTS (SELECT 1 FROM tasks t WHERE t.id = routine_tasks.task AND (t.terminal <> '' OR t.archived_at <> 0))`)
	stmtRoutineOpen = define("routine_open", `
SELECT t.identifier FROM routine_tasks r JOIN tasks t ON t.id = r.task
WHERE r.workspace = ?1 AND r.routine = ?2 AND t.terminal = '' AND t.archived_at = 0 ORDER BY t.number`)
)

func scanRoutine(s scanner, r *fairlead.Routine) error {
	var workspace, key string
	err := s.Scan(&workspace, &key, jsonCol{r}, &r.Secret, boolCol{&r.Paused}, &r.PauseReason, timeCol{&r.PausedAt}, timeCol{&r.Anchor},
		jsonCol{&r.Waiting}, timeCol{&r.LastAt}, &r.LastTask, &r.Version, timeCol{&r.UpdatedAt})
	r.Workspace, r.Key = workspace, key
	return err
}

// PutRoutine writes a routine as it now is; it fills in version and time. Whoever changes one holds its workspace's lock.
func (tx *Tx) PutRoutine(r *fairlead.Routine) error {
	r.UpdatedAt = tx.Now()
	return one(&tx.ReadTx, "routine", stmtRoutinePut, into(&r.Version), r.Workspace, r.Key, jsonArg{r, "{}"}, r.Secret, truth(r.Paused),
		r.PauseReason, micros(r.PausedAt), micros(r.Anchor), pointerArg(r.Waiting), micros(r.LastAt), r.LastTask, micros(r.UpdatedAt))
}

// LoadRoutine returns one routine.
func (r *ReadTx) LoadRoutine(workspace, key string) (fairlead.Routine, error) {
	var v fairlead.Routine
	err := one(r, "routine", stmtRoutineLoad, func(s scanner) error { return scanRoutine(s, &v) }, workspace, key)
	return v, err
}

// ListRoutines returns the routines of a workspace, by key.
func (r *ReadTx) ListRoutines(workspace string) ([]fairlead.Routine, error) {
	return all(r, stmtRoutines, scanRoutine, workspace)
}

// PutRoutineTask remembers that a routine made a task.
func (tx *Tx) PutRoutineTask(task, workspace, routine string) error {
	return tx.later(stmtRoutineTaskPut, task, workspace, routine)
}

// DropRoutineTasks forgets the tasks of a routine that have ended.
func (tx *Tx) DropRoutineTasks(workspace, routine string) error {
	return tx.later(stmtRoutineTaskDrop, workspace, routine)
}

// RoutineOf returns the routine that made a task and counts it still, "" for none.
func (r *ReadTx) RoutineOf(task string) (key string, err error) {
	_, err = r.get(stmtRoutineOf, into(&key), task)
	return key, err
}

// OpenRoutineTasks returns the identifiers of a routine's tasks that have not ended, oldest first.
func (r *ReadTx) OpenRoutineTasks(workspace, routine string) ([]string, error) {
	return all(r, stmtRoutineOpen, scanText, workspace, routine)
}
