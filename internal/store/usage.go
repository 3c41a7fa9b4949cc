package store

import (
	"time"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
)

// kin is a task with its descendants.
const kin = `WITH RECURSIVE kin (id) AS (SELECT id FROM tasks WHERE id = ?2 UNION ALL SELECT t.id FROM tasks t JOIN kin k ON t.parent = k.id AND t.parent <> '') `

const usageColumns = `run, model, day, workspace, agent, task, assignment, calls, input, output, cache_read, cache_write, money, unpriced, first_at, last_at`

var (
	stmtUsageAdd = define("usage_add", `
INSERT INTO usage (`+usageColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?15)
ON CONFLICT (run, model, day) DO UPDATE SET calls = usage.calls + ?8, input = usage.input + ?9, output = usage.output + ?10,
  cache_read = usage.cache_read + ?11, cache_write = usage.cache_write + ?12, money = usage.money + ?13, unpriced = usage.unpriced + ?14,
  last_at = ?15`)
	stmtUsage = define("usage_of", `
SELECT `+usageColumns+` FROM usage WHERE workspace = ?1 AND day >= ?2 AND day <= ?3 ORDER BY day, task, run, model`)
	stmtUsageRun = define("usage_of_run", `SELECT `+usageColumns+` FROM usage WHERE run = ?1 ORDER BY day, model`)

	stmtAncestors = define("task_ancestors", `
WITH RECURSIVE up (id, parent) AS (
  SELECT id, parent FROM tasks WHERE id = ?1 UNION ALL SELECT t.id, t.parent FROM tasks t JOIN up u ON t.id = u.parent
) SELECT id FROM up WHERE id <> ?1 ORDER BY id`)
)

func scanUsage(s scanner, u *fairlead.Usage) error {
	return s.Scan(&u.Run, &u.Model, &u.Day, &u.Workspace, &u.Agent, &u.Task, &u.Assignment, &u.Calls, &u.Input, &u.Output, &u.CacheRead,
		&u.CacheWrite, &u.Money, &u.Unpriced, timeCol{&u.FirstAt}, timeCol{&u.LastAt})
}

// AddUsage adds to what a run used of a model in a day.
func (tx *Tx) AddUsage(u fairlead.Usage) error {
	return tx.later(stmtUsageAdd, u.Run, u.Model, u.Day, u.Workspace, u.Agent, u.Task, u.Assignment, u.Calls, u.Input, u.Output, u.CacheRead,
		u.CacheWrite, u.Money, u.Unpriced, micros(tx.Now()))
}

// ListUsage returns what a workspace used from the first day to the last, both included.
func (r *ReadTx) ListUsage(workspace, from, to string) ([]fairlead.Usage, error) {
	return all(r, stmtUsage, scanUsage, workspace, from, to)
}

// UsageOf returns what a run used.
func (r *ReadTx) UsageOf(run string) ([]fairlead.Usage, error) {
	return all(r, stmtUsageRun, scanUsage, run)
}

// Ancestors returns a task's parent, its parent and so on, by id.
func (r *ReadTx) Ancestors(task string) ([]string, error) {
	return all(r, stmtAncestors, scanText, task)
}

// What was used or worked under a scope since a time: a row counts whole when its last use is not earlier.
const (
	sumUsage = `SELECT COALESCE(SUM(money), 0), COALESCE(SUM(unpriced), 0), COALESCE(SUM(input + output + cache_read + cache_write), 0) FROM usage
WHERE workspace = ?1 AND last_at >= ?3 AND `
	sumRuns = `SELECT COUNT(*), COALESCE(SUM((CASE WHEN finished_at = 0 THEN claimed_at ELSE finished_at END - claimed_at) / 1000), 0) FROM runs
WHERE workspace = ?1 AND claimed_at > 0 AND claimed_at >= ?3 AND `
	labelled = `task IN (SELECT id FROM tasks WHERE workspace = ?1 AND {{has labels ?2}})`
)

// spentStmts are the two sums of one scope.
type spentStmts struct{ usage, runs *Stmt }

func defineSpent(scope, before, where string) spentStmts {
	return spentStmts{
		define("usage_spent_"+scope, before+sumUsage+where),
		define("runs_spent_"+scope, before+sumRuns+where),
	}
}

var (
	spentWorkspace  = defineSpent("workspace", "", "CAST(?2 AS TEXT) = ''")
	spentProject    = defineSpent("project", "", labelled)
	spentAgent      = defineSpent("agent", "", "agent = ?2")
	spentTask       = defineSpent("task", kin, "task IN (SELECT id FROM kin)")
	spentAssignment = defineSpent("assignment", "", "assignment = ?2")
)

// SpentSince sums what was spent under a scope since a time (zero = ever): what a new budget begins with.
func (r *ReadTx) SpentSince(workspace string, b policy.Budget, since time.Time) (s policy.Spend, err error) {
	st, ref := spentWorkspace, b.Ref
	switch b.Scope {
	case policy.ScopeWorkspace:
	case policy.ScopeProject:
		st, ref = spentProject, "project:"+b.Ref
	case policy.ScopeAgent:
		st = spentAgent
	case policy.ScopeTask:
		st = spentTask
	case policy.ScopeAssignment:
		st = spentAssignment
	}
	if _, err = r.get(st.usage, into(&s.Money, &s.Unpriced, &s.Tokens), workspace, ref, micros(since)); err != nil {
		return s, err
	}
	_, err = r.get(st.runs, into(&s.Runs, &s.Wall), workspace, ref, micros(since))
	return s, err
}

// Standpoint says where an unfinished task stands.
type Standpoint struct {
	Task     string
	Workflow string
	Version  int
	Step     string
	Visit    int
	Agent    string // the task's own
}

const standpoints = `SELECT id, workflow, workflow_version, step, visit, agent FROM tasks
WHERE workspace = ?1 AND terminal = '' AND archived_at = 0 AND visit > 0`

var (
	stmtStandingAll     = define("standing_all", standpoints+` AND CAST(?2 AS TEXT) = '' ORDER BY id`)
	stmtStandingProject = define("standing_project", standpoints+` AND {{has labels ?2}} ORDER BY id`)
	stmtStandingOne     = define("standing_one", standpoints+` AND id = ?2 ORDER BY id`)
	stmtStandingTask    = define("standing_task", kin+standpoints+` AND id IN (SELECT id FROM kin) ORDER BY id`)
)

// Standing returns where the unfinished tasks of a budget's scope stand. For an agent's budget these are all of the
// workspace: where the agent works is for the workflow to say.
func (r *ReadTx) Standing(b *Budget) ([]Standpoint, error) {
	st, ref := stmtStandingAll, ""
	switch b.Scope {
	case policy.ScopeWorkspace, policy.ScopeAgent:
	case policy.ScopeProject:
		st, ref = stmtStandingProject, "project:"+b.Ref
	case policy.ScopeTask:
		st, ref = stmtStandingTask, b.Task
	case policy.ScopeAssignment:
		st, ref = stmtStandingOne, b.Task
	}
	return all(r, st, func(s scanner, p *Standpoint) error {
		return s.Scan(&p.Task, &p.Workflow, &p.Version, &p.Step, &p.Visit, &p.Agent)
	}, b.Workspace, ref)
}
