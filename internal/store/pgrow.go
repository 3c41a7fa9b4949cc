package store

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// pgRow is the row that rows stand at. Columns are read without pgx' plans: there are four kinds of them.
type pgRow struct{ rows pgx.Rows }

var _ namedRow = (*pgRow)(nil)

// Scan copies the row's columns into dest.
func (r *pgRow) Scan(dest ...any) error {
	values, err := r.values()
	if err != nil {
		return err
	}
	return assignAll(dest, values)
}

func (r *pgRow) values() ([]driver.Value, error) {
	fields, raw := r.rows.FieldDescriptions(), r.rows.RawValues()
	values := make([]driver.Value, len(raw))
	for i := range raw {
		v, err := r.value(&fields[i], raw[i])
		if err != nil {
			return nil, fmt.Errorf("read column %d: %w", i, err)
		}
		values[i] = v
	}
	return values, nil
}

// Columns returns the names of the columns.
func (r *pgRow) Columns() []string {
	var names []string
	for _, f := range r.rows.FieldDescriptions() {
		names = append(names, f.Name)
	}
	return names
}

// value reads one column as what the other database's driver would give.
func (r *pgRow) value(f *pgconn.FieldDescription, raw []byte) (driver.Value, error) {
	if raw == nil {
		return nil, nil
	}
	binaryForm := f.Format == pgx.BinaryFormatCode
	switch f.DataTypeOID {
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.NameOID:
		return string(raw), nil
	case pgtype.Int8OID:
		if binaryForm && len(raw) == 8 {
			return int64(binary.BigEndian.Uint64(raw)), nil //nolint:gosec // the column's own sign
		}
	case pgtype.Int4OID:
		if binaryForm && len(raw) == 4 {
			return int64(int32(binary.BigEndian.Uint32(raw))), nil //nolint:gosec // the column's own sign
		}
	case pgtype.Float8OID:
		if binaryForm && len(raw) == 8 {
			return math.Float64frombits(binary.BigEndian.Uint64(raw)), nil
		}
	case pgtype.BoolOID:
		if binaryForm && len(raw) == 1 {
			return int64(raw[0]), nil
		}
	case pgtype.ByteaOID:
		if binaryForm {
			return slices.Clone(raw), nil
		}
	}
	return r.other(f, raw)
}

// other reads the kinds that only sums and the catalogue have.
func (r *pgRow) other(f *pgconn.FieldDescription, raw []byte) (driver.Value, error) {
	types := r.rows.Conn().TypeMap()
	var n int64
	if err := types.Scan(f.DataTypeOID, f.Format, raw, &n); err == nil {
		return n, nil
	}
	var x float64
	if err := types.Scan(f.DataTypeOID, f.Format, raw, &x); err == nil {
		return x, nil
	}
	var text string
	if err := types.Scan(f.DataTypeOID, f.Format, raw, &text); err != nil {
		return nil, fmt.Errorf("column of type %d: %w", f.DataTypeOID, err)
	}
	return text, nil
}
