package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// liteRows are the rows of one statement, read one by one.
type liteRows struct {
	conn *liteConn
	ctx  context.Context
	rows driver.Rows
	once driver.Stmt // closed with the rows
	vals []driver.Value
	err  error
}

var _ namedRow = (*liteRows)(nil)

// Columns returns the names of the columns.
func (r *liteRows) Columns() []string { return r.rows.Columns() }

// Next steps to the next row; false at the end or at an error.
func (r *liteRows) Next() bool {
	if r.err != nil {
		return false
	}
	if r.err = r.ctx.Err(); r.err != nil {
		return false
	}
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	if r.vals == nil {
		r.vals = make([]driver.Value, len(r.rows.Columns()))
	}
	r.err = r.rows.Next(r.vals)
	return r.err == nil
}

// Scan copies the row's columns into dest.
func (r *liteRows) Scan(dest ...any) error { return assignAll(dest, r.vals) }

// Err is the error that ended the rows, if one did.
func (r *liteRows) Err() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}

// Close gives the statement back.
func (r *liteRows) Close() error {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	err := r.rows.Close()
	if r.once != nil {
		err = errors.Join(err, r.once.Close())
	}
	return err
}

// assign puts a column into a place of a scan function. The places of this package are texts, whole numbers, floats,
// bytes, their named kinds, and the column types that scan themselves.
func assign(dest any, src driver.Value) error {
	switch d := dest.(type) {
	case sql.Scanner:
		return d.Scan(src)
	case *string:
		s, err := textOf(src)
		*d = s
		return err
	case *int64:
		n, err := wholeOf(src)
		*d = n
		return err
	case *int:
		n, err := wholeOf(src)
		*d = int(n)
		return err
	case *float64:
		f, err := floatOf(src)
		*d = f
		return err
	case *bool:
		n, err := wholeOf(src)
		*d = n != 0
		return err
	case *any:
		*d = src
		return nil
	}
	return assignNamed(dest, src)
}

// assignNamed is assign for types with names of their own, as states and kinds have them.
func assignNamed(dest any, src driver.Value) error {
	v := reflect.ValueOf(dest)
	if v.Kind() != reflect.Pointer {
		return fmt.Errorf("place is a %T", dest)
	}
	switch v = v.Elem(); v.Kind() {
	case reflect.String:
		s, err := textOf(src)
		if err == nil {
			v.SetString(s)
		}
		return err
	case reflect.Int, reflect.Int64, reflect.Int32:
		n, err := wholeOf(src)
		if err == nil {
			v.SetInt(n)
		}
		return err
	}
	return fmt.Errorf("place is a %T", dest)
}

func wholeOf(src driver.Value) (int64, error) {
	if n, ok := src.(int64); ok {
		return n, nil
	}
	return 0, fmt.Errorf("number column holds %T", src)
}

func floatOf(src driver.Value) (float64, error) {
	switch n := src.(type) {
	case float64:
		return n, nil
	case int64:
		return float64(n), nil
	}
	return 0, fmt.Errorf("number column holds %T", src)
}

// named appends to out what the driver takes: one value for each placeholder.
func named(out []driver.NamedValue, order []int, args []any) ([]driver.NamedValue, error) {
	for i, k := range order {
		if k >= len(args) {
			return out, fmt.Errorf("argument %d is missing", k+1)
		}
		v, err := valueOf(args[k])
		if err != nil {
			return out, fmt.Errorf("argument %d: %w", k+1, err)
		}
		out = append(out, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return out, nil
}

func valueOf(a any) (driver.Value, error) {
	switch v := a.(type) {
	case string, int64, float64, nil:
		return v, nil
	case int:
		return int64(v), nil
	case driver.Valuer:
		return v.Value()
	}
	return driver.DefaultParameterConverter.ConvertValue(a)
}
