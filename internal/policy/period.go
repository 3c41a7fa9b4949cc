package policy

import "time"

// Period is the span a budget's limit is for.
type Period string

// The periods.
const (
	PeriodDay   Period = "day"   // from midnight to midnight in the budget's zone
	PeriodMonth Period = "month" // from the first of a month to that of the next
	PeriodTotal Period = "total" // for ever
)

// Span is one period. It holds Start and not End; both are zero for [PeriodTotal]. Key names it among the periods of
// its budget: "2026-12-01", "2026-12" or "total".
type Span struct {
	Start, End time.Time
	Key        string
}

// Span returns the period of the given time. A day is as long as the zone's clock makes it: 23 or 25 hours when summer
// time begins or ends, and from the jump on where the clock skips midnight. A nil zone is UTC.
func (p Period) Span(at time.Time, zone *time.Location) Span {
	if zone == nil {
		zone = time.UTC
	}
	y, m, d := at.In(zone).Date()
	switch p {
	case PeriodDay:
		return Span{midnight(y, m, d, zone), midnight(y, m, d+1, zone), at.In(zone).Format(time.DateOnly)}
	case PeriodMonth:
		return Span{midnight(y, m, 1, zone), midnight(y, m+1, 1, zone), at.In(zone).Format("2006-01")}
	case PeriodTotal:
	}
	return Span{Key: string(PeriodTotal)}
}

// Contains reports whether a time is in the span.
func (s Span) Contains(t time.Time) bool {
	return s.End.IsZero() || !t.Before(s.Start) && t.Before(s.End)
}

// midnight returns when a date begins in a zone: at its first 0:00, or where the clock skips that, at the jump. The
// standard library leaves open which of two it chooses, so the spans of equal offset around it are looked at in order.
func midnight(year int, month time.Month, day int, zone *time.Location) time.Time {
	reading := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	at := reading.Add(-48 * time.Hour).In(zone)
	for {
		_, offset := at.Zone()
		start, end := at.ZoneBounds()
		t := reading.Add(-time.Duration(offset) * time.Second)
		if end.IsZero() || t.Before(end) {
			if t.Before(start) {
				return start.UTC()
			}
			return t
		}
		at = end
	}
}
