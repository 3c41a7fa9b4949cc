package store

import (
	"slices"

	fairlead "github.com/fairlead/fairlead"
)

// Link is a blocker, a blocked task or a child, as the task at the other end of the edge sees it.
type Link struct {
	Task       string
	Identifier string
	Title      string
	Terminal   fairlead.Terminal
	Archived   bool
	Visit      int
	// CancelledBlocker is the linked task's own rule for its blockers.
	CancelledBlocker string
}

// Outcome is how the linked task counts: "" while it has not ended.
func (l *Link) Outcome() fairlead.Terminal {
	if l.Terminal == fairlead.TerminalNone && l.Archived {
		return fairlead.TerminalCancelled
	}
	return l.Terminal
}

const linkColumns = `t.id, t.identifier, t.title, t.terminal, CASE WHEN t.archived_at = 0 THEN 0 ELSE 1 END, t.visit, t.cancelled_blocker`

var (
	stmtBlockerInsert = define("blocker_insert", `
INSERT INTO blockers (task, blocked_by, by_actor, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (task, blocked_by) DO NOTHING`)
	stmtBlockerDelete = define("blocker_delete", `DELETE FROM blockers WHERE task = ?1 AND blocked_by = ?2`)
	stmtBlockersOf    = define("blockers_of", `
SELECT `+linkColumns+` FROM blockers b JOIN tasks t ON t.id = b.blocked_by WHERE b.task = ?1 ORDER BY t.id`)
	stmtBlocking = define("blocking", `
SELECT `+linkColumns+` FROM blockers b JOIN tasks t ON t.id = b.task WHERE b.blocked_by = ?1 ORDER BY t.id`)
	stmtBlockedBy   = define("blocked_by", `SELECT task FROM blockers WHERE blocked_by = ?1 ORDER BY task`)
	stmtIdentifiers = define("identifiers", `SELECT id, identifier FROM tasks WHERE workspace = ?1 AND id {{in ?2}}`)
	stmtChildren    = define("children", `SELECT `+linkColumns+` FROM tasks t WHERE t.parent = ?1 AND t.parent <> '' ORDER BY t.id`)
	stmtEdges       = define("edges", `
SELECT task, blocked_by FROM blockers WHERE task {{in ?1}}
UNION ALL SELECT parent, id FROM tasks WHERE parent {{in ?1}} AND parent <> '' ORDER BY 1, 2`)
)

func linkTargets(l *Link) []any {
	return []any{&l.Task, &l.Identifier, &l.Title, &l.Terminal, boolCol{&l.Archived}, &l.Visit, &l.CancelledBlocker}
}

func scanLink(s scanner, l *Link) error { return s.Scan(linkTargets(l)...) }

// InsertBlocker adds an edge and reports whether it is new. The workspace must be locked and PathTo must have found no
// way back.
func (tx *Tx) InsertBlocker(b fairlead.Blocker) (bool, error) {
	return tx.taken(stmtBlockerInsert, b.Task, b.BlockedBy, actorArg(b.By), micros(b.At))
}

// DeleteBlocker removes an edge and reports whether it was there.
func (tx *Tx) DeleteBlocker(task, blockedBy string) (bool, error) {
	return tx.taken(stmtBlockerDelete, task, blockedBy)
}

// ListBlockers returns the tasks this one waits for, by id.
func (r *ReadTx) ListBlockers(task string) ([]Link, error) {
	if list, ok := shelved(r.shelf, task, anyVisit, func(s *shelf) map[string][]Link { return s.blockers }); ok {
		return list, nil
	}
	return all(r, stmtBlockersOf, scanLink, task)
}

// BlockedBy returns the ids of the tasks that wait for this one, sorted.
func (r *ReadTx) BlockedBy(task string) ([]string, error) {
	return all(r, stmtBlockedBy, scanText, task)
}

// ListBlocked returns the tasks that wait for this one, by id.
func (r *ReadTx) ListBlocked(task string) ([]Link, error) {
	return all(r, stmtBlocking, scanLink, task)
}

// ListChildren returns the direct children of a task, by id.
func (r *ReadTx) ListChildren(task string) ([]Link, error) {
	if list, ok := shelved(r.shelf, task, anyVisit, func(s *shelf) map[string][]Link { return s.children }); ok {
		return list, nil
	}
	return all(r, stmtChildren, scanLink, task)
}

// PathTo returns the identifiers on a shortest way along "waits for" edges (a task waits for its blockers, a parent for
// its children), both ends included; nil when there is none. An edge from a to b makes a cycle if PathTo finds a way
// from b to a.
func (r *ReadTx) PathTo(workspace, from, to string) ([]string, error) {
	came := map[string]string{from: ""}
	for front := []string{from}; len(front) > 0; {
		if _, ok := came[to]; ok {
			return r.nameWay(workspace, came, to)
		}
		var next []string
		err := r.list(stmtEdges, func(s scanner) error {
			var a, b string
			if err := s.Scan(&a, &b); err != nil {
				return err
			}
			if _, seen := came[b]; !seen {
				came[b] = a
				next = append(next, b)
			}
			return nil
		}, listArg(front))
		if err != nil {
			return nil, err
		}
		front = next
	}
	return nil, nil
}

// nameWay follows came back from the end and puts identifiers for ids.
func (r *ReadTx) nameWay(workspace string, came map[string]string, to string) ([]string, error) {
	var ids []string
	for at := to; at != ""; at = came[at] {
		ids = append(ids, at)
	}
	slices.Reverse(ids)
	names := map[string]string{}
	err := r.list(stmtIdentifiers, func(s scanner) error {
		var id, name string
		err := s.Scan(&id, &name)
		names[id] = name
		return err
	}, workspace, listArg(ids))
	for i, id := range ids {
		if name, ok := names[id]; ok {
			ids[i] = name
		}
	}
	return ids, err
}
