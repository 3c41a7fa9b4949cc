package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// ratio measures c callers on both sides.
func (b *bench) ratio(ctx context.Context, model []writes, c int) error {
	e, err := openEngine(ctx, filepath.Join(b.dir, fmt.Sprint("engine", c)), b.size.moved)
	if err != nil {
		return err
	}
	defer e.db.Close() //nolint:errcheck // a scratch database
	dir := filepath.Join(b.dir, fmt.Sprint("baseline", c))
	other, err := openEngine(ctx, dir, b.size.moved)
	if err != nil {
		return err
	}
	if err := other.db.Close(); err != nil {
		return err
	}
	raw, err := openBaseline(ctx, other.path, model)
	if err != nil {
		return err
	}
	defer raw.close() //nolint:errcheck // a scratch database
	paths := [2]string{e.path, other.path}
	var before [2]map[string]int
	for i, path := range paths {
		if before[i], err = counts(ctx, path, model); err != nil {
			return err
		}
	}
	count := max(int(b.size.bound.run.Seconds()*750), 50)
	var base, engine []Load
	for range b.size.rounds {
		l, err := raw.measure(ctx, c, count)
		if err != nil {
			return err
		}
		base = append(base, l)
		if l, err = e.measureMoves(ctx, c, bound{run: b.size.bound.run / 2}); err != nil {
			return err
		}
		engine = append(engine, l)
	}
	for i, path := range paths {
		after, err := counts(ctx, path, model)
		if err != nil {
			return err
		}
		if err := sameRows(before[i], after, model); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(filepath.Dir(path)), err)
		}
	}
	lb, le := median(base), median(engine)
	b.add(Result{Name: "baseline: a move's rows, SQLite alone", Database: "sqlite", Callers: c, Load: &lb})
	b.add(Result{Name: "engine: moves without HTTP", Database: "sqlite", Callers: c, Load: &le})
	b.add(Result{
		Name: "engine / baseline", Callers: c, Value: round(le.PerSecond / lb.PerSecond), Unit: "×", Goals: []Goal{atLeast("value", 0.6)},
	})
	return nil
}

// median is the load of the middle rate.
func median(loads []Load) Load {
	slices.SortFunc(loads, func(a, b Load) int {
		switch {
		case a.PerSecond < b.PerSecond:
			return -1
		case a.PerSecond > b.PerSecond:
			return 1
		}
		return 0
	})
	return loads[len(loads)/2]
}

// counts is how many rows the tables hold that a move writes.
func counts(ctx context.Context, path string, model []writes) (map[string]int, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=query_only(1)&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // read only
	out := map[string]int{}
	for _, w := range model {
		var n int
		if err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+w.table).Scan(&n); err != nil {
			return nil, fmt.Errorf("count %s: %w", w.table, err)
		}
		out[w.table] = n
	}
	return out, nil
}

// sameRows fails unless each move, which has one operation row, added exactly the model's rows to every table.
func sameRows(before, after map[string]int, model []writes) error {
	moves := after["operations"] - before["operations"]
	for _, w := range model {
		if n := after[w.table] - before[w.table]; n != moves*len(w.insert) {
			return fmt.Errorf("%d moves added %d rows to %s, want %d each", moves, n, w.table, len(w.insert))
		}
	}
	return nil
}

// scratch makes a directory of the run.
func (b *bench) scratch(name string) (string, error) {
	return os.MkdirTemp(b.dir, name+"-")
}
