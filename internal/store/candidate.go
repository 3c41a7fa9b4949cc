package store

import (
	fairlead "github.com/fairlead/fairlead"
)

// CandidateFilter says which runs a claim may look at.
type CandidateFilter struct {
	PerAgent   int      // how many runs of each agent to look at; 0 = 4
	Limit      int      // 0 = 16
	SkipRuns   []string // ids
	SkipAgents []string // "workspace/key"
}

// One index probe for each agent that may work, however long its queue is. What has to be checked again under locks is
// not checked here, except what would make the same run come first again and again.
var stmtCandidates = define("candidates", `
SELECT `+qualified("r", runColumns)+` FROM agents a {{each}}
  WHERE q.workspace = a.workspace AND q.agent = a.key AND q.status = 'queued' AND q.due = 1 AND NOT (q.id {{in ?1}})
    AND (q.light = 1 OR NOT EXISTS (SELECT 1 FROM checkouts c WHERE c.task = q.task))
    AND NOT EXISTS (SELECT 1 FROM live_runs l WHERE l.assignment = q.assignment)
  ORDER BY q.priority DESC, q.requested_at, q.id LIMIT ?3 {{end}}
WHERE a.paused = 0
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.workspace = a.workspace AND h.kind = 'account' AND h.ref = a.account AND h.state <> 'ready')
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.workspace = a.workspace AND h.kind IN ('breaker', 'cooldown') AND h.ref = a.key AND h.state <> 'ready')
  AND NOT (a.workspace || '/' || a.key {{in ?2}})
  AND (SELECT COUNT(*) FROM agent_slots s WHERE s.workspace = a.workspace AND s.agent = a.key) < a.parallel
ORDER BY r.priority DESC, r.requested_at, r.id LIMIT ?4`)

// Candidates returns queued, due runs of agents that are not paused and have a free slot and no standing hold, best first. It takes no lock:
// whatever it returns may be gone a moment later.
func (r *ReadTx) Candidates(f CandidateFilter) ([]fairlead.Run, error) {
	return all(r, stmtCandidates, scanRun, listArg(f.SkipRuns), listArg(f.SkipAgents), positive(int64(f.PerAgent), 4), positive(int64(f.Limit), 16))
}
