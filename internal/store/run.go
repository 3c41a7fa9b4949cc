package store

import (
	"strings"

	fairlead "github.com/fairlead/fairlead"
)

const runColumns = runFields + `, reported`

const runFields = `id, workspace, agent, task, assignment, visit, step, session, status, outcome, reason, absorbed, attempt, priority, person,
settled, light, direct, due, due_at, requested_at, claimed_at, started_at, finished_at, stop_reason, stop_status, error_class, error_message,
fence, claim, node, epoch, merged_into, early, version`

// qualified puts a table's name before each column.
func qualified(table, columns string) string {
	names := strings.Split(columns, ",")
	for i, n := range names {
		names[i] = table + "." + strings.TrimSpace(n)
	}
	return strings.Join(names, ", ")
}

const liveStatuses = `('claimed', 'running', 'stopping')`

var (
	stmtRunInsert = define("run_insert", `
INSERT INTO runs (`+runFields+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35)`)

	stmtRunSave = defineSave("run_save", "run", `
UPDATE runs SET assignment = ?3, visit = ?4, step = ?5, session = ?6, status = ?7, outcome = ?8, absorbed = ?9, attempt = ?10, priority = ?11,
person = ?12, settled = ?13, light = ?14, direct = ?15, due = ?16, due_at = ?17, claimed_at = ?18, started_at = ?19, finished_at = ?20,
stop_reason = ?21, stop_status = ?22, error_class = ?23, error_message = ?24, fence = ?25, claim = ?26, node = ?27, epoch = ?28,
merged_into = ?29, early = ?30, reported = CASE WHEN reported > ?31 THEN reported ELSE ?31 END, version = version + 1
WHERE id = ?1 AND version = ?2`)

	stmtRunReported = define("run_reported", `UPDATE runs SET reported = ?2 WHERE id = ?1`)

	stmtRunLoad   = define("run_load", `SELECT `+runColumns+` FROM runs WHERE id = ?1`)
	stmtRunQueued = define("run_queued", `SELECT `+runColumns+` FROM runs WHERE assignment = ?1 AND status = 'queued'`)
	stmtRunActive = define("runs_active_of", `
SELECT `+runColumns+` FROM runs WHERE task = ?1 AND status IN ('queued', 'claimed', 'running', 'stopping') ORDER BY id`)
	stmtRunLiveOf = define("runs_live_of", `
SELECT `+runColumns+` FROM runs WHERE task = ?1 AND status IN ('queued', 'claimed', 'running', 'stopping')
  AND status <> 'queued' AND visit = ?2 ORDER BY id`)
	stmtRunHomes = define("runs_at_homes", `
SELECT `+qualified("r", runColumns)+` FROM tasks t JOIN runs r ON r.task = t.id AND r.status = 'queued'
WHERE t.tree_home <> '' AND t.tree_home {{in ?1}} ORDER BY r.id`)
	stmtRunOnNode = define("runs_on_node", `
SELECT `+runColumns+` FROM runs WHERE node = ?1 AND epoch = ?2 AND status IN `+liveStatuses+` ORDER BY id`)
	stmtRunBefore = define("runs_before", `
SELECT `+runColumns+` FROM runs WHERE epoch < ?1 AND status IN `+liveStatuses+` ORDER BY id`)
	stmtRunSupersede = define("runs_supersede", `
UPDATE runs SET status = 'superseded', finished_at = ?3, version = version + 1 WHERE task = ?1 AND visit = ?2 AND status = 'queued' RETURNING id`)
	stmtRunLast = define("run_last", `
SELECT `+runColumns+` FROM runs WHERE task = ?1 AND assignment = ?2 ORDER BY requested_at DESC, id DESC LIMIT 1`)
)

func scanRun(s scanner, v *fairlead.Run) error {
	return s.Scan(&v.ID, &v.Workspace, &v.Agent, &v.Task, &v.Assignment, &v.Visit, &v.Step, &v.Session, &v.Status, &v.Outcome, &v.Reason,
		&v.Absorbed, &v.Attempt, &v.Priority, boolCol{&v.Person}, boolCol{&v.Settled}, boolCol{&v.Light}, boolCol{&v.Direct}, boolCol{&v.Due},
		timeCol{&v.DueAt}, timeCol{&v.RequestedAt}, timeCol{&v.ClaimedAt}, timeCol{&v.StartedAt}, timeCol{&v.FinishedAt}, &v.StopReason,
		&v.StopStatus, &v.ErrorClass, &v.ErrorMessage, &v.Fence.Number, &v.Fence.Claim, &v.Node, &v.Epoch, &v.MergedInto, boolCol{&v.Early}, &v.Version, &v.Reported)
}

// InsertRun adds a run; version 0 becomes 1. A second queued run of its assignment is a constraint error.
func (tx *Tx) InsertRun(v *fairlead.Run) error {
	if v.Version == 0 {
		v.Version = 1
	}
	err := tx.later(stmtRunInsert, v.ID, v.Workspace, v.Agent, v.Task, v.Assignment, v.Visit, v.Step, v.Session, v.Status, v.Outcome, v.Reason,
		v.Absorbed, v.Attempt, v.Priority, truth(v.Person), truth(v.Settled), truth(v.Light), truth(v.Direct), truth(v.Due), micros(v.DueAt),
		micros(v.RequestedAt), micros(v.ClaimedAt), micros(v.StartedAt), micros(v.FinishedAt), v.StopReason, v.StopStatus, v.ErrorClass,
		v.ErrorMessage, v.Fence.Number, v.Fence.Claim, v.Node, v.Epoch, v.MergedInto, truth(v.Early), v.Version)
	if err == nil {
		tx.memo.keep(v)
		tx.memo.wrote(v.ID, 0)
	}
	return err
}

// SaveRun writes what may change, by compare and swap on v.Version, and raises it. Reported only grows.
func (tx *Tx) SaveRun(v *fairlead.Run) error {
	err := tx.later(stmtRunSave, v.ID, v.Version, v.Assignment, v.Visit, v.Step, v.Session, v.Status, v.Outcome, v.Absorbed, v.Attempt,
		v.Priority, truth(v.Person), truth(v.Settled), truth(v.Light), truth(v.Direct), truth(v.Due), micros(v.DueAt), micros(v.ClaimedAt),
		micros(v.StartedAt), micros(v.FinishedAt), v.StopReason, v.StopStatus, v.ErrorClass, v.ErrorMessage, v.Fence.Number, v.Fence.Claim,
		v.Node, v.Epoch, v.MergedInto, truth(v.Early), v.Reported)
	if err != nil {
		return err
	}
	v.Version++
	if v.Reported > 0 {
		tx.reported = *v
	}
	tx.memo.keep(v)
	return nil
}

// MarkReported notes the last report of a run that was carried out, see [fairlead.ReportMark]. The run's version stays.
func (tx *Tx) MarkReported(run string, mark int64) error {
	if tx.reported.ID == run && tx.reported.Reported >= mark {
		return nil // it came with the run
	}
	return tx.later(stmtRunReported, run, mark)
}

// LoadRun returns one run.
func (r *ReadTx) LoadRun(id string) (fairlead.Run, error) {
	if v, known := r.memo.run(id); known {
		return v, nil
	}
	var v fairlead.Run
	err := one(r, "run", stmtRunLoad, func(s scanner) error { return scanRun(s, &v) }, id)
	return v, err
}

// QueuedFor returns the queued run of an assignment, nil for none.
func (r *ReadTx) QueuedFor(assignment string) (*fairlead.Run, error) {
	return maybe(r, stmtRunQueued, scanRun, assignment)
}

// LastRunOf returns the newest run of an assignment, nil for none.
func (r *ReadTx) LastRunOf(task, assignment string) (*fairlead.Run, error) {
	if v, known := r.shelf.lastRun(task, assignment); known {
		return v, nil
	}
	return maybe(r, stmtRunLast, scanRun, task, assignment)
}

// QueuedAtHomes returns the queued runs of tasks whose worktree is in one of the homes, by id.
func (r *ReadTx) QueuedAtHomes(homes []string) ([]fairlead.Run, error) {
	return all(r, stmtRunHomes, scanRun, listArg(homes))
}

// LiveRunsOfVisit returns the claimed, running and stopping runs of one visit, by id.
func (r *ReadTx) LiveRunsOfVisit(task string, visit int) ([]fairlead.Run, error) {
	return all(r, stmtRunLiveOf, scanRun, task, visit)
}

// LiveRunsOnNode returns what one epoch of a node works on, by id.
func (r *ReadTx) LiveRunsOnNode(node string, epoch int64) ([]fairlead.Run, error) {
	return all(r, stmtRunOnNode, scanRun, node, epoch)
}

// LiveRunsBefore returns the live runs of earlier epochs, by id: on SQLite, what an earlier start left behind.
func (r *ReadTx) LiveRunsBefore(epoch int64) ([]fairlead.Run, error) {
	return all(r, stmtRunBefore, scanRun, epoch)
}

// SupersedeQueued ends the queued runs of a visit and returns their ids.
func (tx *Tx) SupersedeQueued(task string, visit int) ([]string, error) {
	tx.memo.forgetRuns()
	return all(&tx.ReadTx, stmtRunSupersede, scanText, task, visit, micros(tx.Now()))
}
