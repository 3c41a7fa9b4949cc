package store

import (
	fairlead "github.com/fairlead/fairlead"
)

var stmtRunsActiveOf = define("runs_active_by", `
SELECT `+runColumns+` FROM runs WHERE workspace = ?1 AND status IN ('queued', 'claimed', 'running', 'stopping') ORDER BY agent, id LIMIT ?2`)

// ActiveRunsOf returns queued and live runs of a workspace, by agent and age, at most limit of them.
func (r *ReadTx) ActiveRunsOf(workspace string, limit int) ([]fairlead.Run, error) {
	return all(r, stmtRunsActiveOf, scanRun, workspace, limit)
}
