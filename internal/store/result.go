package store

import (
	fairlead "github.com/fairlead/fairlead"
)

// notFound is the error of a row that must be there.
func notFound(noun string) *fairlead.Error {
	return fairlead.Errorf(fairlead.CodeNotFound, "no such %s", noun).WithOp("load " + noun)
}

// one reads the row that must be there.
func one(r *ReadTx, noun string, st *Stmt, scan func(scanner) error, args ...any) error {
	found, err := r.get(st, scan, args...)
	if err == nil && !found {
		return notFound(noun)
	}
	return err
}

// all collects the rows of a statement.
func all[T any](r *ReadTx, st *Stmt, scan func(scanner, *T) error, args ...any) ([]T, error) {
	var out []T
	err := r.list(st, func(s scanner) error {
		var v T
		if err := scan(s, &v); err != nil {
			return err
		}
		out = append(out, v)
		return nil
	}, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// maybe reads a row that may be absent.
func maybe[T any](r *ReadTx, st *Stmt, scan func(scanner, *T) error, args ...any) (*T, error) {
	var v T
	found, err := r.get(st, func(s scanner) error { return scan(s, &v) }, args...)
	if err != nil || !found {
		return nil, err
	}
	return &v, nil
}

// swapped is the error of a compare and swap that found no row: somebody else was faster.
func swapped(noun string) error {
	return fairlead.Errorf(fairlead.CodeStale, "the %s has changed meanwhile", noun).WithHint("read it again").WithOp("save " + noun)
}

// saved turns the count of a compare and swap into an error.
func saved(noun string, n int64, err error) error {
	if err == nil && n == 0 {
		return swapped(noun)
	}
	return err
}

// scanText scans one text column.
func scanText(s scanner, v *string) error { return s.Scan(v) }
