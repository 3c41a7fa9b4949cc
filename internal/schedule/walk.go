package schedule

import (
	"math/bits"
	"time"
)

// next finds the first fire after a time. A reading of the local clock is carried as a time in UTC with the same
// digits, which makes arithmetic on readings plain.
//
// [instant] never falls while readings rise, so no reading before the one at after can fire later than it.
func (c *cron) next(after time.Time) time.Time {
	l := after.In(c.zone)
	r := time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)
	for {
		r = c.reading(r)
		if r.IsZero() {
			return time.Time{}
		}
		if t := instant(r, c.zone); t.After(after) {
			return t
		}
		r = r.Add(time.Minute)
	}
}

// reading returns the first reading from r on that the line matches, the zero time if there is none.
func (c *cron) reading(r time.Time) time.Time {
	for r.Year() <= lastYear {
		y, m, d := r.Date()
		switch {
		case !c.has(month, int(m)):
			r = time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
		case !c.day(r):
			r = time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
		case !c.has(hour, r.Hour()):
			r = time.Date(y, m, d, r.Hour()+1, 0, 0, 0, time.UTC)
		case !c.has(minute, r.Minute()):
			r = r.Add(time.Minute)
		default:
			return r
		}
	}
	return time.Time{}
}

func (c *cron) day(r time.Time) bool {
	date, week := c.has(dayOfMonth, r.Day()), c.has(dayOfWeek, int(r.Weekday()))
	if c.either {
		return date || week
	}
	return date && week
}

// farthest is more than any zone was ever away from UTC.
const farthest = 48 * time.Hour

// instant returns when the clock of a zone shows a reading: the first time if it shows it twice, the moment of the jump
// if it skips it. The standard library leaves open which of two it chooses, so the spans of equal offset are walked in
// order: the first one that ends after the reading either shows it or begins beyond it.
func instant(reading time.Time, zone *time.Location) time.Time {
	at := reading.Add(-farthest).In(zone)
	for {
		_, offset := at.Zone()
		start, end := at.ZoneBounds()
		t := reading.Add(-time.Duration(offset) * time.Second)
		if end.IsZero() || t.Before(end) {
			if !start.IsZero() && t.Before(start) {
				return start.UTC()
			}
			return t
		}
		at = end
	}
}

// steady returns when the local day of a fire began and how many fires it has in all, provided that it is a plain day:
// 24 hours of one offset, with no reading that was shown before. Otherwise it returns 0 fires.
func (c *cron) steady(fire time.Time) (day time.Time, fires int) {
	l := fire.In(c.zone)
	y, m, d := l.Date()
	_, offset := l.Zone()
	day = time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Add(-time.Duration(offset) * time.Second)
	start, end := l.ZoneBounds()
	if day.Before(start.Add(farthest)) || !end.IsZero() && day.Add(24*time.Hour).After(end) {
		return day, 0
	}
	return day, bits.OnesCount64(c.sets[hour]) * bits.OnesCount64(c.sets[minute])
}
