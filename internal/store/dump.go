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
	rows, err := r.session.query(r.ctx, &Stmt{name: "dump", once: true, sqlite: text, postgres: text}, nil)
	if err != nil {
		return nil, fmt.Errorf("dump %s: %w", table, err)
	}
	defer func() { _ = rows.Close() }() // its error is also Err's
	columns, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("dump %s: %w", table, err)
	}
	var lines []string
	for rows.Next() {
		values := make([]any, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, fmt.Errorf("dump %s: %w", table, err)
		}
		row := map[string]any{}
		for i, c := range columns {
			if text, ok := values[i].([]byte); ok {
				values[i] = string(text)
			}
			row[c] = values[i]
		}
		line, err := json.Marshal(row)
		if err != nil {
			return nil, fmt.Errorf("dump %s: %w", table, err)
		}
		lines = append(lines, string(line)+"\n")
	}
	slices.Sort(lines)
	return lines, rows.Err()
}
