package main

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A row is one row of a table by its columns, in the table's order.
type row struct {
	columns []string
	values  []any
}

func (r row) get(column string) any {
	if i := slices.Index(r.columns, column); i >= 0 {
		return r.values[i]
	}
	return nil
}

// table is what a table holds, by primary key.
type table struct {
	key  []string // columns of the primary key
	rows map[string]row
}

// writes is what one command did to one table.
type writes struct {
	table   string
	key     []string
	columns []string // of inserted rows
	insert  [][]any
	update  []change
}

// change is one changed row: its key and the columns that differ.
type change struct {
	key     []any
	columns []string
	values  []any
}

// contents reads every table of the database, and the tables' order.
func contents(ctx context.Context, db *sql.DB) (map[string]table, []string, error) {
	names, err := column(ctx, db, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
	if err != nil {
		return nil, nil, err
	}
	out := map[string]table{}
	for _, name := range names {
		key, err := column(ctx, db, `SELECT name FROM pragma_table_info('`+name+`') WHERE pk > 0 ORDER BY pk`)
		if err != nil {
			return nil, nil, err
		}
		t := table{key: key, rows: map[string]row{}}
		if err := t.fill(ctx, db, name); err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", name, err)
		}
		out[name] = t
	}
	return out, names, nil
}

func (t *table) fill(ctx context.Context, db *sql.DB, name string) error {
	rows, err := db.QueryContext(ctx, `SELECT * FROM "`+name+`"`) //nolint:gosec // the name comes from the catalogue
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // its error is also Err's
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		r := row{columns: columns, values: make([]any, len(columns))}
		places := make([]any, len(columns))
		for i := range places {
			places[i] = &r.values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return err
		}
		t.rows[t.keyOf(r)] = r
	}
	return rows.Err()
}

func (t *table) keyOf(r row) string {
	var b strings.Builder
	for _, k := range t.key {
		fmt.Fprintf(&b, "%v\x00", r.get(k))
	}
	return b.String()
}

func column(ctx context.Context, db *sql.DB, text string) (out []string, err error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // its error is also Err's
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// difference is what was written between two looks at a database, in the order of the tables' names.
func difference(before, after map[string]table, names []string) (out []writes) {
	for _, name := range names {
		now := after[name]
		w := writes{table: name, key: now.key}
		keys := make([]string, 0, len(now.rows))
		for k := range now.rows {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			r := now.rows[k]
			old, there := before[name].rows[k]
			switch {
			case !there:
				w.columns = r.columns
				w.insert = append(w.insert, r.values)
			case !reflect.DeepEqual(old.values, r.values):
				w.update = append(w.update, changed(now.key, old, r))
			}
		}
		if len(w.insert)+len(w.update) > 0 {
			out = append(out, w)
		}
	}
	return out
}

func changed(key []string, old, now row) change {
	var c change
	for _, k := range key {
		c.key = append(c.key, now.get(k))
	}
	for i, name := range now.columns {
		if !reflect.DeepEqual(old.values[i], now.values[i]) {
			c.columns = append(c.columns, name)
			c.values = append(c.values, now.values[i])
		}
	}
	return c
}
