package store

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	fairlead "github.com/fairlead/fairlead"
)

// Page asks for part of a list. Cursor is what the page before returned, "" for the first one.
type Page struct {
	Limit  int // 0 = 50, at most 200
	Cursor string
}

const (
	pageDefault = 50
	pageMost    = 200
)

func (p Page) limit() int {
	if p.Limit <= 0 {
		return pageDefault
	}
	return min(p.Limit, pageMost)
}

// before reads the cursor of a list that goes from new to old.
func (p Page) before() (at int64, id string, err error) {
	if p.Cursor == "" {
		return math.MaxInt64, "", nil
	}
	first, id, err := p.parts()
	if err != nil {
		return 0, "", err
	}
	at, perr := strconv.ParseInt(first, 10, 64)
	if perr != nil {
		return 0, "", badCursor()
	}
	return at, id, nil
}

// behind reads the cursor of a list in order of position.
func (p Page) behind() (position float64, id string, err error) {
	if p.Cursor == "" {
		return -math.MaxFloat64, "", nil
	}
	first, id, err := p.parts()
	if err != nil {
		return 0, "", err
	}
	position, perr := strconv.ParseFloat(first, 64)
	if perr != nil {
		return 0, "", badCursor()
	}
	return position, id, nil
}

func (p Page) parts() (first, id string, err error) {
	raw, derr := base64.RawURLEncoding.DecodeString(p.Cursor)
	first, id, ok := strings.Cut(string(raw), "|")
	if derr != nil || !ok {
		return "", "", badCursor()
	}
	return first, id, nil
}

func badCursor() *fairlead.Error {
	return fairlead.Errorf(fairlead.CodeInvalid, "the cursor is not one of ours").WithHint("leave it out to begin anew")
}

func cursor(first, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(first + "|" + id))
}

func timeCursor(at time.Time, id string) string { return cursor(strconv.FormatInt(micros(at), 10), id) }

func positionCursor(position float64, id string) string {
	return cursor(strconv.FormatFloat(position, 'g', -1, 64), id)
}

// cut takes the one row too many off that tells whether there is another page, and makes its cursor.
func cut[T any](rows []T, limit int, mark func(*T) string) (items []T, next string) {
	if len(rows) <= limit {
		return rows, ""
	}
	return rows[:limit], mark(&rows[limit-1])
}
