package store

import (
	"slices"
	"time"

	fairlead "github.com/fairlead/fairlead"
)

const sessionColumns = `id, task, agent, capacity, state, delivered, in_flight, execution, external, turns, created_at`

var (
	stmtSessionInsert = define("session_insert", `
INSERT INTO sessions (`+sessionColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT (task, agent, capacity) DO NOTHING`)
	stmtSessionFind = define("session_find", `SELECT `+sessionColumns+` FROM sessions WHERE task = ?1 AND agent = ?2 AND capacity = ?3`)
	stmtSessionLoad = define("session_load", `SELECT `+sessionColumns+` FROM sessions WHERE id = ?1`)
	stmtSessions    = define("sessions", `SELECT `+sessionColumns+` FROM sessions WHERE task = ?1 ORDER BY id`)
	stmtSessionSave = defineSave("session_save", "session", `
UPDATE sessions SET state = ?2, delivered = ?3, in_flight = ?4, execution = ?5, external = ?6, turns = ?7 WHERE id = ?1`)
	stmtSessionsForget = define("sessions_forget", `UPDATE sessions SET external = '' WHERE task = ?1 AND external <> ''`)
	stmtSessionsReset  = define("sessions_reset", `
UPDATE sessions SET state = 'idle', execution = ''
WHERE execution <> '' AND execution IN (SELECT id FROM agent_executions WHERE node = ?1)`)

	stmtExecutionInsert = define("execution_insert", `
INSERT INTO agent_executions (id, session, node, state, started_at) VALUES (?1, ?2, ?3, ?4, ?5)`)
	stmtExecutionEnd   = define("execution_end", `UPDATE agent_executions SET state = ?2, ended_at = ?3 WHERE id = ?1 AND ended_at = 0`)
	stmtExecutionState = define("execution_state", `UPDATE agent_executions SET state = ?2 WHERE id = ?1 AND ended_at = 0`)
	stmtExecutions     = define("executions", `
SELECT id, session, node, state, started_at, ended_at FROM agent_executions WHERE node = ?1 AND ended_at = 0 ORDER BY id`)
)

func scanSession(s scanner, v *fairlead.Session) error {
	return s.Scan(&v.ID, &v.Task, &v.Agent, &v.Capacity, &v.State, &v.Delivered, &v.InFlight, &v.Execution, &v.External, &v.Turns,
		timeCol{&v.CreatedAt})
}

// EnsureSession begins a conversation, or returns the one that its agent has about its task in its capacity already.
func (tx *Tx) EnsureSession(v fairlead.Session) (fairlead.Session, error) {
	if tx.memo.made && v.Task == tx.memo.task && !tx.memo.met(&v) {
		tx.memo.keepSession(&v)
		return v, tx.later(stmtSessionInsert, v.ID, v.Task, v.Agent, v.Capacity, v.State, v.Delivered, v.InFlight, v.Execution, v.External, v.Turns,
			micros(v.CreatedAt))
	}
	if err := tx.writeSessions(); err != nil {
		return v, err
	}
	// Looking first is cheaper: from the second visit on it is there.
	there, err := maybe(&tx.ReadTx, stmtSessionFind, scanSession, v.Task, v.Agent, v.Capacity)
	if err != nil {
		return v, err
	}
	if there != nil {
		tx.memo.keepSession(there)
		return *there, nil
	}
	n, err := tx.exec(stmtSessionInsert, v.ID, v.Task, v.Agent, v.Capacity, v.State, v.Delivered, v.InFlight, v.Execution, v.External, v.Turns,
		micros(v.CreatedAt))
	if err != nil {
		return v, err
	}
	if n == 1 {
		tx.memo.keepSession(&v)
		return v, nil
	}
	err = one(&tx.ReadTx, "session", stmtSessionFind, func(s scanner) error { return scanSession(s, &v) }, v.Task, v.Agent, v.Capacity)
	return v, err
}

// SaveSession writes everything that may change. A session of the locked task is written once, when the transaction
// commits or somebody asks the database for sessions: a command changes it more than once.
func (tx *Tx) SaveSession(v *fairlead.Session) error {
	m := &tx.memo
	m.keepSession(v)
	if m.task == "" || v.Task != m.task {
		return tx.writeSession(v)
	}
	if !slices.Contains(m.unwritten, v.ID) {
		m.unwritten = append(m.unwritten, v.ID)
	}
	return nil
}

// writeSessions writes what was saved. Whatever reads or writes the table by other means comes after it.
func (r *ReadTx) writeSessions() error {
	ids := r.memo.unwritten
	r.memo.unwritten = nil
	for _, id := range ids {
		v := r.memo.sessions[id]
		if err := r.writeSession(&v); err != nil {
			return err
		}
	}
	return nil
}

func (r *ReadTx) writeSession(v *fairlead.Session) error {
	return r.later(stmtSessionSave, v.ID, v.State, v.Delivered, v.InFlight, v.Execution, v.External, v.Turns)
}

// LoadSession returns one session.
func (r *ReadTx) LoadSession(id string) (fairlead.Session, error) {
	if v, known := r.memo.sessions[id]; known {
		return v, nil
	}
	var v fairlead.Session
	err := one(r, "session", stmtSessionLoad, func(s scanner) error { return scanSession(s, &v) }, id)
	if err == nil {
		r.memo.keepSession(&v)
	}
	return v, err
}

// ListSessions returns the sessions of a task, by id.
func (r *ReadTx) ListSessions(task string) ([]fairlead.Session, error) {
	if err := r.writeSessions(); err != nil {
		return nil, err
	}
	return all(r, stmtSessions, scanSession, task)
}

// ForgetConversations drops the agents' own names of a task's conversations: they were on a node that is gone.
func (tx *Tx) ForgetConversations(task string) error {
	if err := tx.writeSessions(); err != nil {
		return err
	}
	for id, s := range tx.memo.sessions {
		s.External = ""
		tx.memo.sessions[id] = s
	}
	return tx.later(stmtSessionsForget, task)
}

// ResetSessions sets the sessions whose execution ran on a node to idle: nobody works there any more.
func (tx *Tx) ResetSessions(node string) (int64, error) {
	if err := tx.writeSessions(); err != nil {
		return 0, err
	}
	tx.memo.sessions = nil
	return tx.exec(stmtSessionsReset, node)
}

// Execution is a live agent process or model loop.
type Execution struct {
	ID        string
	Session   string
	Node      string
	State     string
	StartedAt time.Time
	EndedAt   time.Time // zero while it lives
}

func scanExecution(s scanner, e *Execution) error {
	return s.Scan(&e.ID, &e.Session, &e.Node, &e.State, timeCol{&e.StartedAt}, timeCol{&e.EndedAt})
}

// InsertExecution records that a process or loop serves a session.
func (tx *Tx) InsertExecution(e *Execution) error {
	return tx.later(stmtExecutionInsert, e.ID, e.Session, e.Node, e.State, micros(e.StartedAt))
}

// SetExecutionState notes what a live execution does.
func (tx *Tx) SetExecutionState(id, state string) error {
	return tx.later(stmtExecutionState, id, state)
}

// EndExecution records that it is gone, with its whole process tree.
func (tx *Tx) EndExecution(id, state string, at time.Time) error {
	return tx.later(stmtExecutionEnd, id, state, micros(at))
}

// ListLiveExecutions returns what lives on a node, by id.
func (r *ReadTx) ListLiveExecutions(node string) ([]Execution, error) {
	return all(r, stmtExecutions, scanExecution, node)
}
