package store

import (
	"slices"

	fairlead "github.com/fairlead/fairlead"
)

// shelf holds what was read for several tasks at once, for methods that ask for one of them at a time. It lasts until the
// transaction writes.
type shelf struct {
	tasks       map[string]*TaskRow
	requests    map[string][]fairlead.Request
	runs        map[string][]fairlead.Run
	last        map[string]fairlead.Run // the newest run by assignment, of primaries that have no active one
	assignments map[string][]fairlead.Assignment
	blockers    map[string][]Link
	children    map[string][]Link
	checkouts   map[string]Checkout
	seats       map[string][]fairlead.Seat
	notices     map[string][]fairlead.Notice
	arounds     map[string]Around
	// What several tasks share, once somebody has asked.
	slots  map[[2]string][]int
	holds  map[[3]string][]fairlead.StandingHold
	places map[[3]string][]Place
	nodes  map[string][]NodeLoad
}

// of is how the tasks of a shelf are found.
const of = ` FROM tasks t JOIN `

var (
	stmtShelfAround = define("shelf_around", `
SELECT t.id, `+aroundOf("t.id", "t.visit")+` FROM tasks t WHERE t.id {{in ?1}}`)
	stmtShelfRequests = define("shelf_requests", `
SELECT `+qualified("x", requestColumns)+of+`requests x ON x.task = t.id AND x.state = 'open' WHERE t.id {{in ?1}} ORDER BY x.seq, x.id`)
	stmtShelfRuns = define("shelf_runs", `
SELECT `+qualified("x", runColumns)+of+`runs x ON x.task = t.id AND x.status IN ('queued', 'claimed', 'running', 'stopping')
WHERE t.id {{in ?1}} ORDER BY x.id`)
	stmtShelfLast = define("shelf_last", `
SELECT `+qualified("x", runColumns)+of+`assignments a ON a.task = t.id AND a.visit = t.visit AND a.capacity = 'primary'
JOIN runs x ON x.id = (SELECT l.id FROM runs l WHERE l.task = a.task AND l.assignment = a.id ORDER BY l.requested_at DESC, l.id DESC LIMIT 1)
WHERE t.id {{in ?1}} AND t.terminal = ''`)
	stmtShelfAssignments = define("shelf_assignments", `
SELECT `+qualified("x", assignmentColumns)+of+`assignments x ON x.task = t.id AND x.visit = t.visit WHERE t.id {{in ?1}} ORDER BY x.id`)
	stmtShelfBlockers = define("shelf_blockers", `
SELECT b.task, `+linkColumns+` FROM blockers b JOIN tasks t ON t.id = b.blocked_by WHERE b.task {{in ?1}} ORDER BY t.id`)
	stmtShelfChildren = define("shelf_children", `
SELECT t.parent, `+linkColumns+` FROM tasks t WHERE t.parent {{in ?1}} AND t.parent <> '' ORDER BY t.id`)
	stmtShelfCheckouts = define("shelf_checkouts", `SELECT task, run, agent, since FROM checkouts WHERE task {{in ?1}}`)
	stmtShelfSeats     = define("shelf_seats", `
SELECT `+qualified("x", seatColumns)+of+`seats x ON x.task = t.id AND x.visit = t.visit WHERE t.id {{in ?1}} ORDER BY x.id`)
	stmtShelfNotices = define("shelf_notices", `
SELECT `+qualified("x", noticeColumns)+of+`notices x ON x.task = t.id AND x.visit = t.visit WHERE t.id {{in ?1}} ORDER BY x.at, x.id`)
)

// Shelve reads what views show of the tasks, all of them together. The methods that ask for a task's requests, runs,
// assignments, edges, checkout, seats and notices answer from it until the transaction writes.
func (r *ReadTx) Shelve(rows ...TaskRow) error {
	s := &shelf{
		tasks: map[string]*TaskRow{}, requests: map[string][]fairlead.Request{}, runs: map[string][]fairlead.Run{}, last: map[string]fairlead.Run{},
		assignments: map[string][]fairlead.Assignment{}, blockers: map[string][]Link{}, children: map[string][]Link{},
		checkouts: map[string]Checkout{}, seats: map[string][]fairlead.Seat{}, notices: map[string][]fairlead.Notice{}, arounds: map[string]Around{},
		slots: map[[2]string][]int{}, holds: map[[3]string][]fairlead.StandingHold{}, places: map[[3]string][]Place{}, nodes: map[string][]NodeLoad{},
	}
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
		s.tasks[rows[i].ID] = &rows[i]
	}
	asks := s.asks(ids)
	if len(rows) == 1 {
		s.direct(&rows[0], asks)
	}
	if err := r.run(asks...); err != nil {
		return err
	}
	r.shelf = s
	return nil
}

// direct puts the statements that find one task's rows by its id in the places of those that find many.
func (s *shelf) direct(t *TaskRow, asks []*ask) {
	one := map[*Stmt]ask{
		stmtShelfAround: {st: stmtAround, args: []any{t.ID, t.Visit, t.Workspace}, each: func(row scanner) (bool, error) {
			var bits, revision int64
			err := row.Scan(&bits, &revision)
			s.arounds[t.ID] = around(bits)
			return false, err
		}},
		stmtShelfRequests:    {st: stmtRequestOpen, args: []any{t.ID}},
		stmtShelfRuns:        {st: stmtRunActive, args: []any{t.ID}},
		stmtShelfAssignments: {st: stmtAssignments, args: []any{t.ID, t.Visit}},
		stmtShelfCheckouts:   {st: stmtCheckoutOf, args: []any{t.ID}},
		stmtShelfSeats:       {st: stmtSeats, args: []any{t.ID, t.Visit}},
	}
	for _, a := range asks {
		if o, ok := one[a.st]; ok {
			a.st, a.args = o.st, o.args
			if o.each != nil {
				a.each = o.each
			}
		}
	}
}

// asks reads every kind of row, each with one statement.
func (s *shelf) asks(ids []string) []*ask {
	list := listArg(ids)
	var as []*ask
	add := func(st *Stmt, each func(scanner) error) {
		as = append(as, &ask{st: st, args: []any{list}, each: func(row scanner) (bool, error) { return true, each(row) }})
	}
	add(stmtShelfAround, func(row scanner) error {
		var id string
		var bits int64
		err := row.Scan(&id, &bits)
		s.arounds[id] = around(bits)
		return err
	})
	add(stmtShelfRequests, gather(s.requests, scanRequest, func(v *fairlead.Request) string { return v.Task }))
	add(stmtShelfRuns, gather(s.runs, scanRun, func(v *fairlead.Run) string { return v.Task }))
	add(stmtShelfLast, func(row scanner) error {
		var v fairlead.Run
		err := scanRun(row, &v)
		s.last[v.Assignment] = v
		return err
	})
	add(stmtShelfAssignments, gather(s.assignments, scanAssignment, func(v *fairlead.Assignment) string { return v.Task }))
	add(stmtShelfBlockers, gatherLinks(s.blockers))
	add(stmtShelfChildren, gatherLinks(s.children))
	add(stmtShelfCheckouts, func(row scanner) error {
		var c Checkout
		err := scanCheckout(row, &c)
		s.checkouts[c.Task] = c
		return err
	})
	add(stmtShelfSeats, gather(s.seats, scanSeat, func(v *fairlead.Seat) string { return v.Task }))
	add(stmtShelfNotices, gather(s.notices, scanNotice, func(v *fairlead.Notice) string { return v.Task }))
	return as
}

func gather[T any](into map[string][]T, scan func(scanner, *T) error, task func(*T) string) func(scanner) error {
	return func(row scanner) error {
		var v T
		err := scan(row, &v)
		into[task(&v)] = append(into[task(&v)], v)
		return err
	}
}

func gatherLinks(into map[string][]Link) func(scanner) error {
	return func(row scanner) error {
		var task string
		var l Link
		err := row.Scan(append([]any{&task}, linkTargets(&l)...)...)
		into[task] = append(into[task], l)
		return err
	}
}

// lastRun returns the newest run of an assignment, nil for none, if it is the primary's of a shelved task's visit.
func (s *shelf) lastRun(task, assignment string) (run *fairlead.Run, known bool) {
	if !s.has(task, anyVisit) || s.tasks[task].Ended() {
		return nil, false
	}
	if v, there := s.last[assignment]; there {
		return &v, true
	}
	return nil, slices.ContainsFunc(s.assignments[task], func(a fairlead.Assignment) bool {
		return a.ID == assignment && a.Capacity == fairlead.CapacityPrimary
	})
}

// liveRun returns the live run of an assignment that has an active one, "" for none.
func (s *shelf) liveRun(assignment string) (run string, known bool) {
	if s == nil {
		return "", false
	}
	for _, runs := range s.runs {
		for i := range runs {
			if runs[i].Assignment != assignment {
				continue
			}
			known = true
			if runs[i].Status.Live() {
				run = runs[i].ID
			}
		}
	}
	return run, known
}

// has reports whether the shelf has a task in its present visit.
func (s *shelf) has(task string, visit int) bool {
	if s == nil {
		return false
	}
	t := s.tasks[task]
	return t != nil && (visit == anyVisit || t.Visit == visit)
}

const anyVisit = -1

// shelved answers from the shelf, if it has the task.
func shelved[T any](s *shelf, task string, visit int, from func(*shelf) map[string][]T) ([]T, bool) {
	if !s.has(task, visit) {
		return nil, false
	}
	return slices.Clone(from(s)[task]), true
}

// shared answers from what the shelf remembers, or asks and remembers.
func shared[K comparable, T any](s *shelf, of func(*shelf) map[K][]T, key K, ask func() ([]T, error)) ([]T, error) {
	if s == nil {
		return ask()
	}
	if v, known := of(s)[key]; known {
		return v, nil
	}
	v, err := ask()
	if err == nil {
		of(s)[key] = v
	}
	return v, err
}
