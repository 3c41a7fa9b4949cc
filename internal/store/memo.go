package store

import (
	"slices"
	"strings"

	fairlead "github.com/fairlead/fairlead"
)

// memo keeps what a transaction has read and its use cases ask for again and again. It holds only what cannot change
// under the transaction: the active runs of the task it has locked (whoever changes a run locks its task first), and one
// revision of its workspace, so that all of a command sees the same agents and workflows. Every lock forgets what was
// read before it.
type memo struct {
	task      string // locked
	runs      []fairlead.Run
	runsKnown bool
	// lines are the numbers of the last lines this transaction wrote to the logs of runs; 0 = the run is new.
	lines map[string]int64

	workspace string
	revision  int64

	// around is what Around said when the transaction had run so many writing statements.
	around      Around
	aroundOf    aroundKey
	aroundAfter int
}

// aroundKey says what was asked.
type aroundKey struct {
	workspace, task string
	visit           int
}

// locked notes that a lock was taken: what was read of the workspace without it may have changed since.
func (m *memo) locked() { m.workspace, m.aroundOf = "", aroundKey{} }

// lockedTask notes that the task is locked, or was made in this transaction.
func (m *memo) lockedTask(id string) { *m = memo{task: id} }

// wrote notes the number of a run's last line.
func (m *memo) wrote(run string, seq int64) {
	if m.lines == nil {
		m.lines = map[string]int64{}
	}
	m.lines[run] = seq
}

// forgetRuns is for statements that change runs without naming them.
func (m *memo) forgetRuns() { m.runs, m.runsKnown = nil, false }

// keep takes up a run as it was written.
func (m *memo) keep(v *fairlead.Run) {
	if !m.runsKnown {
		return
	}
	i, there := slices.BinarySearchFunc(m.runs, v.ID, func(r fairlead.Run, id string) int { return strings.Compare(r.ID, id) })
	active := v.Task == m.task && (v.Status == fairlead.RunQueued || v.Status.Live())
	switch {
	case there && active:
		m.runs[i] = *v
	case there:
		m.runs = slices.Delete(m.runs, i, i+1)
	case active:
		m.runs = slices.Insert(m.runs, i, *v)
	}
}

// ActiveRuns returns the queued and live runs of a task, by id.
func (r *ReadTx) ActiveRuns(task string) ([]fairlead.Run, error) {
	m := &r.memo
	if m.task != task || task == "" {
		return all(r, stmtRunActive, scanRun, task)
	}
	if !m.runsKnown {
		runs, err := all(r, stmtRunActive, scanRun, task)
		if err != nil {
			return nil, err
		}
		m.runs, m.runsKnown = runs, true
	}
	return slices.Clone(m.runs), nil
}

// QueuedRunOf is QueuedFor for an assignment of a task whose lock the command holds.
func (r *ReadTx) QueuedRunOf(task, assignment string) (*fairlead.Run, error) {
	runs, err := r.ActiveRuns(task)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(runs, func(v fairlead.Run) bool { return v.Assignment == assignment && v.Status == fairlead.RunQueued })
	if i < 0 {
		return nil, nil
	}
	return &runs[i], nil
}

// Around says what a task has beside its row. Most tasks have little of it, and a question for nothing costs as much as
// one for something.
type Around struct {
	Participants, Seats, Blockers, Children, Requests, Approval, Deferred, Outbox bool
}

// The bits of stmtAround's first column.
const (
	aroundParticipants = 1 << iota
	aroundSeats
	aroundBlockers
	aroundChildren
	aroundRequests
	aroundApproval
	aroundDeferred
	aroundRuns
	aroundOutbox
)

var stmtAround = define("around", `
SELECT CASE WHEN EXISTS (SELECT 1 FROM participants WHERE task = ?1) THEN 1 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM seats WHERE task = ?1 AND visit = ?2) THEN 2 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM blockers WHERE task = ?1) THEN 4 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM tasks WHERE parent = ?1 AND parent <> '') THEN 8 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM requests WHERE task = ?1 AND state = 'open') THEN 16 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM requests WHERE task = ?1 AND visit = ?2 AND kind = 'approval') THEN 32 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM deferred WHERE task = ?1 AND visit = ?2) THEN 64 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM runs WHERE task = ?1 AND status IN ('queued', 'claimed', 'running', 'stopping')) THEN 128 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM outbox WHERE task = ?1 AND done_at = 0 AND kind <> 'notify') THEN 256 ELSE 0 END,
  COALESCE((SELECT last FROM counters WHERE workspace = ?3 AND name = '`+counterRevision+`'), 0)`)

// Around looks at what there is around a task in a visit, and at the revision of its workspace. Asked again before the
// transaction has written anything, it answers from memory.
func (r *ReadTx) Around(workspace, task string, visit int) (Around, error) {
	m, key := &r.memo, aroundKey{workspace, task, visit}
	if m.aroundOf == key && m.aroundAfter == r.writes {
		return m.around, nil
	}
	var bits, revision int64
	if err := one(r, "task", stmtAround, into(&bits, &revision), task, visit, workspace); err != nil {
		return Around{}, err
	}
	if bits&aroundRuns == 0 && m.task == task && !m.runsKnown {
		m.runsKnown = true
	}
	if m.workspace != workspace {
		m.workspace, m.revision = workspace, revision
	}
	m.aroundOf, m.aroundAfter = key, r.writes
	m.around = Around{
		Participants: bits&aroundParticipants != 0, Seats: bits&aroundSeats != 0, Blockers: bits&aroundBlockers != 0,
		Children: bits&aroundChildren != 0, Requests: bits&aroundRequests != 0, Approval: bits&aroundApproval != 0,
		Deferred: bits&aroundDeferred != 0, Outbox: bits&aroundOutbox != 0,
	}
	return m.around, nil
}
