package policy

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a provider may name a zone that the machine has no list of
)

// moment is a point of the calendar as far as a text states it.
type moment struct {
	year, day      int
	month          time.Month
	weekday        int // -1 = none
	ahead          int // days after today; -1 = none
	hour, min, sec int
	clock          bool
	zone           *time.Location
}

// moment reads the words from i on as a date, a time of the day and a zone, in any order, and completes them.
func (p *phrase) moment(i int) (time.Time, bool) {
	m := moment{weekday: -1, ahead: -1, zone: p.zone}
	for ; i < len(p.words); i++ {
		if t, ok := p.exact(i); ok {
			return t, true
		}
		w, next := p.at(i), p.at(i+1)
		if w == "at" || w == "on" || w == "of" {
			continue
		}
		used := m.readClock(w, next)
		if used == 0 {
			used = m.readDate(w, next)
		}
		if used == 0 && m.stated() {
			used = m.readZone(p.words[i].text)
		}
		if used == 0 {
			break
		}
		i += used - 1
	}
	if !m.stated() {
		return time.Time{}, false
	}
	return m.after(p.now), true
}

// exact reads a complete date of ISO form, in one word or two.
func (p *phrase) exact(i int) (time.Time, bool) {
	w := strings.ToUpper(p.at(i))
	if len(w) < len(time.DateOnly) {
		return time.Time{}, false
	}
	if t, err := time.Parse(time.RFC3339, w); err == nil {
		return t, true
	}
	zone := p.zone
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if _, err := time.Parse(layout, w); err == nil {
			m := moment{zone: zone}
			m.readZone(p.word(i + 1))
			t, _ := time.ParseInLocation(layout, w, m.zone)
			return t, true
		}
	}
	day, err := time.Parse(time.DateOnly, w)
	if err != nil {
		return time.Time{}, false
	}
	m := moment{zone: zone, year: day.Year(), month: day.Month(), day: day.Day()}
	i++
	if p.at(i) == "at" {
		i++
	}
	i += m.readClock(p.at(i), p.at(i+1))
	m.readZone(p.word(i))
	return m.on(m.year, m.month, m.day), true
}

func (p *phrase) word(i int) string {
	if i < len(p.words) {
		return p.words[i].text
	}
	return ""
}

// stated reports whether there is enough to name a time.
func (m *moment) stated() bool {
	return m.clock || m.weekday >= 0 || m.ahead >= 0 || m.month > 0 && m.day > 0
}

// readClock reads 3pm, "3 pm", 3:05pm, "3:05 PM", 15:00, 15:00:30, noon or midnight, and returns how many words it took.
func (m *moment) readClock(w, next string) int {
	if m.clock {
		return 0
	}
	switch w {
	case "noon":
		m.hour, m.clock = 12, true
		return 1
	case "midnight":
		m.clock = true
		return 1
	}
	used, half := 1, ""
	for _, suffix := range []string{"am", "pm", "a.m", "p.m"} {
		if digits, ok := strings.CutSuffix(w, suffix); ok {
			w, half = digits, suffix[:1]
		}
	}
	if half == "" && (next == "am" || next == "pm" || next == "a.m" || next == "p.m") {
		used, half = 2, next[:1]
	}
	parts := strings.Split(w, ":")
	if len(parts) > 3 || len(parts) == 1 && half == "" {
		return 0
	}
	var v [3]int
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 59 || len(part) > 2 {
			return 0
		}
		v[i] = n
	}
	if half != "" && (v[0] < 1 || v[0] > 12) || v[0] > 23 {
		return 0
	}
	if half != "" {
		v[0] %= 12
	}
	if half == "p" {
		v[0] += 12
	}
	m.hour, m.min, m.sec, m.clock = v[0], v[1], v[2], true
	return used
}

// readDate reads one part of a date: a month, a day of it, a year, a weekday, today or tomorrow.
func (m *moment) readDate(w, next string) int {
	if month, ok := monthOf(w); ok && m.month == 0 {
		m.month = month
		return 1
	}
	for i := range 7 {
		name := strings.ToLower(time.Weekday(i).String())
		if w == name || w == name[:3] {
			m.weekday = i
			return 1
		}
	}
	switch w {
	case "today":
		m.ahead = 0
		return 1
	case "tomorrow":
		m.ahead = 1
		return 1
	}
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		w = strings.TrimSuffix(w, suffix)
	}
	n, err := strconv.Atoi(w)
	_, monthNext := monthOf(next)
	switch {
	case err != nil:
	case m.day == 0 && n >= 1 && n <= 31 && (m.month > 0 || monthNext || next == "of"):
		m.day = n
		return 1
	case m.month > 0 && m.year == 0 && n >= 2000 && n < 2200:
		m.year = n
		return 1
	}
	return 0
}

func monthOf(w string) (time.Month, bool) {
	for m := time.January; m <= time.December; m++ {
		if name := strings.ToLower(m.String()); w == name || w == name[:3] || w == "sept" && m == time.September {
			return m, true
		}
	}
	return 0, false
}

// on returns the stated time of the day on a date.
func (m *moment) on(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, m.hour, m.min, m.sec, 0, m.zone)
}

// after completes the moment to the first one that is not further back than [JustPassed]. A stated year is taken as it
// is, and today and tomorrow are.
func (m *moment) after(now time.Time) time.Time {
	local := now.In(m.zone)
	year, month, day := local.Date()
	years, days := 0, 1
	switch {
	case m.year > 0 && m.day > 0:
		return m.on(m.year, m.month, m.day)
	case m.month > 0 && m.day > 0:
		years, days, month, day = 1, 0, m.month, m.day
	case m.ahead >= 0:
		return m.on(year, month, day+m.ahead)
	case m.weekday >= 0:
		days, day = 7, day+m.weekday-int(local.Weekday())
	}
	t := m.on(year-years, month, day-days)
	for i := 0; t.Before(now.Add(-JustPassed)); i++ {
		t = m.on(year+i*years, month, day+i*days)
	}
	return t
}
