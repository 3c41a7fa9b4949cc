package store

import (
	"slices"

	fairlead "github.com/fairlead/fairlead"
)

const assignmentColumns = `id, workspace, task, visit, step, capacity, agent, seat, session, program, state, park_requested, signalled, own_move,
interruptions, parent, created_at, version`

var (
	stmtAssignmentInsert = define("assignment_insert", `
INSERT INTO assignments (`+assignmentColumns+`)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)`)
	stmtAssignmentSave = defineSave("assignment_save", "assignment", `
UPDATE assignments SET seat = ?3, session = ?4, program = ?5, state = ?6, park_requested = ?7, signalled = ?8, own_move = ?9,
interruptions = ?10, visit = ?11, step = ?12, version = version + 1 WHERE id = ?1 AND version = ?2`)
	stmtAssignmentLoad = define("assignment_load", `SELECT `+assignmentColumns+` FROM assignments WHERE id = ?1`)
	stmtAssignments    = define("assignments", `
SELECT `+assignmentColumns+` FROM assignments WHERE task = ?1 AND visit = ?2 ORDER BY id`)
	stmtAssignmentsEnd = define("assignments_end", `
UPDATE assignments SET state = 'ended', version = version + 1 WHERE task = ?1 AND visit = ?2 AND state <> 'ended'`)
	stmtAssignmentsWorked = define("assignments_worked", `
SELECT DISTINCT agent FROM assignments WHERE task = ?1 AND capacity = 'primary' ORDER BY agent`)
)

func scanAssignment(s scanner, a *fairlead.Assignment) error {
	return s.Scan(&a.ID, &a.Workspace, &a.Task, &a.Visit, &a.Step, &a.Capacity, &a.Agent, &a.Seat, &a.Session, &a.Program, &a.State,
		boolCol{&a.ParkRequested}, boolCol{&a.Signalled}, jsonCol{&a.OwnMove}, &a.Interruptions, &a.Parent, timeCol{&a.CreatedAt}, &a.Version)
}

// InsertAssignment adds an assignment. Its version is the caller's to set, since what saves it later compares it.
func (tx *Tx) InsertAssignment(a fairlead.Assignment) error {
	tx.memo.keepAssignment(&a)
	tx.memo.listed = false
	return tx.later(stmtAssignmentInsert, a.ID, a.Workspace, a.Task, a.Visit, a.Step, a.Capacity, a.Agent, a.Seat, a.Session, a.Program, a.State,
		truth(a.ParkRequested), truth(a.Signalled), pointerArg(a.OwnMove), a.Interruptions, a.Parent, micros(a.CreatedAt), a.Version)
}

// SaveAssignment writes what may change, by compare and swap on a.Version, and raises it.
func (tx *Tx) SaveAssignment(a *fairlead.Assignment) error {
	err := tx.later(stmtAssignmentSave, a.ID, a.Version, a.Seat, a.Session, a.Program, a.State, truth(a.ParkRequested), truth(a.Signalled),
		pointerArg(a.OwnMove), a.Interruptions, a.Visit, a.Step)
	if err != nil {
		return err
	}
	a.Version++
	tx.memo.keepAssignment(a)
	tx.memo.listed = false
	return nil
}

// LoadAssignment returns one assignment.
func (r *ReadTx) LoadAssignment(id string) (fairlead.Assignment, error) {
	if a, known := r.memo.assignments[id]; known {
		return a, nil
	}
	var a fairlead.Assignment
	err := one(r, "assignment", stmtAssignmentLoad, func(s scanner) error { return scanAssignment(s, &a) }, id)
	if err == nil {
		r.memo.keepAssignment(&a)
	}
	return a, err
}

// ListAssignments returns the assignments of a visit, by id.
func (r *ReadTx) ListAssignments(task string, visit int) ([]fairlead.Assignment, error) {
	if list, ok := shelved(r.shelf, task, visit, func(s *shelf) map[string][]fairlead.Assignment { return s.assignments }); ok {
		return list, nil
	}
	m := &r.memo
	if m.listed && m.listVisit == visit && m.task == task {
		return slices.Clone(m.list), nil
	}
	list, err := all(r, stmtAssignments, scanAssignment, task, visit)
	if err != nil || m.task != task || task == "" {
		return list, err
	}
	for i := range list {
		m.keepAssignment(&list[i])
	}
	m.list, m.listVisit, m.listed = slices.Clone(list), visit, true
	return list, nil
}

// EndAssignments ends every assignment of a visit.
func (tx *Tx) EndAssignments(task string, visit int) error {
	tx.memo.assignments, tx.memo.listed = nil, false
	return tx.later(stmtAssignmentsEnd, task, visit)
}

// WorkedAs returns the keys of the agents that were ever the task's primary, sorted.
func (r *ReadTx) WorkedAs(task string) ([]string, error) {
	return all(r, stmtAssignmentsWorked, scanText, task)
}
