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
	made      bool   // by this transaction: nobody else has written anything of it
	runs      []fairlead.Run
	runsKnown bool
	// sessions and assignments are those of the task, as they were read or written under its lock.
	sessions    map[string]fairlead.Session
	unwritten   []string // ids of sessions that were saved and not written yet
	assignments map[string]fairlead.Assignment
	// list are the assignments of a visit of the task, while none of them was written since.
	list      []fairlead.Assignment
	listVisit int
	listed    bool
	// lines are the numbers of the last lines this transaction wrote to the logs of runs; 0 = the run is new.
	lines map[string]int64

	workspace string
	revision  int64

	// touchedBefore is how many statements had touched what stands around the task when it was locked.
	touchedBefore int

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

// lockedTask notes that the task is locked, or was made in this transaction, when so many statements had touched what
// stands around tasks.
func (m *memo) lockedTask(id string, touched int) { *m = memo{task: id, touchedBefore: touched} }

// wrote notes the number of a run's last line.
func (m *memo) wrote(run string, seq int64) {
	if m.lines == nil {
		m.lines = map[string]int64{}
	}
	m.lines[run] = seq
}

// keepSession takes up a session as it was read or written.
func (m *memo) keepSession(v *fairlead.Session) {
	if m.task == "" || v.Task != m.task {
		return
	}
	if m.sessions == nil {
		m.sessions = map[string]fairlead.Session{}
	}
	m.sessions[v.ID] = *v
}

// met reports whether the agent has a session in the capacity that this transaction knows of.
func (m *memo) met(v *fairlead.Session) bool {
	for _, s := range m.sessions {
		if s.Agent == v.Agent && s.Capacity == v.Capacity {
			return true
		}
	}
	return false
}

// keepAssignment takes up an assignment as it was read or written.
func (m *memo) keepAssignment(v *fairlead.Assignment) {
	if m.task == "" || v.Task != m.task {
		return
	}
	if m.assignments == nil {
		m.assignments = map[string]fairlead.Assignment{}
	}
	m.assignments[v.ID] = *v
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

// run returns an active run of the locked task, if they are known.
func (m *memo) run(id string) (fairlead.Run, bool) {
	i, there := slices.BinarySearchFunc(m.runs, id, func(r fairlead.Run, id string) int { return strings.Compare(r.ID, id) })
	if !m.runsKnown || !there {
		return fairlead.Run{}, false
	}
	return m.runs[i], true
}

// ActiveRuns returns the queued and live runs of a task, by id.
func (r *ReadTx) ActiveRuns(task string) ([]fairlead.Run, error) {
	if list, ok := shelved(r.shelf, task, anyVisit, func(s *shelf) map[string][]fairlead.Run { return s.runs }); ok {
		return list, nil
	}
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
