package store

import (
	"time"
)

// Checkout says which run works in a task's tree.
type Checkout struct {
	Task  string
	Run   string
	Agent string
	Since time.Time
}

// Place is a task's place at a step with a limit on work.
type Place struct {
	N    int
	Task string
}

var (
	stmtCheckoutPut  = define("checkout_put", `INSERT INTO checkouts (task, run, agent, since) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING`)
	stmtCheckoutDrop = define("checkout_drop", `DELETE FROM checkouts WHERE run = ?1`)
	stmtCheckoutOf   = define("checkout_of", `SELECT task, run, agent, since FROM checkouts WHERE task = ?1`)

	stmtLivePut  = define("live_put", `INSERT INTO live_runs (assignment, run) VALUES (?1, ?2) ON CONFLICT DO NOTHING`)
	stmtLiveDrop = define("live_drop", `DELETE FROM live_runs WHERE run = ?1`)
	stmtLiveOf   = define("live_of", `SELECT run FROM live_runs WHERE assignment = ?1`)

	stmtSlotPut  = define("slot_put", `INSERT INTO agent_slots (workspace, agent, n, run) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING`)
	stmtSlotDrop = define("slot_drop", `DELETE FROM agent_slots WHERE run = ?1`)
	stmtSlotsOf  = define("slots_of", `SELECT n FROM agent_slots WHERE workspace = ?1 AND agent = ?2 ORDER BY n`)

	stmtPlacePut = define("place_put", `
INSERT INTO wip_places (workspace, workflow, step, n, task) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING`)
	stmtPlaceDropStep   = define("place_drop_step", `DELETE FROM wip_places WHERE workspace = ?1 AND workflow = ?2 AND step = ?3 AND task = ?4`)
	stmtPlacesElsewhere = define("places_elsewhere", `
SELECT DISTINCT t.id, t.workspace FROM wip_places p JOIN tasks t ON t.id = p.task
WHERE t.tree_home <> '' AND NOT (t.tree_home {{in ?1}}) ORDER BY t.id`)
	stmtPlacesOf = define("places_of", `SELECT n, task FROM wip_places WHERE workspace = ?1 AND workflow = ?2 AND step = ?3 ORDER BY n`)
)

// The Put methods return false when the place is taken already: the constraint's word, without an error that would end
// the transaction.

func (tx *Tx) taken(st *Stmt, args ...any) (bool, error) {
	n, err := tx.exec(st, args...)
	return n == 1, err
}

// Occupation is everything a live run takes at once.
type Occupation struct {
	Run, Assignment        string
	Light                  bool // takes neither checkout nor slot
	Task, Workspace, Agent string
	Slot                   int // number, from 1
}

// What Occupy says is taken already.
const (
	OccupiedAssignment = "assignment"
	OccupiedCheckout   = "checkout"
	OccupiedSlot       = "slot"
)

// Occupy takes all of it and returns what was taken already, "" for nothing. Whoever is told so gives the command up or
// takes another slot.
func (tx *Tx) Occupy(o Occupation) (taken string, err error) {
	names := []string{OccupiedAssignment, OccupiedCheckout, OccupiedSlot}
	asks := []*ask{
		{st: stmtLivePut, args: []any{o.Assignment, o.Run}},
		{st: stmtCheckoutPut, args: []any{o.Task, o.Run, o.Agent, micros(tx.Now())}},
		{st: stmtSlotPut, args: []any{o.Workspace, o.Agent, o.Slot, o.Run}},
	}
	if o.Light {
		asks = asks[:1]
	}
	if err := tx.run(asks...); err != nil {
		return "", err
	}
	for i, a := range asks {
		if a.touched == 0 {
			return names[i], nil
		}
	}
	return "", nil
}

// DropCheckout frees the tree a run has, if it has one.
func (tx *Tx) DropCheckout(run string) error {
	return tx.later(stmtCheckoutDrop, run)
}

// CheckoutOf returns who works in a task's tree, nil for nobody.
func (r *ReadTx) CheckoutOf(task string) (*Checkout, error) {
	if r.shelf.has(task, anyVisit) {
		if c, there := r.shelf.checkouts[task]; there {
			return &c, nil
		}
		return nil, nil
	}
	return maybe(r, stmtCheckoutOf, scanCheckout, task)
}

func scanCheckout(s scanner, c *Checkout) error {
	return s.Scan(&c.Task, &c.Run, &c.Agent, timeCol{&c.Since})
}

// PutLive makes a run the live one of its assignment.
func (tx *Tx) PutLive(assignment, run string) (bool, error) {
	return tx.taken(stmtLivePut, assignment, run)
}

// DropLive ends that.
func (tx *Tx) DropLive(run string) error {
	return tx.later(stmtLiveDrop, run)
}

// LiveOf returns the live run of an assignment, "" for none.
func (r *ReadTx) LiveOf(assignment string) (run string, err error) {
	if run, known := r.shelf.liveRun(assignment); known {
		return run, nil
	}
	_, err = r.get(stmtLiveOf, into(&run), assignment)
	return run, err
}

// DropSlot frees the slot a run has, if it has one.
func (tx *Tx) DropSlot(run string) error {
	return tx.later(stmtSlotDrop, run)
}

// SlotsOf returns the numbers of an agent's taken slots, ascending.
func (r *ReadTx) SlotsOf(workspace, agent string) ([]int, error) {
	return shared(r.shelf, func(s *shelf) map[[2]string][]int { return s.slots }, [2]string{workspace, agent}, func() ([]int, error) {
		return all(r, stmtSlotsOf, func(s scanner, n *int) error { return s.Scan(n) }, workspace, agent)
	})
}

// PutPlace gives the n-th place of a step to a task. A task has at most one place at a step.
func (tx *Tx) PutPlace(workspace, workflow, step string, n int, task string) (bool, error) {
	return tx.taken(stmtPlacePut, workspace, workflow, step, n, task)
}

// DropPlace frees a task's place at one step.
func (tx *Tx) DropPlace(workspace, workflow, step, task string) error {
	return tx.later(stmtPlaceDropStep, workspace, workflow, step, task)
}

// TaskRef names a task.
type TaskRef struct{ ID, Workspace string }

// PlacesElsewhere returns the tasks that have a place at a step and whose worktree is in none of the homes.
func (r *ReadTx) PlacesElsewhere(homes []string) ([]TaskRef, error) {
	return all(r, stmtPlacesElsewhere, func(s scanner, t *TaskRef) error { return s.Scan(&t.ID, &t.Workspace) }, listArg(homes))
}

// PlacesOf returns the taken places of a step, by number.
func (r *ReadTx) PlacesOf(workspace, workflow, step string) ([]Place, error) {
	return shared(r.shelf, func(s *shelf) map[[3]string][]Place { return s.places }, [3]string{workspace, workflow, step}, func() ([]Place, error) {
		return all(r, stmtPlacesOf, func(s scanner, p *Place) error { return s.Scan(&p.N, &p.Task) }, workspace, workflow, step)
	})
}
