package store

import (
	fairlead "github.com/fairlead/fairlead"
)

const agentColumns = `workspace, key, profile, parallel, paused, pause_reason, version, updated_at`

var (
	stmtAgentUpsert = define("agent_upsert", `
INSERT INTO agents (workspace, key, profile, duty, parallel, account, version, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?7, 1, ?6)
ON CONFLICT (workspace, key) DO UPDATE SET profile = ?3, duty = ?4, parallel = ?5, account = ?7, version = agents.version + 1, updated_at = ?6
RETURNING paused, pause_reason, version`)
	stmtAgentPause = define("agent_pause", `
UPDATE agents SET paused = ?3, pause_reason = ?4, version = version + 1, updated_at = ?5 WHERE workspace = ?1 AND key = ?2`)
	stmtAgentLoad  = define("agent_load", `SELECT `+agentColumns+` FROM agents WHERE workspace = ?1 AND key = ?2`)
	stmtAgents     = define("agents", `SELECT `+agentColumns+` FROM agents WHERE workspace = ?1 ORDER BY key`)
	stmtDuties     = define("duties", `SELECT duty, MIN(key) FROM agents WHERE workspace = ?1 AND duty <> '' GROUP BY duty ORDER BY duty`)
	stmtAgentQueue = define("agent_queued", `
SELECT COUNT(*) FROM runs WHERE workspace = ?1 AND agent = ?2 AND status IN ('queued', 'claimed', 'running', 'stopping') AND status = 'queued'`)
	stmtAgentLive = define("agent_live", `
SELECT `+runColumns+` FROM runs WHERE workspace = ?1 AND agent = ?2 AND status IN ('queued', 'claimed', 'running', 'stopping')
  AND status <> 'queued' ORDER BY id`)
)

func scanAgent(s scanner, a *fairlead.AgentProfile) error {
	var key, workspace string
	var parallel int
	err := s.Scan(&workspace, &key, jsonCol{a}, &parallel, boolCol{&a.Paused}, &a.PauseReason, &a.Version, timeCol{&a.UpdatedAt})
	a.Workspace, a.Key = workspace, key
	return err
}

// UpsertAgent writes a profile; whether the agent is paused stays as it is. It fills in version, time and pause.
func (tx *Tx) UpsertAgent(a *fairlead.AgentProfile) error {
	a.UpdatedAt = tx.Now()
	return one(&tx.ReadTx, "agent", stmtAgentUpsert, into(boolCol{&a.Paused}, &a.PauseReason, &a.Version),
		a.Workspace, a.Key, jsonArg{a, "{}"}, a.Duty, a.Slots(), micros(a.UpdatedAt), a.AccountRef())
}

// SetAgentPaused pauses or resumes an agent.
func (tx *Tx) SetAgentPaused(workspace, key string, paused bool, reason string) error {
	n, err := tx.exec(stmtAgentPause, workspace, key, truth(paused), reason, micros(tx.Now()))
	if err == nil && n == 0 {
		return notFound("agent")
	}
	return err
}

// LoadAgent returns one profile.
func (r *ReadTx) LoadAgent(workspace, key string) (fairlead.AgentProfile, error) {
	var a fairlead.AgentProfile
	err := one(r, "agent", stmtAgentLoad, func(s scanner) error { return scanAgent(s, &a) }, workspace, key)
	return a, err
}

// ListAgents returns the profiles of a workspace, by key.
func (r *ReadTx) ListAgents(workspace string) ([]fairlead.AgentProfile, error) {
	return all(r, stmtAgents, scanAgent, workspace)
}

// Duties returns which agent has which duty; of several, the first by key.
func (r *ReadTx) Duties(workspace string) (map[string]string, error) {
	duties := map[string]string{}
	err := r.list(stmtDuties, func(s scanner) error {
		var duty, key string
		err := s.Scan(&duty, &key)
		duties[duty] = key
		return err
	}, workspace)
	return duties, err
}

// QueuedOf counts the queued runs of an agent.
func (r *ReadTx) QueuedOf(workspace, agent string) (n int, err error) {
	_, err = r.get(stmtAgentQueue, into(&n), workspace, agent)
	return n, err
}

// LiveRunsOf returns the live runs of an agent, by id.
func (r *ReadTx) LiveRunsOf(workspace, agent string) ([]fairlead.Run, error) {
	return all(r, stmtAgentLive, scanRun, workspace, agent)
}
