package schedule

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// lastYear is the end of all schedules: a time stamp has no room for a fifth digit.
const lastYear = 9999

// MinInterval is the shortest interval: a typing mistake shall not wake agents without end.
const MinInterval = time.Second

// Schedule is when something recurs. Make one with [Cron], [Every] or [Parse]; the zero Schedule never fires. It is
// immutable and may be shared.
type Schedule struct {
	cron  *cron
	every time.Duration
	text  string
}

// Parse reads a cron line, one of the words for common lines (@hourly, @daily, @midnight, @weekly, @monthly, @yearly,
// @annually), or an interval as "@every 15m". zone is as for [Cron]; an interval takes none.
func Parse(text, zone string) (Schedule, error) {
	word := strings.Fields(text)
	if len(word) == 0 || word[0] != "@every" {
		return Cron(text, zone)
	}
	if len(word) != 2 {
		return Schedule{}, invalid("an interval is one duration", "write it as `@every 15m`")
	}
	d, err := time.ParseDuration(word[1])
	if err != nil {
		return Schedule{}, invalid("the duration of the interval is not valid", "write it as 90s, 15m or 24h")
	}
	if zone != "" {
		return Schedule{}, invalid("an interval has no zone", "leave the zone out, or write a cron line")
	}
	return Every(d)
}

// Every makes an interval of at least [MinInterval]. Parts of a millisecond are dropped, since a stored time would not
// keep them. See the package comment for where it is anchored.
func Every(d time.Duration) (Schedule, error) {
	if d < MinInterval {
		return Schedule{}, invalid("the interval is too short", "write at least 1s")
	}
	d = d.Truncate(time.Millisecond)
	return Schedule{every: d, text: "every " + d.String()}, nil
}

// String says what recurs: the line with its zone, or the interval.
func (s Schedule) String() string {
	if s.text == "" {
		return "never"
	}
	return s.text
}

// Next returns the first fire after the given time, in UTC. The zero time means that there is none before the year
// 10000, or that the schedule is the zero one.
func (s Schedule) Next(after time.Time) time.Time {
	var t time.Time
	switch {
	case s.cron != nil:
		t = s.cron.next(after)
	case s.every > 0:
		t = after.UTC().Truncate(s.every).Add(s.every)
	}
	if t.Year() > lastYear {
		return time.Time{}
	}
	return t
}

// Between returns the fires after from and not after to, oldest first, at most limit of them.
func (s Schedule) Between(from, to time.Time, limit int) []time.Time {
	var fires []time.Time
	for len(fires) < limit {
		t := s.Next(from)
		if t.IsZero() || t.After(to) {
			break
		}
		fires = append(fires, t)
		from = t
	}
	return fires
}

func invalid(message, hint string) *fairlead.Error {
	return fairlead.Errorf(fairlead.CodeInvalid, "%s", message).WithHint("%s", hint).WithOp("parse schedule")
}
