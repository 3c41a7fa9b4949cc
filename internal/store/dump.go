package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

var stmtTables = define("tables", `{{tables}}`)

// Dump returns every row of every table as text, in one order on both databases, and every sequence's value: two equal
// dumps mean that nothing whatever has changed in between. It is for tests and for doctor; a dump holds hashes of
// tokens.
func (db *DB) Dump(ctx context.Context) ([]byte, error) {
	var b strings.Builder
	err := db.Read(ctx, func(r *ReadTx) error {
		tables, err := all(r, stmtTables, scanText)
		if err != nil {
			return err
		}
		for _, t := range tables {
			lines, err := r.dumpTable(t)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "# %s %d\n%s", t, len(lines), strings.Join(lines, ""))
		}
		return nil
	})
	return []byte(b.String()), err
}

// dumpTable returns one line a row, sorted. The name comes from the catalogue, so it may stand in a text.
func (r *ReadTx) dumpTable(table string) ([]string, error) {
	text := `SELECT * FROM "` + table + `"`
	var lines []string
	err := r.list(&Stmt{name: "dump", once: true, sqlite: text, postgres: text}, func(s scanner) error {
		line, err := dumpRow(s)
		lines = append(lines, line)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("dump %s: %w", table, err)
	}
	slices.Sort(lines)
	return lines, nil
}

func dumpRow(s scanner) (string, error) {
	r, ok := s.(namedRow)
	if !ok {
		return "", fmt.Errorf("a row without names: %T", s)
	}
	columns := r.Columns()
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	if err := r.Scan(targets...); err != nil {
		return "", err
	}
	row := map[string]any{}
	for i, c := range columns {
		if text, ok := values[i].([]byte); ok {
			values[i] = string(text)
		}
		row[c] = values[i]
	}
	line, err := json.Marshal(row)
	return string(line) + "\n", err
}
