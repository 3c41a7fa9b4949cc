package store

var (
	stmtBudgetDelete       = define("budget_delete", `DELETE FROM budgets WHERE id = ?1`)
	stmtBudgetForgetAsked  = define("budget_requests_delete", `DELETE FROM budget_requests WHERE budget = ?1`)
	stmtBudgetForgetAlerts = define("budget_alerts_delete", `DELETE FROM budget_alerts WHERE budget = ?1`)
)

// DeleteBudget removes a budget that this transaction has locked, with what it told and asked. Runs that it stopped and
// that have not heard yet that they may go on are still listed by task and by run.
func (tx *Tx) DeleteBudget(id string) error {
	for _, st := range []*Stmt{stmtBudgetForgetAsked, stmtBudgetForgetAlerts, stmtBudgetDelete} {
		if err := tx.later(st, id); err != nil {
			return err
		}
	}
	return nil
}
