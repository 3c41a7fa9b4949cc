package store

// Counters are leaf locks: the last a transaction takes, so they stand outside the lock order. Whoever holds one lets
// nobody else in the workspace draw from it until its commit, so draw late.
const (
	counterTask     = "task"
	counterRevision = "revision"
)

var (
	stmtCounterNext = define("counter_next", `
INSERT INTO counters (workspace, name, last) VALUES (?1, ?2, 1)
ON CONFLICT (workspace, name) DO UPDATE SET last = counters.last + 1 RETURNING last`)
	stmtCounter = define("counter", `SELECT last FROM counters WHERE workspace = ?1 AND name = ?2`)
)

// NextNumber draws the next task number of a workspace, from 1.
func (tx *Tx) NextNumber(workspace string) (n int64, err error) {
	err = one(&tx.ReadTx, "counter", stmtCounterNext, into(&n), workspace, counterTask)
	return n, err
}

// Revision counts the changes of a workspace's agents, people and workflows: what depends on them may be cached by it.
func (r *ReadTx) Revision(workspace string) (n int64, err error) {
	if m := &r.memo; m.workspace == workspace && workspace != "" {
		return m.revision, nil
	}
	if _, err = r.get(stmtCounter, into(&n), workspace, counterRevision); err == nil {
		r.memo.workspace, r.memo.revision = workspace, n
	}
	return n, err
}

// Bumped reports whether this transaction has raised a revision. The number may come again with another content if it is
// rolled back, so nothing read from here on may be kept by it.
func (r *ReadTx) Bumped() bool { return r.bumped }

// BumpRevision says that an agent, a person or a workflow has changed.
func (tx *Tx) BumpRevision(workspace string) error {
	tx.memo.workspace = ""
	tx.bumped = true
	var n int64
	return one(&tx.ReadTx, "counter", stmtCounterNext, into(&n), workspace, counterRevision)
}
