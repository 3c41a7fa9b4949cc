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
	SkipSteps  []string // "workspace/workflow/step" that are full: only tasks that have a place there
	Head       int      // how many runs of the head of the queue FirstCandidates looks at; 0 = 32
	Home       string   // of the node that asks: tasks whose worktree is in another home are left out
}

// headLength is how many runs of the head of the queue are looked at, unless the filter says it.
const headLength = 32

// free is what a claim will ask of a queued, due run q of a task t, as far as a database can say it: neither its tree nor its
// assignment is busy, nothing blocks its task, nobody was asked about its work. Whatever is not said here holds few runs.
// Blockers are counted, because Postgres may collect all of a set that only has to exist, once for all runs: here every task.
const free = `
    AND NOT (q.id {{in ?1}})
    AND t.id = q.task AND t.archived_at = 0 AND t.held = '' AND t.tree_home IN ('', ?6)
    AND (q.light = 1 OR NOT EXISTS (SELECT 1 FROM checkouts c WHERE c.task = q.task))
    AND NOT EXISTS (SELECT 1 FROM live_runs l WHERE l.assignment = q.assignment)
    AND (q.person = 1 OR (SELECT COUNT(*) FROM blockers b CROSS JOIN tasks k
      WHERE b.task = q.task AND k.id = b.blocked_by AND k.terminal = '' AND k.archived_at = 0) = 0)
    AND NOT EXISTS (SELECT 1 FROM requests x WHERE x.task = q.task AND x.state = 'open' AND x.assignment = q.assignment)
    AND (NOT (q.workspace || '/' || t.workflow || '/' || q.step {{in ?3}})
      OR EXISTS (SELECT 1 FROM wip_places w WHERE w.workspace = q.workspace AND w.workflow = t.workflow AND w.step = q.step AND w.task = q.task))`

// works is what a claim will ask of an agent: it is not paused, no standing hold is shut, a slot is free.
const works = `a.paused = 0
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.workspace = a.workspace AND h.kind = 'account' AND h.ref = a.account AND h.state <> 'ready')
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.workspace = a.workspace AND h.kind IN ('breaker', 'cooldown') AND h.ref = a.key AND h.state <> 'ready')
  AND NOT (a.workspace || '/' || a.key {{in ?2}})
  AND (SELECT COUNT(*) FROM agent_slots s WHERE s.workspace = a.workspace AND s.agent = a.key) < a.parallel`

var (
	// The first runs of the queue, whoever's they are. Each of them is looked at by itself: a plan that was made when the
	// tables were small would else begin with every run that waits.
	stmtFirst = define("first_candidates", `
SELECT r.id, r.workspace, r.agent, r.task, r.assignment, r.session FROM (
  SELECT f.id AS id FROM runs f WHERE f.status = 'queued' AND f.due = 1 ORDER BY f.priority DESC, f.requested_at, f.id LIMIT ?4) h
{{each}} CROSS JOIN agents a CROSS JOIN tasks t
  WHERE q.id = h.id AND q.status = 'queued' AND q.due = 1 AND a.workspace = q.workspace AND a.key = q.agent AND `+works+free+` LIMIT 1 {{end}}
ORDER BY r.priority DESC, r.requested_at, r.id LIMIT ?5`)

	// One index probe for each agent that may work, however long its queue is.
	stmtCandidates = define("candidates", `
SELECT `+qualified("r", runColumns)+` FROM agents a {{each}} CROSS JOIN tasks t
  WHERE q.workspace = a.workspace AND q.agent = a.key AND q.status = 'queued' AND q.due = 1`+free+`
  ORDER BY q.priority DESC, q.requested_at, q.id LIMIT ?4 {{end}}
WHERE `+works+`
ORDER BY r.priority DESC, r.requested_at, r.id LIMIT ?5`)
)

// FirstCandidates returns the best runs that may be claimed among the first of the queue; none says nothing of those behind.
// Like Candidates it takes no lock; of the filter only the head and what is to be skipped count. The runs hold what names
// them and what belongs to them, and nothing else.
func (r *ReadTx) FirstCandidates(f CandidateFilter) ([]fairlead.Run, error) {
	return all(r, stmtFirst, scanCandidate, listArg(f.SkipRuns), listArg(f.SkipAgents), listArg(f.SkipSteps),
		positive(int64(f.Head), headLength)+int64(len(f.SkipRuns)), positive(int64(f.Limit), 16), f.Home)
}

func scanCandidate(s scanner, v *fairlead.Run) error {
	return s.Scan(&v.ID, &v.Workspace, &v.Agent, &v.Task, &v.Assignment, &v.Session)
}

// Candidates returns queued, due runs of agents that are not paused and have a free slot and no standing hold, best first.
// It takes no lock: whatever it returns may be gone a moment later.
func (r *ReadTx) Candidates(f CandidateFilter) ([]fairlead.Run, error) {
	return all(r, stmtCandidates, scanRun, listArg(f.SkipRuns), listArg(f.SkipAgents), listArg(f.SkipSteps),
		positive(int64(f.PerAgent), 4), positive(int64(f.Limit), 16), f.Home)
}
