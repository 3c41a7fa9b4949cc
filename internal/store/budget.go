package store

import (
	"time"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
)

// Budget is a limit with what was spent in its running period.
type Budget struct {
	policy.Budget
	Workspace string
	Task      string // whose scope it is about: of a task's and an assignment's budget; "" otherwise
	Span      policy.Span
	Spent     int64 // on its meter
	Unpriced  int64 // model calls whose price is unknown
	By        fairlead.Actor
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64 // of the limit; spending does not raise it
}

// Standing is the budget as policy weighs it.
func (b *Budget) Standing() *policy.Standing {
	s := &policy.Standing{Budget: b.Budget, Span: b.Span}
	switch b.Meter {
	case policy.MeterMoney:
		s.Spent.Money, s.Spent.Unpriced = b.Spent, b.Unpriced
	case policy.MeterTokens:
		s.Spent.Tokens = b.Spent
	case policy.MeterRuns:
		s.Spent.Runs = b.Spent
	case policy.MeterWall:
		s.Spent.Wall = b.Spent
	}
	return s
}

const budgetColumns = `id, workspace, scope, ref, task, meter, amount, period, zone, alerts, action, generation, spent, unpriced, span_start, span_end,
span, by_actor, created_at, updated_at, version`

var (
	stmtBudgetInsert = define("budget_insert", `
INSERT INTO budgets (`+budgetColumns+`)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)
ON CONFLICT (workspace, scope, ref, meter, period) DO NOTHING`)
	stmtBudgetSave = define("budget_save", `
UPDATE budgets SET amount = ?3, zone = ?4, alerts = ?5, action = ?6, generation = ?7, spent = ?8, unpriced = ?9, span_start = ?10, span_end = ?11,
  span = ?12, updated_at = ?13, version = version + 1
WHERE id = ?1 AND version = ?2`)
	stmtBudgetCharge = define("budget_charge", `
UPDATE budgets SET spent = spent + ?2, unpriced = unpriced + ?3 WHERE id = ?1 RETURNING `+budgetColumns)
	stmtBudgetLoad = define("budget_load", `SELECT `+budgetColumns+` FROM budgets WHERE id = ?1`)
	stmtBudgetFind = define("budget_find", `
SELECT `+budgetColumns+` FROM budgets WHERE workspace = ?1 AND scope = ?2 AND ref = ?3 AND meter = ?4 AND period = ?5`)
	stmtBudgets = define("budgets", `
SELECT `+budgetColumns+` FROM budgets WHERE workspace = ?1 ORDER BY scope, ref, meter, period`)
	stmtBudgetScopes = define("budget_scopes", `SELECT id, scope, ref, meter FROM budgets WHERE workspace = ?1 ORDER BY id`)
	stmtBudgetsIn    = define("budgets_in", `SELECT `+budgetColumns+` FROM budgets WHERE id {{in ?1}} ORDER BY id`)
	stmtBudgetsLock  = define("budgets_lock", `SELECT `+budgetColumns+` FROM budgets WHERE id {{in ?1}} ORDER BY id {{lock}}`)
)

func scanBudget(s scanner, b *Budget) error {
	return s.Scan(&b.ID, &b.Workspace, &b.Scope, &b.Ref, &b.Task, &b.Meter, &b.Limit, &b.Period, &b.Zone, jsonCol{&b.Alerts}, &b.Action,
		&b.Generation, &b.Spent, &b.Unpriced, timeCol{&b.Span.Start}, timeCol{&b.Span.End}, &b.Span.Key, jsonCol{&b.By}, timeCol{&b.CreatedAt},
		timeCol{&b.UpdatedAt}, &b.Version)
}

// InsertBudget adds a budget; false: there is one for the same scope, meter and period.
func (tx *Tx) InsertBudget(b *Budget) (bool, error) {
	if b.Version == 0 {
		b.Version = 1
	}
	b.CreatedAt, b.UpdatedAt = tx.Now(), tx.Now()
	return tx.taken(stmtBudgetInsert, b.ID, b.Workspace, string(b.Scope), b.Ref, b.Task, string(b.Meter), b.Limit, string(b.Period), b.Zone,
		listArg(b.Alerts), string(b.Action), b.Generation, b.Spent, b.Unpriced, micros(b.Span.Start), micros(b.Span.End), b.Span.Key, actorArg(b.By),
		micros(b.CreatedAt), micros(b.UpdatedAt), b.Version)
}

// SaveBudget writes limit, period and spending of a budget that this transaction has locked, and raises its version.
func (tx *Tx) SaveBudget(b *Budget) error {
	b.UpdatedAt = tx.Now()
	n, err := tx.exec(stmtBudgetSave, b.ID, b.Version, b.Limit, b.Zone, listArg(b.Alerts), string(b.Action), b.Generation, b.Spent, b.Unpriced,
		micros(b.Span.Start), micros(b.Span.End), b.Span.Key, micros(b.UpdatedAt))
	if err := saved("budget", n, err); err != nil {
		return err
	}
	b.Version++
	return nil
}

// ChargeBudget adds to what was spent and returns the budget with it. The row stays locked until the commit, so of two
// charges exactly one crosses a threshold.
func (tx *Tx) ChargeBudget(id string, amount, unpriced int64) (Budget, error) {
	var b Budget
	err := one(&tx.ReadTx, "budget", stmtBudgetCharge, func(s scanner) error { return scanBudget(s, &b) }, id, amount, unpriced)
	return b, err
}

// LockBudgets locks budgets in the order of their ids and returns them in it. Unknown ids are left out.
func (tx *Tx) LockBudgets(ids ...string) ([]Budget, error) {
	tx.order.takeAll(rankBudgets, ids)
	return all(&tx.ReadTx, stmtBudgetsLock, scanBudget, listArg(ids))
}

// StopBudgets returns budgets as they are now and keeps them so until the commit, for a run that they may stop. Like a
// charge it comes wherever a run reports, after whatever else that locked, so it stands outside the order of locks: two
// reports that cross are found by the database, and one of them is carried out again.
func (tx *Tx) StopBudgets(ids []string) ([]Budget, error) {
	return all(&tx.ReadTx, stmtBudgetsLock, scanBudget, listArg(ids))
}

// LoadBudget returns one budget.
func (r *ReadTx) LoadBudget(id string) (Budget, error) {
	var b Budget
	err := one(r, "budget", stmtBudgetLoad, func(s scanner) error { return scanBudget(s, &b) }, id)
	return b, err
}

// FindBudget returns the budget of a scope, meter and period, nil for none.
func (r *ReadTx) FindBudget(workspace string, b policy.Budget) (*Budget, error) {
	return maybe(r, stmtBudgetFind, scanBudget, workspace, string(b.Scope), b.Ref, string(b.Meter), string(b.Period))
}

// ListBudgets returns the budgets of a workspace, by scope.
func (r *ReadTx) ListBudgets(workspace string) ([]Budget, error) {
	return all(r, stmtBudgets, scanBudget, workspace)
}

// BudgetsIn returns budgets by their ids, in their order. Unknown ids are left out.
func (r *ReadTx) BudgetsIn(ids []string) ([]Budget, error) {
	return all(r, stmtBudgetsIn, scanBudget, listArg(ids))
}

// BudgetScopes says which budgets a workspace has: id, scope, ref and meter, by id.
func (r *ReadTx) BudgetScopes(workspace string) ([]policy.Budget, error) {
	return all(r, stmtBudgetScopes, func(s scanner, b *policy.Budget) error {
		return s.Scan(&b.ID, &b.Scope, &b.Ref, &b.Meter)
	}, workspace)
}
