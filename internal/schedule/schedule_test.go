package schedule

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
)

func at(t testing.TB, s string) time.Time {
	t.Helper()
	x, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func mustCron(t testing.TB, line, zone string) Schedule {
	t.Helper()
	s, err := Cron(line, zone)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return s
}

// TestR16_CronTable: daylight saving in both directions on both sides of the ocean, leap days, ends of months.
func TestR16_CronTable(t *testing.T) {
	t.Parallel()
	const berlin, newYork = "Europe/Berlin", "America/New_York"
	for name, c := range map[string]struct {
		line, zone, after string
		want              []string // as the zone's clock reads
	}{
		"Berlin, day around the gap":          {"30 2 * * *", berlin, "2026-03-28T00:00:00+01:00", []string{"2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"}},
		"Berlin, several readings in the gap": {"*/20 2,3 29 3 *", berlin, "2026-03-29T00:00:00+01:00", []string{"2026-03-29T03:00:00+02:00", "2026-03-29T03:20:00+02:00", "2026-03-29T03:40:00+02:00", "2027-03-29T02:00:00+02:00"}},
		"Berlin, reading the jump lands on":   {"0 3 * * *", berlin, "2026-03-28T04:00:00+01:00", []string{"2026-03-29T03:00:00+02:00", "2026-03-30T03:00:00+02:00"}},
		"Berlin, day around the overlap":      {"30 2 * * *", berlin, "2026-10-24T00:00:00+02:00", []string{"2026-10-24T02:30:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		"Berlin, from within the second pass": {"30 2 * * *", berlin, "2026-10-25T02:10:00+01:00", []string{"2026-10-26T02:30:00+01:00"}},
		"Berlin, hourly over the overlap":     {"0 * * * *", berlin, "2026-10-25T01:00:00+02:00", []string{"2026-10-25T02:00:00+02:00", "2026-10-25T03:00:00+01:00"}},
		"Berlin, hourly over the gap":         {"0 * * * *", berlin, "2026-03-29T00:30:00+01:00", []string{"2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00"}},
		"New York, gap":                       {"15 2 * * sun", newYork, "2026-03-07T00:00:00-05:00", []string{"2026-03-08T03:00:00-04:00", "2026-03-15T02:15:00-04:00"}},
		"New York, overlap":                   {"15 1 * * *", newYork, "2026-10-31T12:00:00-04:00", []string{"2026-11-01T01:15:00-04:00", "2026-11-02T01:15:00-05:00"}},
		"New York, second pass":               {"15 1 * * *", newYork, "2026-11-01T01:00:00-05:00", []string{"2026-11-02T01:15:00-05:00"}},
		"half an hour of Lord Howe":           {"10,40 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00+10:30", []string{"2026-10-04T02:30:00+11:00", "2026-10-04T02:40:00+11:00", "2026-10-05T02:10:00+11:00"}},
		"gap at midnight":                     {"0 0 * * *", "America/Havana", "2026-03-07T12:00:00-05:00", []string{"2026-03-08T01:00:00-04:00", "2026-03-09T00:00:00-04:00"}},
		"a day that never was":                {"0 9 * * *", "Pacific/Apia", "2011-12-29T00:00:00-10:00", []string{"2011-12-29T09:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T09:00:00+14:00"}},
		"leap day":                            {"0 0 29 2 *", "", "2026-01-01T00:00:00Z", []string{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},
		"leap day over a century":             {"0 0 29 feb *", "", "2096-03-01T00:00:00Z", []string{"2104-02-29T00:00:00Z"}},
		"leap day on a Sunday, both stars":    {"0 0 29 2 */7", "", "2026-01-01T00:00:00Z", []string{"2032-02-29T00:00:00Z", "2060-02-29T00:00:00Z"}},
		"31st":                                {"0 12 31 * *", "", "2026-01-31T12:00:00Z", []string{"2026-03-31T12:00:00Z", "2026-05-31T12:00:00Z", "2026-07-31T12:00:00Z", "2026-08-31T12:00:00Z"}},
		"30th, February left out":             {"59 23 30 * *", "", "2026-01-30T23:59:00Z", []string{"2026-03-30T23:59:00Z"}},
		"end of the year":                     {"59 23 31 12 *", "", "2026-12-31T23:59:00Z", []string{"2027-12-31T23:59:00Z"}},
		"either day":                          {"0 0 13 * fri", "", "2026-11-01T00:00:00Z", []string{"2026-11-06T00:00:00Z", "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z", "2026-11-27T00:00:00Z", "2026-12-04T00:00:00Z", "2026-12-11T00:00:00Z", "2026-12-13T00:00:00Z"}},
		"both days, one with a star":          {"0 0 */2 * mon", "", "2026-11-30T12:00:00Z", []string{"2026-12-07T00:00:00Z", "2026-12-21T00:00:00Z"}},
		"7 is Sunday":                         {"0 8 * * 6-7", "", "2026-12-01T00:00:00Z", []string{"2026-12-05T08:00:00Z", "2026-12-06T08:00:00Z", "2026-12-12T08:00:00Z"}},
		"names and steps":                     {"5/1,10-20/5,50 0 1 JAN-MAR,nov *", "", "2026-01-01T00:14:30Z", nil},
		"seconds are not part of a reading":   {"14 0 1 1 *", "", "2026-01-01T00:13:59.999Z", []string{"2026-01-01T00:14:00Z"}},
	} {
		s, err := Cron(c.line, c.zone)
		if c.want == nil {
			if err == nil {
				t.Errorf("%s: accepted", name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		from := at(t, c.after)
		for _, w := range c.want {
			want := at(t, w)
			got := s.Next(from)
			if !got.Equal(want) || got.Location() != time.UTC {
				t.Errorf("%s: after %s got %s, want %s", name, from, got.In(want.Location()), want)
				break
			}
			from = got
		}
	}
}

func TestCronRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, zone string }{
		{"", ""}, {"* * * *", ""}, {"* * * * * *", ""}, {"60 * * * *", ""}, {"* 24 * * *", ""}, {"* * 0 * *", ""}, {"* * 32 * *", ""},
		{"* * * 0 *", ""}, {"* * * 13 *", ""}, {"* * * * 8", ""}, {"* * * * -1", ""}, {"5-1 * * * *", ""}, {"*/0 * * * *", ""},
		{"*/60 * * * *", ""}, {"5/10 * * * *", ""}, {",5 * * * *", ""}, {"1- * * * *", ""}, {"* * * mon *", ""}, {"* * * * fri-sun", ""},
		{"a * * * *", ""}, {"0 0 30 2 *", ""}, {"0 0 31 4,6,9,11 *", ""}, {"@fortnightly", ""}, {"@every 5m", ""},
		{"* * * * *", "Mars/Olympus"}, {"* * * * *", "Local"}, {"* * * * *", "../etc/passwd"}, {"* * * * *", "CEST?"},
	} {
		_, err := Cron(c.line, c.zone)
		var e *fairlead.Error
		if e, _ = err.(*fairlead.Error); e == nil || e.Code != fairlead.CodeInvalid || e.Hint == "" || e.Message == "" {
			t.Errorf("%q in %q: got %v, want a refusal with a remedy", c.line, c.zone, err)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"@hourly": "2026-12-01T05:00:00Z", "@daily": "2026-12-02T00:00:00Z", "@midnight": "2026-12-02T00:00:00Z",
		"@weekly": "2026-12-06T00:00:00Z", "@monthly": "2027-01-01T00:00:00Z", "@yearly": "2027-01-01T00:00:00Z",
		"@annually": "2027-01-01T00:00:00Z", " 0  9 * * MON ": "2026-12-07T09:00:00Z",
		"@every 15m": "2026-12-01T04:45:00Z", "@every 24h": "2026-12-02T00:00:00Z", "@every 168h": "2026-12-07T00:00:00Z",
		"@every 1500ms": "2026-12-01T04:33:01.5Z", "@every 1h30m": "2026-12-01T06:00:00Z",
	} {
		s, err := Parse(text, "")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := s.Next(at(t, "2026-12-01T04:33:00Z")); !got.Equal(at(t, want)) {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for _, c := range []struct{ text, zone string }{
		{"@every", ""}, {"@every 5", ""}, {"@every 10ms", ""}, {"@every -5m", ""}, {"@every 5m 5m", ""}, {"@every 5m", "Europe/Berlin"}, {"@never", ""},
	} {
		if _, err := Parse(c.text, c.zone); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%q: got %v, want invalid", c.text, err)
		}
	}
}

func TestScheduleString(t *testing.T) {
	t.Parallel()
	every, err := Every(90*time.Minute + time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		mustCron(t, "0 9 * *  MON", "Europe/Berlin").String(): "0 9 * * mon Europe/Berlin",
		mustCron(t, "@daily", "").String():                    "@daily UTC",
		every.String():                                        "every 1h30m0s",
		Schedule{}.String():                                   "never",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestScheduleEnds(t *testing.T) {
	t.Parallel()
	end := time.Date(9999, 12, 31, 23, 59, 0, 0, time.UTC)
	every, _ := Every(time.Hour)
	for _, s := range []Schedule{{}, every, mustCron(t, "* * * * *", ""), mustCron(t, "0 0 1 1 *", "Asia/Tokyo")} {
		if got := s.Next(end); !got.IsZero() {
			t.Errorf("%s: fires at %s", s, got)
		}
		if got := s.Between(end, end.Add(time.Hour), 5); got != nil {
			t.Errorf("%s: fires at %v", s, got)
		}
	}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	s := mustCron(t, "0 9 * * *", "")
	from, to := at(t, "2026-12-01T09:00:00Z"), at(t, "2026-12-04T09:00:00Z")
	want := []time.Time{at(t, "2026-12-02T09:00:00Z"), at(t, "2026-12-03T09:00:00Z"), at(t, "2026-12-04T09:00:00Z")}
	if diff := cmp.Diff(want, s.Between(from, to, 10)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[:2], s.Between(from, to, 2)); diff != "" {
		t.Errorf("limited (-want +got):\n%s", diff)
	}
	if got := s.Between(to, from, 10); got != nil {
		t.Errorf("backwards: %v", got)
	}
	if got := s.Between(from, to, 0); got != nil {
		t.Errorf("none wanted: %v", got)
	}
}
