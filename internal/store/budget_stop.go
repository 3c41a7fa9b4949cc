package store

var (
	stmtBudgetAsk = define("budget_request_put", `
INSERT INTO budget_requests (budget, generation, span, request) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING`)
	stmtBudgetAsked = define("budget_request_of", `
SELECT request FROM budget_requests WHERE budget = ?1 AND generation = ?2 AND span = ?3`)

	stmtBudgetAlert = define("budget_alert_put", `
INSERT INTO budget_alerts (budget, generation, threshold, span, at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING`)
	stmtBudgetAlerts = define("budget_alerts_of", `
SELECT threshold FROM budget_alerts WHERE budget = ?1 AND generation = ?2 AND span = ?3 ORDER BY threshold`)

	stmtWaiterPut = define("budget_waiter_put", `
INSERT INTO budget_waiters (run, budget, task, assignment, at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING`)
	stmtWaiterRelease = define("budget_waiters_release", `UPDATE budget_waiters SET released = 1 WHERE budget = ?1`)
	stmtWaiterDrop    = define("budget_waiters_drop", `DELETE FROM budget_waiters WHERE run = ?1`)
	stmtWaitersOf     = define("budget_waiters_of_budget", `
SELECT run, budget, task, assignment, released FROM budget_waiters WHERE budget = ?1 ORDER BY task, run`)
	stmtWaitersTask = define("budget_waiters_of_task", `
SELECT run, budget, task, assignment, released FROM budget_waiters WHERE task = ?1 ORDER BY run, budget`)
	stmtWaitersRun = define("budget_waiters_of_run", `
SELECT run, budget, task, assignment, released FROM budget_waiters WHERE run = ?1 ORDER BY budget`)
)

// BudgetWaiter is a run that a budget stopped. A live one is still on its way to its end.
type BudgetWaiter struct {
	Run        string
	Budget     string
	Task       string
	Assignment string
	Released   bool
}

func scanWaiter(s scanner, w *BudgetWaiter) error {
	return s.Scan(&w.Run, &w.Budget, &w.Task, &w.Assignment, boolCol{&w.Released})
}

// PutBudgetRequest makes a request the one of a budget's limit in its period; false: there is one.
func (tx *Tx) PutBudgetRequest(b *Budget, request string) (bool, error) {
	return tx.taken(stmtBudgetAsk, b.ID, b.Generation, b.Span.Key, request)
}

// BudgetRequest returns the request about a budget's limit in its period, "" for none.
func (r *ReadTx) BudgetRequest(b *Budget) (request string, err error) {
	_, err = r.get(stmtBudgetAsked, into(&request), b.ID, b.Generation, b.Span.Key)
	return request, err
}

// PutBudgetAlert notes that a threshold was told of; false: it was before.
func (tx *Tx) PutBudgetAlert(b *Budget, threshold int) (bool, error) {
	return tx.taken(stmtBudgetAlert, b.ID, b.Generation, threshold, b.Span.Key, micros(tx.Now()))
}

// BudgetAlerts returns the thresholds of a budget's limit that were told of in its period, ascending.
func (r *ReadTx) BudgetAlerts(b *Budget) ([]int, error) {
	return all(r, stmtBudgetAlerts, func(s scanner, n *int) error { return s.Scan(n) }, b.ID, b.Generation, b.Span.Key)
}

// PutBudgetWaiter notes that a budget stops a run; again changes nothing.
func (tx *Tx) PutBudgetWaiter(w BudgetWaiter) error {
	return tx.later(stmtWaiterPut, w.Run, w.Budget, w.Task, w.Assignment, micros(tx.Now()))
}

// ReleaseBudgetWaiters lets everybody go on whom the budget stopped, and returns them.
func (tx *Tx) ReleaseBudgetWaiters(budget string) ([]BudgetWaiter, error) {
	if n, err := tx.exec(stmtWaiterRelease, budget); err != nil || n == 0 {
		return nil, err
	}
	return tx.BudgetWaiters(budget)
}

// DropBudgetWaiter forgets that a run was stopped, by whatever budget.
func (tx *Tx) DropBudgetWaiter(run string) error {
	return tx.later(stmtWaiterDrop, run)
}

// BudgetWaiters returns the runs that a budget stopped, by task.
func (r *ReadTx) BudgetWaiters(budget string) ([]BudgetWaiter, error) {
	return all(r, stmtWaitersOf, scanWaiter, budget)
}

// BudgetWaitersOf returns the stopped runs of a task, by run.
func (r *ReadTx) BudgetWaitersOf(task string) ([]BudgetWaiter, error) {
	return all(r, stmtWaitersTask, scanWaiter, task)
}

// BudgetWaits returns the budgets that stopped a run.
func (r *ReadTx) BudgetWaits(run string) ([]BudgetWaiter, error) {
	return all(r, stmtWaitersRun, scanWaiter, run)
}
