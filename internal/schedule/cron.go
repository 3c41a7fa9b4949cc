package schedule

import (
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a zone must not be unknown because the machine has no list of them
)

// field is what one field of a cron line may hold.
type field struct {
	name     string
	min, max int
	words    []string // names of the values, from min
}

// The fields in the order of the line.
const (
	minute = iota
	hour
	dayOfMonth
	month
	dayOfWeek
	fieldCount
)

var fields = [fieldCount]field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of month", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"day of week", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// lines are what the words for common schedules stand for.
var lines = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// cron is a parsed line: for each field the set of its values as bits.
type cron struct {
	sets [fieldCount]uint64
	// either says that both day fields choose days, so that a day of one of them is enough; otherwise it has to be in
	// both. A field with a * in it chooses none, as crontab(5) has it.
	either bool
	zone   *time.Location
}

// Cron reads the five fields minute, hour, day of month, month and day of week. Each is a list of values, ranges (1-5)
// or *, the latter two with a step (*/15); months and weekdays have their English names of three letters, and Sunday is
// 0 or 7. If both day fields choose days, one of them is enough. The words of [Parse] are read too. zone is an IANA
// name; "" = UTC.
//
// A line that no day of any year matches is refused. The error is [fairlead.CodeInvalid], its hint says how to write it.
func Cron(line, zone string) (Schedule, error) {
	where, err := load(zone)
	if err != nil {
		return Schedule{}, err
	}
	line = strings.ToLower(strings.Join(strings.Fields(line), " "))
	text := line
	if full, ok := lines[line]; ok {
		line = full
	} else if strings.HasPrefix(line, "@") {
		return Schedule{}, invalid("the word for the schedule is unknown", "use @hourly, @daily, @weekly, @monthly or @yearly, or write five fields")
	}
	parts := strings.Split(line, " ")
	if len(parts) != fieldCount {
		return Schedule{}, invalid("a cron line has five fields", "write minute, hour, day of month, month, day of week, as \"0 9 * * 1\"")
	}
	c := &cron{zone: where}
	for i, f := range fields {
		set, ok := f.set(parts[i])
		if !ok {
			return Schedule{}, invalid("the "+f.name+" of the cron line is not valid", f.remedy())
		}
		c.sets[i] = set
	}
	if c.has(dayOfWeek, 7) {
		c.sets[dayOfWeek] |= 1
	}
	c.either = !strings.Contains(parts[dayOfMonth], "*") && !strings.Contains(parts[dayOfWeek], "*")
	if !c.possible() {
		return Schedule{}, invalid("no month of the cron line has such a day", "choose a day that the months have, as 28")
	}
	return Schedule{cron: c, text: text + " " + where.String()}, nil
}

func load(zone string) (*time.Location, error) {
	where, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return nil, invalid("unknown time zone", "write an IANA name, as Europe/Berlin")
	}
	return where, nil
}

func (f field) remedy() string {
	hint := "write " + strconv.Itoa(f.min) + " to " + strconv.Itoa(f.max) + ", a range as 1-5, a step as */15, or *"
	if len(f.words) > 0 {
		hint += "; names are " + f.words[0] + " to " + f.words[len(f.words)-1]
	}
	return hint
}

// set reads a whole field.
func (f field) set(list string) (uint64, bool) {
	var set uint64
	for part := range strings.SplitSeq(list, ",") {
		from, to, step, ok := f.span(part)
		if !ok {
			return 0, false
		}
		for v := from; v <= to; v += step {
			set |= 1 << v
		}
	}
	return set, true
}

// span reads one part of a field: a value, a range or *, the latter two with a step or without.
func (f field) span(part string) (from, to, step int, ok bool) {
	part, steps, stepped := strings.Cut(part, "/")
	step = 1
	if stepped {
		n, err := strconv.Atoi(steps)
		if err != nil || n < 1 || n > f.max {
			return 0, 0, 0, false
		}
		step = n
	}
	if part == "*" {
		return f.min, f.max, step, true
	}
	first, last, ranged := strings.Cut(part, "-")
	if from, ok = f.number(first); !ok || !ranged {
		return from, from, step, ok && !stepped
	}
	to, ok = f.number(last)
	return from, to, step, ok && from <= to
}

func (f field) number(s string) (int, bool) {
	if i := slices.Index(f.words, s); i >= 0 {
		return f.min + i, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= f.min && n <= f.max
}

func (c *cron) has(f, value int) bool { return c.sets[f]>>value&1 == 1 }

// possible reports whether some day of some year matches. Every day that exists falls on each weekday in some year, so
// only the day of the month can be in the way.
func (c *cron) possible() bool {
	if c.either {
		return true
	}
	for m := 1; m <= 12; m++ {
		longest := time.Date(2000, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day()
		for d := 1; c.has(month, m) && d <= longest; d++ {
			if c.has(dayOfMonth, d) {
				return true
			}
		}
	}
	return false
}
