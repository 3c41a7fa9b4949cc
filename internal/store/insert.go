package store

import (
	"fmt"
	"strings"
)

// insertBatch is how many rows one statement inserts at most.
const insertBatch = 8

// inserts are statements that insert 1, 2 … rows of a table: a command that writes several rows of a kind writes them
// with one statement.
type inserts [insertBatch]*Stmt

// defineInserts registers the statements that insert whole rows of the columns.
func defineInserts(name, table, columns string) (out inserts) {
	width := strings.Count(columns, ",") + 1
	var rows []string
	for n := range insertBatch {
		marks := make([]string, width)
		for i := range marks {
			marks[i] = fmt.Sprintf("?%d", n*width+i+1)
		}
		rows = append(rows, "("+strings.Join(marks, ", ")+")")
		out[n] = define(fmt.Sprintf("%s_%d", name, n+1), `INSERT INTO `+table+` (`+columns+`) VALUES `+strings.Join(rows, ", "))
	}
	return out
}

// insertBatches inserts the rows in their order; add appends the columns of one.
func insertBatches[T any](tx *Tx, st inserts, rows []T, add func(args []any, row *T) []any) error {
	for len(rows) > 0 {
		n := min(len(rows), insertBatch)
		var args []any
		for i := range rows[:n] {
			args = add(args, &rows[i])
		}
		if err := tx.later(st[n-1], args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}
