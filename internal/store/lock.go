package store

import (
	fairlead "github.com/fairlead/fairlead"
)

var (
	stmtNodeLock      = define("node_lock", `SELECT `+nodeColumns+` FROM nodes WHERE id = ?1 AND epoch = ?2 {{share}}`)
	stmtWorkspaceLock = define("workspace_lock", `SELECT key FROM workspaces WHERE key = ?1 {{lock}}`)
	stmtAgentsLock    = define("agents_lock", `SELECT `+agentColumns+` FROM agents WHERE workspace = ?1 AND key {{in ?2}} ORDER BY key {{lock}}`)
	stmtRunsLock      = define("runs_lock", `SELECT `+runColumns+` FROM runs WHERE id {{in ?1}} ORDER BY id {{lock}}`)
)

// LockNode holds a node's epoch against being declared dead while the command runs. A dead one is a conflict.
func (tx *Tx) LockNode(id string, epoch int64) (fairlead.Node, error) {
	tx.order.take(rankNode, id)
	n, err := maybe(&tx.ReadTx, stmtNodeLock, scanNode, id, epoch)
	if err != nil {
		return fairlead.Node{}, err
	}
	if n == nil || !n.DeadAt.IsZero() {
		return fairlead.Node{}, fairlead.Conflict(fairlead.ReasonBusy, "this node's epoch is dead").WithOp("lock node").
			WithHint("begin a new epoch before claiming or reporting")
	}
	return *n, nil
}

// LockWorkspace is for edges of the task graph: two opposite edges must not both pass.
func (tx *Tx) LockWorkspace(key string) error {
	tx.order.take(rankWorkspace, key)
	tx.memo.locked()
	return one(&tx.ReadTx, "workspace", stmtWorkspaceLock, into(&key), key)
}

// LockAgents locks agents of one workspace, in the order of their keys, and returns them in it. Unknown keys are left
// out.
func (tx *Tx) LockAgents(workspace string, keys ...string) ([]fairlead.AgentProfile, error) {
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = workspace + "/" + k
	}
	tx.order.takeAll(rankAgents, ids)
	return all(&tx.ReadTx, stmtAgentsLock, scanAgent, workspace, listArg(keys))
}

// LockRuns locks runs in the order of their ids and returns them in it. Unknown ids are left out.
func (tx *Tx) LockRuns(ids ...string) ([]fairlead.Run, error) {
	tx.order.takeAll(rankRuns, ids)
	return all(&tx.ReadTx, stmtRunsLock, scanRun, listArg(ids))
}
