package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
)

// drawn is a field as the test understands it, apart from the parser: its text and the values it stands for.
type drawn struct {
	text   string
	values map[int]bool
	star   bool
}

func drawField(t *rapid.T, f field) drawn {
	d := drawn{values: map[int]bool{}}
	var parts []string
	for i := range rapid.IntRange(1, 3).Draw(t, "parts of "+f.name) {
		from, to, step := f.min, f.max, 1
		label := fmt.Sprintf("%s %d", f.name, i)
		shape := rapid.SampledFrom([]string{"*", "*/", "v", "-", "-/"}).Draw(t, label)
		if shape == "v" || strings.HasPrefix(shape, "-") {
			from = rapid.IntRange(f.min, f.max).Draw(t, label+" from")
			to = from
		}
		if strings.HasPrefix(shape, "-") {
			to = rapid.IntRange(from, f.max).Draw(t, label+" to")
		}
		text := fmt.Sprint(from)
		if strings.HasPrefix(shape, "-") {
			text += fmt.Sprintf("-%d", to)
		} else if shape != "v" {
			text, d.star = "*", true
		}
		if strings.HasSuffix(shape, "/") {
			step = rapid.IntRange(1, f.max).Draw(t, label+" step")
			text += fmt.Sprintf("/%d", step)
		}
		for v := from; v <= to; v += step {
			d.values[v] = true
		}
		parts = append(parts, text)
	}
	d.text = strings.Join(parts, ",")
	return d
}

// matches says whether a reading belongs to the line of the drawn fields.
func matches(fs [fieldCount]drawn, r time.Time) bool {
	week := int(r.Weekday())
	date, weekday := fs[dayOfMonth].values[r.Day()], fs[dayOfWeek].values[week] || week == 0 && fs[dayOfWeek].values[7]
	day := date && weekday
	if !fs[dayOfMonth].star && !fs[dayOfWeek].star {
		day = date || weekday
	}
	return day && fs[minute].values[r.Minute()] && fs[hour].values[r.Hour()] && fs[month].values[int(r.Month())]
}

// walk finds the fires of a range minute by minute, as somebody would who watches the clock on the wall: a reading that
// was seen before does not count, and readings that were jumped over count at the jump.
func walk(fs [fieldCount]drawn, zone *time.Location, from, to time.Time) []time.Time {
	var fires []time.Time
	read := func(t time.Time) time.Time {
		l := t.In(zone)
		return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)
	}
	// The farthest reading seen so far: a clock that was set back shows nothing new until it has passed it.
	seen := read(from.Add(-30 * time.Hour))
	for t := from.Add(-30 * time.Hour).Truncate(time.Minute); !t.After(to); t = t.Add(time.Minute) {
		fire := false
		for now := read(t); seen.Before(now); {
			seen = seen.Add(time.Minute)
			fire = fire || matches(fs, seen)
		}
		if fire && t.After(from) {
			fires = append(fires, t)
		}
	}
	return fires
}

// TestR16_NextIsTheWalk: Next is strictly rising and finds exactly the minutes that a watcher of the clock would.
func TestR16_NextIsTheWalk(t *testing.T) {
	t.Parallel()
	changes := map[string][]string{
		"UTC":                 {"2026-02-28T12:00:00Z", "2028-02-28T20:00:00Z"},
		"Europe/Berlin":       {"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2026-12-31T23:00:00Z"},
		"America/New_York":    {"2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"},
		"Australia/Lord_Howe": {"2026-10-03T15:30:00Z", "2026-04-04T15:00:00Z"},
		"America/Havana":      {"2026-03-08T05:00:00Z", "2026-11-01T05:00:00Z"},
		"Antarctica/Troll":    {"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"},
		"Pacific/Apia":        {"2011-12-30T10:00:00Z"},
		"Africa/Casablanca":   {"2026-02-15T02:00:00Z", "2026-03-22T02:00:00Z"},
		"Asia/Kolkata":        {"2026-06-15T00:00:00Z"},
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{
			"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Antarctica/Troll", "Pacific/Apia",
			"Africa/Casablanca", "Asia/Kolkata",
		}).Draw(t, "zone")
		change, err := time.Parse(time.RFC3339, rapid.SampledFrom(changes[name]).Draw(t, "change"))
		if err != nil {
			t.Fatal(err)
		}
		var fs [fieldCount]drawn
		var texts []string
		for i, f := range fields {
			fs[i] = drawField(t, f)
			texts = append(texts, fs[i].text)
		}
		s, err := Cron(strings.Join(texts, " "), name)
		if err != nil {
			if fairlead.IsCode(err, fairlead.CodeInvalid) && !someDay(fs) {
				return
			}
			t.Fatal(err)
		}
		from := change.Add(time.Duration(rapid.IntRange(-100_000, 10_000).Draw(t, "from")) * time.Second)
		to := from.Add(time.Duration(rapid.IntRange(0, 180_000).Draw(t, "length")) * time.Second)
		want := walk(fs, s.cron.zone, from, to)
		got := s.Between(from, to, 1_000_000)
		if len(got) != len(want) {
			t.Fatalf("%s from %s to %s: got %d fires, want %d\n%v\n%v", s, from, to, len(got), len(want), got, want)
		}
		before := from
		for i := range got {
			if !got[i].Equal(want[i]) || !got[i].After(before) {
				t.Fatalf("%s: fire %d is %s, want %s", s, i, got[i], want[i])
			}
			before = got[i]
		}
	})
}

// someDay reports whether some year has a day for the line.
func someDay(fs [fieldCount]drawn) bool {
	for y := 2000; y < 2028; y++ {
		for r := time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC); r.Year() == y; r = r.AddDate(0, 0, 1) {
			h := fs
			h[minute], h[hour] = drawn{values: map[int]bool{0: true}}, drawn{values: map[int]bool{0: true}}
			if matches(h, r) {
				return true
			}
		}
	}
	return false
}

// TestIntervalsAreEven: an interval's fires are its multiples since the anchor, from wherever one looks.
func TestIntervalsAreEven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(1000, 40*24*3600*1000).Draw(t, "milliseconds")) * time.Millisecond
		s, err := Every(d)
		if err != nil {
			t.Fatal(err)
		}
		after := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "after"), rapid.Int64Range(0, 999_999_999).Draw(t, "part"))
		next := s.Next(after)
		if wait := next.Sub(after); wait <= 0 || wait > d {
			t.Fatalf("%s after %s is %s", s, after, next)
		}
		if !next.Truncate(d).Equal(next) || !s.Next(next).Equal(next.Add(d)) || !s.Next(next.Add(-1)).Equal(next) {
			t.Fatalf("%s: %s is no multiple", s, next)
		}
	})
}

// FuzzParse: S3 for cron lines, intervals and zones. Whatever is accepted fires, and rises.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"* * * * *", "*/15 9-17 * * mon-fri", "0 0 29 2 *", "0 0 30 2 *", "@daily", "@every 15m", "@every 1ns", "1,2,3-5/2 * 1 jan 7",
		"0 0 29 2 */7", "0 0 31 */2 *", "60 * * * *", "+5 * * * *", "* * * * fri-sun", "@", "@every 9999999h",
	} {
		for _, z := range []string{"", "Europe/Berlin", "Pacific/Apia", "Local", "x"} {
			f.Add(s, z, int64(1_780_000_000))
		}
	}
	f.Fuzz(func(t *testing.T, text, zone string, after int64) {
		s, err := Parse(text, zone)
		if err != nil {
			var e *fairlead.Error
			if e, _ = err.(*fairlead.Error); e == nil || e.Code != fairlead.CodeInvalid || e.Hint == "" {
				t.Fatalf("got %v, want a refusal with a remedy", err)
			}
			return
		}
		from := time.Unix(after%8_000_000_000, 0)
		for range 3 {
			next := s.Next(from)
			if next.IsZero() && s.every == 0 {
				t.Fatalf("%s never fires after %s", s, from)
			}
			if next.IsZero() {
				return
			}
			if !next.After(from) {
				t.Fatalf("%s: %s is not after %s", s, next, from)
			}
			from = next
		}
	})
}
