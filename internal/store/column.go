package store

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	fairlead "github.com/fairlead/fairlead"
)

// Columns are plain: times are microseconds, truths are 0 and 1, structured values are JSON text. The types below carry
// them in and out without reflection beside each statement.

// timeCol scans a time; 0 is the zero time.
type timeCol struct{ t *time.Time }

// Scan implements sql.Scanner.
func (c timeCol) Scan(src any) error {
	us, ok := src.(int64)
	if !ok {
		return fmt.Errorf("time column holds %T", src)
	}
	*c.t = fromMicros(us)
	return nil
}

// boolCol scans a truth.
type boolCol struct{ b *bool }

// Scan implements sql.Scanner.
func (c boolCol) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("truth column holds %T", src)
	}
	*c.b = n != 0
	return nil
}

// truth is a bool as it is stored.
func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// jsonCol scans structured values; an empty text, list or object leaves the zero value.
type jsonCol struct{ v any }

// Scan implements sql.Scanner.
func (c jsonCol) Scan(src any) error {
	text, err := textOf(src)
	if err != nil {
		return err
	}
	switch text {
	case "", "{}", "[]", "null":
		return nil
	}
	return fromJSON(text, c.v)
}

// rawCol scans JSON that is handed on as it is.
type rawCol struct{ v *json.RawMessage }

// Scan implements sql.Scanner.
func (c rawCol) Scan(src any) error {
	text, err := textOf(src)
	if err == nil && text != "" {
		*c.v = json.RawMessage(text)
	}
	return err
}

// seedCol scans the seed of an operation.
type seedCol struct{ s *fairlead.Seed }

// Scan implements sql.Scanner.
func (c seedCol) Scan(src any) error {
	text, err := textOf(src)
	if err != nil {
		return err
	}
	return decodeSeed(text, c.s)
}

func textOf(src any) (string, error) {
	switch s := src.(type) {
	case string:
		return s, nil
	case []byte:
		return string(s), nil
	}
	return "", fmt.Errorf("text column holds %T", src)
}

// jsonArg passes a structured value; empty is what an absent value is stored as.
type jsonArg struct {
	v     any
	empty string
}

// Value implements driver.Valuer.
func (a jsonArg) Value() (driver.Value, error) {
	if a.v == nil {
		return a.empty, nil
	}
	text, err := jsonText(a.v)
	if err != nil {
		return nil, err
	}
	if text == "null" {
		return a.empty, nil
	}
	return text, nil
}

// listArg, mapArg and pointerArg pass structured values. Most are empty, and those need no encoder.
func listArg[T any](v []T) jsonArg {
	if len(v) == 0 {
		return jsonArg{nil, "[]"}
	}
	return jsonArg{v, "[]"}
}

func mapArg(v map[string]any) jsonArg {
	if len(v) == 0 {
		return jsonArg{nil, "{}"}
	}
	return jsonArg{v, "{}"}
}

func pointerArg[T any](v *T) driver.Valuer {
	if v == nil {
		return jsonArg{nil, ""}
	}
	return jsonArg{v, ""}
}

// actorArg passes an actor. Actors stand in most rows, so the usual ones are written without the encoder.
type actorArg fairlead.Actor

// Value implements driver.Valuer.
func (a actorArg) Value() (driver.Value, error) {
	if !plain(string(a.Kind)) || !plain(a.Key) || !plain(a.Assignment) || !plain(a.Run) {
		return jsonText(fairlead.Actor(a))
	}
	text := `{"kind":"` + string(a.Kind) + `","key":"` + a.Key + `"`
	if a.Assignment != "" {
		text += `,"assignment":"` + a.Assignment + `"`
	}
	if a.Run != "" {
		text += `,"run":"` + a.Run + `"`
	}
	return text + "}", nil
}

// plain reports whether JSON writes the text as it is.
func plain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '-' || c == '_' || c == ':' || c == '.':
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		default:
			return false
		}
	}
	return true
}

var (
	_ sql.Scanner   = timeCol{}
	_ sql.Scanner   = boolCol{}
	_ sql.Scanner   = jsonCol{}
	_ sql.Scanner   = rawCol{}
	_ sql.Scanner   = seedCol{}
	_ driver.Valuer = jsonArg{}
	_ driver.Valuer = actorArg{}
)
