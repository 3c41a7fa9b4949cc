package storetest

import (
	"testing"

	"github.com/fairlead/fairlead/internal/store"
)

// Run is the conformance suite: what every database the store can speak to must do. backend makes a fresh, empty
// database for each case.
func Run(t *testing.T, backend func(t testing.TB) Backend) {
	t.Helper()
	cases := []struct {
		name string
		run  func(t *testing.T, b Backend)
	}{
		{"statements prepare", prepares},
		{"acknowledged is durable", durable},
		{"refused or failed leaves nothing", leavesNothing},
		{"a failed statement ends the transaction", failedStatement},
		{"a function runs twice and counts once", runsTwice},
		{"nothing leaves before the commit", leavesAfterCommit},
		{"a panic is its caller's alone", panics},
		{"lock order", lockOrder},
		{"locks serialise", locksSerialise},
		{"a reader's panic leaves nothing behind", readerPanics},
		{"property 3: a command sent twice takes effect once", operationsOnce},
		{"property 5: acknowledged is durable, the rest is no row", acknowledgedOnly},
		{"property 6: readers see one dense sequence", denseEvents},
		{"events filter and page", filterEvents},
		{"signals", signals},
		{"a slow reader is cut off", slowReader},
		{"a closed database says so", closed},
		{"tasks", tasks},
		{"visits, seats and decisions", seats},
		{"assignments, sessions and records", assignments},
		{"runs and wakes", runs},
		{"who occupies what", occupies},
		{"candidates", candidates},
		{"figures of what is open", stats},
		{"standing holds", holds},
		{"requests", requests},
		{"blockers and children", blockers},
		{"outbox, deferred, notices, audit", outbox},
		{"agents, people, tokens, workflows", agents},
		{"timers and nodes", timers},
		{"worktrees and their homes", worktrees},
		{"loads of nodes", loads},
		{"timers are found, advanced and deleted", timerLife},
		{"a run occupies all or nothing", occupation},
		{"routines and their tasks", routines},
		{"receipts and heartbeats", receipts},
		{"budgets, charges and stops", budgets},
		{"usage by every scope", usage},
		{"retention", retention},
		{"dump", dump},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, backend(t))
		})
	}
}

// write fails the test on any error.
func write(t testing.TB, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Write(t.Context(), fn); err != nil {
		t.Fatalf("write: %v", err)
	}
}

// read fails the test on any error.
func read(t testing.TB, db *store.DB, fn func(r *store.ReadTx) error) {
	t.Helper()
	if err := db.Read(t.Context(), fn); err != nil {
		t.Fatalf("read: %v", err)
	}
}

func prepares(t *testing.T, b Backend) {
	if err := b.Open(t, nil).Check(t.Context()); err != nil {
		t.Error(err)
	}
}
