package store

import (
	"strings"
)

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

// aroundOf is the expression of the bits for a task and one of its visits.
func aroundOf(task, visit string) string {
	return strings.NewReplacer("{{task}}", task, "{{visit}}", visit).Replace(aroundBits)
}

const aroundBits = `CASE WHEN EXISTS (SELECT 1 FROM participants WHERE task = {{task}}) THEN 1 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM seats WHERE task = {{task}} AND visit = {{visit}}) THEN 2 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM blockers WHERE task = {{task}}) THEN 4 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM tasks WHERE parent = {{task}} AND parent <> '') THEN 8 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM requests WHERE task = {{task}} AND state = 'open') THEN 16 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM requests WHERE task = {{task}} AND visit = {{visit}} AND kind = 'approval') THEN 32 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM deferred WHERE task = {{task}} AND visit = {{visit}}) THEN 64 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM runs WHERE task = {{task}} AND status IN ('queued', 'claimed', 'running', 'stopping')) THEN 128 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM outbox WHERE task = {{task}} AND done_at = 0 AND kind <> 'notify') THEN 256 ELSE 0 END`

var (
	stmtAround = define("around", `
SELECT `+aroundOf("?1", "?2")+`,
  COALESCE((SELECT last FROM counters WHERE workspace = ?3 AND name = '`+counterRevision+`'), 0)`)

	// The same of a task whose visit and workspace nobody knows yet, as it stands now.
	stmtAroundNow = define("around_now", `
SELECT t.visit, `+aroundOf("?1", "t.visit")+`,
  COALESCE((SELECT last FROM counters WHERE workspace = t.workspace AND name = '`+counterRevision+`'), 0)
FROM tasks t WHERE t.id = ?1`)
)

// Around looks at what there is around a task in a visit, and at the revision of its workspace. Asked again before the
// transaction has written any of it, it answers from memory.
func (r *ReadTx) Around(workspace, task string, visit int) (Around, error) {
	if r.shelf.has(task, visit) {
		return r.shelf.arounds[task], nil
	}
	m, key := &r.memo, aroundKey{workspace, task, visit}
	if m.aroundOf == key && m.aroundAfter == r.touched {
		return m.around, nil
	}
	bits, revision, err := r.look(workspace, task, visit)
	if err != nil {
		return Around{}, err
	}
	if bits&aroundRuns == 0 && m.task == task && !m.runsKnown {
		m.runsKnown = true
	}
	if m.workspace != workspace {
		m.workspace, m.revision = workspace, revision
	}
	m.aroundOf, m.aroundAfter = key, r.touched
	m.around = around(bits)
	return m.around, nil
}

// look asks, at best with an answer that came together with the task's lock.
func (r *ReadTx) look(workspace, task string, visit int) (bits, revision int64, err error) {
	if r.memo.task == task && r.touched == r.memo.touchedBefore {
		var now int
		found, err := r.get(stmtAroundNow, into(&now, &bits, &revision), task)
		if err != nil || found && now == visit {
			return bits, revision, err
		}
	}
	err = one(r, "task", stmtAround, into(&bits, &revision), task, visit, workspace)
	return bits, revision, err
}

func around(bits int64) Around {
	return Around{
		Participants: bits&aroundParticipants != 0, Seats: bits&aroundSeats != 0, Blockers: bits&aroundBlockers != 0,
		Children: bits&aroundChildren != 0, Requests: bits&aroundRequests != 0, Approval: bits&aroundApproval != 0,
		Deferred: bits&aroundDeferred != 0, Outbox: bits&aroundOutbox != 0,
	}
}
