package storetest

import (
	"testing"
	"time"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

func aHold(id string, kind fairlead.HoldKind, ref string) fairlead.StandingHold {
	return fairlead.StandingHold{
		ID: id, Workspace: "w", Kind: kind, Ref: ref, State: fairlead.HoldShut, Until: at.Add(time.Hour), Wait: time.Hour, Since: at, ResetAt: at, Reason: "why",
	}
}

func holds(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1")
	account, breaker := aHold("hld_1", fairlead.HoldAccount, "agent:coder"), aHold("hld_2", fairlead.HoldBreaker, "coder")
	write(t, db, func(tx *store.Tx) error {
		for _, h := range []*fairlead.StandingHold{&breaker, &account} {
			if ok, err := tx.InsertHold(h); err != nil || !ok {
				t.Errorf("insert: %v, %v", ok, err)
			}
		}
		again := aHold("hld_3", fairlead.HoldAccount, "agent:coder")
		ok, err := tx.InsertHold(&again)
		same(t, "a second one of its reference", false, ok)
		held, err1 := tx.LockHolds("w", "agent:coder", "coder", "")
		same(t, "locked", []fairlead.StandingHold{account, breaker}, held)
		return first(err, err1)
	})
	probe := func(want bool) {
		t.Helper()
		write(t, db, func(tx *store.Tx) error {
			ok, err := tx.TakeProbe(&account, "run_1")
			same(t, "probe taken", want, ok)
			return err
		})
	}
	probe(false) // its time is not over
	account.State = fairlead.HoldReady
	write(t, db, func(tx *store.Tx) error { return tx.SaveHold(&account) })
	probe(true)
	probe(false)
	stale(t, "save hold", db.Write(t.Context(), func(tx *store.Tx) error { return tx.SaveHold(&account) }))
	account.State, account.Probe, account.Version = fairlead.HoldProbing, "run_1", account.Version+1
	read(t, db, func(r *store.ReadTx) error {
		held, err := r.HoldsOf("w", "agent:coder", "ada")
		same(t, "of another agent of the account", []fairlead.StandingHold{account}, held)
		none, err1 := r.HoldsOf("w", "coder", "agent:coder") // names of two kinds do not mix
		same(t, "crossed names", nil, none)
		counts, err2 := r.CountHolds()
		same(t, "counts", map[fairlead.HoldKind]int{fairlead.HoldAccount: 1, fairlead.HoldBreaker: 1}, counts)
		return first(err, err1, err2)
	})
	write(t, db, func(tx *store.Tx) error {
		held, err := tx.LockHolds("w", "other", "ada", "run_1")
		same(t, "behind which the run goes first", []fairlead.StandingHold{account}, held)
		return first(err, tx.DropHold("hld_1"))
	})
	write(t, db, func(tx *store.Tx) error {
		gone, err := tx.LockHold("hld_1")
		same(t, "a released hold", nil, gone)
		there, err1 := tx.LockHold("hld_2")
		same(t, "the other", &breaker, there)
		return first(err, err1)
	})
	fastFailures(t, db)
}

func fastFailures(t *testing.T, db *store.DB) {
	write(t, db, func(tx *store.Tx) error {
		for want := 1; want < 4; want++ {
			n, err := tx.FastFailure("w", "coder", "run_1", tx.Now().Add(-time.Minute))
			if err != nil || n != want {
				t.Errorf("got %d failures, want %d (%v)", n, want, err)
			}
		}
		n, err := tx.FastFailure("w", "coder", "run_1", tx.Now())
		same(t, "older ones are forgotten", 0, n)
		return first(err, tx.ForgetFailures("w", "coder"))
	})
}
