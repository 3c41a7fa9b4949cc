package store

import (
	"time"

	fairlead "github.com/fairlead/fairlead"
)

const holdColumns = `id, workspace, kind, ref, state, until_at, wait, since, reset_at, probe, reported, noted, reason, version`

var (
	stmtHoldInsert = define("hold_insert", `
INSERT INTO holds (`+holdColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
ON CONFLICT (workspace, kind, ref) DO NOTHING`)
	stmtHoldSave = define("hold_save", `
UPDATE holds SET state = ?3, until_at = ?4, wait = ?5, reset_at = ?6, probe = ?7, reported = ?8, noted = ?9, reason = ?10, version = version + 1
WHERE id = ?1 AND version = ?2`)
	stmtHoldProbe = define("hold_probe", `
UPDATE holds SET state = 'probing', probe = ?2, version = version + 1 WHERE id = ?1 AND state = 'ready'`)
	stmtHoldDrop = define("hold_drop", `DELETE FROM holds WHERE id = ?1`)
	stmtHoldLoad = define("hold_load", `SELECT `+holdColumns+` FROM holds WHERE id = ?1 {{lock}}`)
	stmtHoldsOf  = define("holds_of", `
SELECT `+holdColumns+` FROM holds WHERE workspace = ?1 AND kind IN ('account', 'breaker', 'cooldown') AND ref IN (?2, ?3) ORDER BY kind, ref`)
	stmtHoldsLock = define("holds_lock", `
SELECT `+holdColumns+` FROM holds WHERE id IN (
  SELECT id FROM holds WHERE probe = ?4 AND probe <> '' UNION
  SELECT id FROM holds WHERE workspace = ?1 AND kind IN ('account', 'breaker', 'cooldown') AND ref IN (?2, ?3)
) ORDER BY kind, ref {{lock}}`)
	stmtHoldCount = define("holds_count", `SELECT kind, COUNT(*) FROM holds GROUP BY kind ORDER BY kind`)

	stmtFastFailed = define("fast_failed", `INSERT INTO fast_failures (workspace, agent, at, run) VALUES (?1, ?2, ?3, ?4)`)
	stmtFastCount  = define("fast_count", `SELECT COUNT(*) FROM fast_failures WHERE workspace = ?1 AND agent = ?2 AND at > ?3`)
	stmtFastPrune  = define("fast_prune", `DELETE FROM fast_failures WHERE workspace = ?1 AND agent = ?2 AND at <= ?3`)
)

func scanHold(s scanner, h *fairlead.StandingHold) error {
	var wait int64
	err := s.Scan(&h.ID, &h.Workspace, &h.Kind, &h.Ref, &h.State, timeCol{&h.Until}, &wait, timeCol{&h.Since}, timeCol{&h.ResetAt}, &h.Probe,
		boolCol{&h.Reported}, boolCol{&h.Noted}, &h.Reason, &h.Version)
	h.Wait = time.Duration(wait) * time.Microsecond
	return err
}

// covers reports whether the hold is one of an agent with an account.
func covers(h *fairlead.StandingHold, account, agent string) bool {
	return h.Ref == account && h.Kind == fairlead.HoldAccount || h.Ref == agent && h.Kind != fairlead.HoldAccount
}

// InsertHold adds a standing hold; false when there is one of its kind and reference already.
func (tx *Tx) InsertHold(h *fairlead.StandingHold) (bool, error) {
	h.Version = 1
	ok, err := tx.taken(stmtHoldInsert, h.ID, h.Workspace, h.Kind, h.Ref, h.State, micros(h.Until), h.Wait.Microseconds(), micros(h.Since),
		micros(h.ResetAt), h.Probe, truth(h.Reported), truth(h.Noted), h.Reason, h.Version)
	if ok && err == nil {
		tx.order.made(rankHolds, holdKey(h))
	}
	return ok, err
}

// SaveHold writes what may change, by compare and swap on h.Version, and raises it.
func (tx *Tx) SaveHold(h *fairlead.StandingHold) error {
	n, err := tx.exec(stmtHoldSave, h.ID, h.Version, h.State, micros(h.Until), h.Wait.Microseconds(), micros(h.ResetAt), h.Probe,
		truth(h.Reported), truth(h.Noted), h.Reason)
	if err := saved("hold", n, err); err != nil {
		return err
	}
	h.Version++
	return nil
}

// TakeProbe lets one run go first behind a hold whose time is over; false: another one does.
func (tx *Tx) TakeProbe(h *fairlead.StandingHold, run string) (bool, error) {
	tx.order.take(rankHolds, holdKey(h))
	return tx.taken(stmtHoldProbe, h.ID, run)
}

// DropHold releases a hold.
func (tx *Tx) DropHold(id string) error {
	return tx.later(stmtHoldDrop, id)
}

// LockHold locks one standing hold, nil if it was released.
func (tx *Tx) LockHold(id string) (*fairlead.StandingHold, error) {
	h, err := maybe(&tx.ReadTx, stmtHoldLoad, scanHold, id)
	if err == nil && h != nil {
		tx.order.take(rankHolds, holdKey(h))
	}
	return h, err
}

// LockHolds locks the standing holds of an account and an agent, and those behind which a run goes first, and returns
// them in the order of kind and reference. They are the last rows that a command locks.
func (tx *Tx) LockHolds(workspace, account, agent, run string) ([]fairlead.StandingHold, error) {
	rows, err := all(&tx.ReadTx, stmtHoldsLock, scanHold, workspace, account, agent, run)
	var held []fairlead.StandingHold
	for i := range rows {
		tx.order.take(rankHolds, holdKey(&rows[i]))
		if covers(&rows[i], account, agent) || rows[i].Probe != "" && rows[i].Probe == run {
			held = append(held, rows[i])
		}
	}
	return held, err
}

func holdKey(h *fairlead.StandingHold) string {
	return string(h.Kind) + "/" + h.Workspace + "/" + h.Ref
}

// HoldsOf returns the standing holds of an account and an agent.
func (r *ReadTx) HoldsOf(workspace, account, agent string) ([]fairlead.StandingHold, error) {
	key := [3]string{workspace, account, agent}
	rows, err := shared(r.shelf, func(s *shelf) map[[3]string][]fairlead.StandingHold { return s.holds }, key, func() ([]fairlead.StandingHold, error) {
		return all(r, stmtHoldsOf, scanHold, workspace, account, agent)
	})
	var held []fairlead.StandingHold
	for i := range rows {
		if covers(&rows[i], account, agent) {
			held = append(held, rows[i])
		}
	}
	return held, err
}

// CountHolds returns how many standing holds there are of each kind.
func (r *ReadTx) CountHolds() (map[fairlead.HoldKind]int, error) {
	counts := map[fairlead.HoldKind]int{}
	err := r.list(stmtHoldCount, func(s scanner) error {
		var kind fairlead.HoldKind
		var n int
		err := s.Scan(&kind, &n)
		counts[kind] = n
		return err
	})
	return counts, err
}

// FastFailure notes that an attempt of an agent failed right after its claim, and returns how many did so after since.
// Older ones are forgotten. The agent is locked, so that two commands do not both stay below the limit.
func (tx *Tx) FastFailure(workspace, agent, run string, since time.Time) (n int, err error) {
	if err := tx.later(stmtFastPrune, workspace, agent, micros(since)); err != nil {
		return 0, err
	}
	if err := tx.later(stmtFastFailed, workspace, agent, micros(tx.Now()), run); err != nil {
		return 0, err
	}
	_, err = tx.get(stmtFastCount, into(&n), workspace, agent, micros(since))
	return n, err
}

// ForgetFailures empties the breaker's memory of an agent.
func (tx *Tx) ForgetFailures(workspace, agent string) error {
	return tx.later(stmtFastPrune, workspace, agent, micros(tx.Now()))
}
