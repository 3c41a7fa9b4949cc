package workflow

import (
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a zone must not be unknown because the machine has no list of them
)

// cronField is what one field of a cron line may hold.
type cronField struct {
	name     string
	min, max int
	words    []string // names of the values, from min
}

var cronFields = []cronField{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of month", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"day of week", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// checkCron refuses a line or a zone that no schedule could follow.
func (c *compiler) checkCron(o object, h *Heartbeat) {
	n := o.at("cron")
	if n == nil || n.kind != kindString {
		return
	}
	fields := strings.Fields(h.Cron)
	if len(fields) != len(cronFields) {
		c.report.fail(n.pos, o.sub("cron"), "a cron line has five fields", "write minute, hour, day of month, month, day of week, as \"0 9 * * 1\"")
		return
	}
	for i, f := range cronFields {
		for _, part := range strings.Split(strings.ToLower(fields[i]), ",") {
			if !f.accepts(part) {
				c.report.fail(n.pos, o.sub("cron"), "the "+f.name+" of the cron line is not valid",
					"write "+strconv.Itoa(f.min)+" to "+strconv.Itoa(f.max)+", a range as 1-5, a step as */15, or *")
				break
			}
		}
	}
	if z := o.at("zone"); z != nil && z.kind == kindString {
		if _, err := time.LoadLocation(h.Zone); err != nil || h.Zone == "" || h.Zone == "Local" {
			c.report.fail(z.pos, o.sub("zone"), "unknown time zone", "write an IANA name, as Europe/Berlin")
		}
	}
}

// accepts reads one part of a field: a value, a range or *, each with a step or without.
func (f cronField) accepts(part string) bool {
	span, step, stepped := strings.Cut(part, "/")
	if stepped {
		if n, err := strconv.Atoi(step); err != nil || n < 1 || n > f.max {
			return false
		}
	}
	if span == "*" {
		return true
	}
	from, to, ranged := strings.Cut(span, "-")
	a, ok := f.number(from)
	if !ok || !ranged {
		return ok && !stepped
	}
	b, ok := f.number(to)
	return ok && a <= b
}

func (f cronField) number(s string) (int, bool) {
	if i := slices.Index(f.words, s); i >= 0 {
		return f.min + i, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= f.min && n <= f.max
}
