package store

import (
	"database/sql/driver"
	"fmt"
	"slices"
)

// Need names a read that a command will make soon; see [ReadTx.Ahead].
type Need struct {
	st   *Stmt
	args []any
}

// Ahead says what will be read next. On Postgres the reads travel together with the next statement, in this order and
// behind it, so that several cost one round trip; whatever is not read before the command next writes was for nothing.
func (r *ReadTx) Ahead(needs ...Need) {
	if r.err == nil {
		r.session.ahead(slices.DeleteFunc(needs, r.known))
	}
}

// known reports whether the read would be answered from memory.
func (r *ReadTx) known(n Need) bool { return n.st == stmtRunActive && r.memo.runsKnown }

// early is the answer to a need.
type early struct {
	need Need
	rows [][]driver.Value
}

// ahead implements session.
func (s *pgSession) ahead(needs []Need) {
	for _, n := range needs {
		plain, err := plainArgs(n.args)
		if err != nil {
			continue // whoever asks will hear of it
		}
		s.needs = append(s.needs, Need{n.st, plain})
	}
}

// takeNeeds returns what travels with a batch: what was named ahead, but for what the batch asks itself.
func (s *pgSession) takeNeeds(asks []*ask) []*ask {
	var out []*ask
	for _, n := range s.needs {
		if slices.ContainsFunc(asks, func(a *ask) bool { return n.answers(a) }) {
			continue
		}
		e := &early{need: n}
		s.early = append(s.early, e)
		out = append(out, &ask{st: n.st, args: n.args, each: e.keep})
	}
	s.needs = nil
	return out
}

// answers reports whether the need is what somebody asks for.
func (n Need) answers(a *ask) bool {
	if n.st != a.st || a.each == nil || len(n.args) != len(a.args) {
		return false
	}
	plain, err := plainArgs(a.args)
	return err == nil && slices.Equal(n.args, plain)
}

// keep takes up a row of the answer.
func (e *early) keep(s scanner) (bool, error) {
	r, ok := s.(*pgRow)
	if !ok {
		return false, fmt.Errorf("keep a row that is a %T", s)
	}
	values, err := r.values()
	e.rows = append(e.rows, values)
	return true, err
}

// fromEarly answers from what came back already. A single ask is what it answers: several go out together anyway.
func (s *pgSession) fromEarly(asks []*ask) (st *Stmt, done bool, err error) {
	if len(asks) != 1 || len(s.early) == 0 {
		return nil, false, nil
	}
	a := asks[0]
	i := slices.IndexFunc(s.early, func(e *early) bool { return e.need.answers(a) })
	if i < 0 {
		return nil, false, nil
	}
	e := s.early[i]
	s.early = slices.Delete(s.early, i, i+1)
	more := true
	for i := 0; more && err == nil && i < len(e.rows); i++ {
		more, err = a.each(keptRow(e.rows[i]))
	}
	return a.st, true, err
}

// keptRow is a row that was kept.
type keptRow []driver.Value

// Scan implements scanner.
func (r keptRow) Scan(dest ...any) error { return assignAll(dest, r) }

func assignAll(dest []any, values []driver.Value) error {
	if len(dest) != len(values) {
		return fmt.Errorf("scan %d columns into %d places", len(values), len(dest))
	}
	for i, d := range dest {
		if err := assign(d, values[i]); err != nil {
			return fmt.Errorf("scan column %d: %w", i, err)
		}
	}
	return nil
}
