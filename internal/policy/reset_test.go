package policy

import (
	"strings"
	"testing"
	"time"
)

// noon is a Tuesday: 12:00 UTC, 13:00 in Berlin, 07:00 in New York.
var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// TestR7_RetryAfter: seconds, dates and what else stands in such headers.
func TestR7_RetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"120":                             2 * time.Minute,
		" 1.5 ":                           1500 * time.Millisecond,
		"0":                               time.Second,
		"Tue, 01 Dec 2026 12:10:00 GMT":   10 * time.Minute,
		"Tuesday, 01-Dec-26 12:10:00 GMT": 10 * time.Minute,
		"Tue Dec  1 12:10:00 2026":        10 * time.Minute,
		"Tue, 01 Dec 2026 11:00:00 GMT":   time.Second,
		"2026-12-01T15:00:00Z":            3 * time.Hour,
		"2026-12-01T15:00:00.250+01:00":   2*time.Hour + 250*time.Millisecond,
		"1796127000":                      10 * time.Minute,
		"1796127000500":                   10*time.Minute + 500*time.Millisecond,
		"6m0s":                            6 * time.Minute,
		"20ms":                            time.Second,
		"1h30m":                           90 * time.Minute,
		"35d":                             MaxReset,
	} {
		if got, ok := RetryAfter(value, noon); !ok || got != want {
			t.Errorf("%q: got %v %v, want %v", value, got, ok, want)
		}
	}
	for _, value := range []string{
		"", "soon", "-5", "1e9", ".5", "1.2.3", "99999999", "9999999999999999999", "150000000000", "36d", "5x", "s", "Tue, 01 Dec 2036 12:10:00 GMT",
	} {
		if got, ok := RetryAfter(value, noon); ok {
			t.Errorf("%q: got %v, want nothing", value, got)
		}
	}
}

// TestR7_ResetTexts: how providers and their agents say when a limit is over.
func TestR7_ResetTexts(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	until := func(s string) time.Duration {
		x, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return x.Sub(noon)
	}
	for text, want := range map[string]time.Duration{
		// spans
		"Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2.5s.": 2500 * time.Millisecond,
		"Please try again in 6m0s. Visit the dashboard":                                           6 * time.Minute,
		"Please try again in 820ms.":                                                              time.Second,
		"Upgrade to Pro (https://x.example/pricing) or try again in 5 days 22 hours 11\nminutes.": 5*24*time.Hour + 22*time.Hour + 11*time.Minute,
		"try again in 3 hours 2 minutes":                                                          3*time.Hour + 2*time.Minute,
		"Try again in an hour.":                                                                   time.Hour,
		"try again in less than a minute":                                                         time.Minute,
		"Requests are limited. Please retry after 26 seconds.":                                    26 * time.Second,
		"Please retry in 47.434392449s.":                                                          47434392449 * time.Nanosecond,
		"Your quota will reset after 12h34m16s.":                                                  12*time.Hour + 34*time.Minute + 16*time.Second,
		"The weekly limit resets in 5d 5h.":                                                       5*24*time.Hour + 5*time.Hour,
		"resets in 1 hour and 5 minutes":                                                          65 * time.Minute,
		"You are going too fast, wait 59 minutes":                                                 59 * time.Minute,
		`{"@type":"RetryInfo","retryDelay":"38s"}`:                                                38 * time.Second,
		`{"retryDelay": 38}`:                                                                      38 * time.Second,
		`{"type":"usage_limit_reached","resets_in_seconds":13872}`:                                13872 * time.Second,
		`{"error":{"retry_after": 30, "code": 429}}`:                                              30 * time.Second,
		`retry_after_ms=1500`:                                                                     1500 * time.Millisecond,
		"HTTP 429, Retry-After: 120":                                                              2 * time.Minute,
		"limit resets in 2 weeks":                                                                 14 * 24 * time.Hour,
		"retry after 3 attempts, or try again in 10 s":                                            10 * time.Second,
		"please try again later. It resets in ~20 min":                                            20 * time.Minute,
		// seconds since 1970
		"Claude AI usage limit reached|1796127000":                            10 * time.Minute,
		`"message":"The usage limit has been reached","resets_at":1796127000`: 10 * time.Minute,
		// times of the day
		"You've hit your limit · resets 3pm (Europe/Berlin)":         until("2026-12-01T15:00:00+01:00"),
		"5-hour limit reached ∙ resets 3pm":                          until("2026-12-01T15:00:00+01:00"),
		"Your limit will reset at 9:30 AM. View your usage details.": until("2026-12-02T09:30:00+01:00"),
		"Your limit will reset at 12am.":                             until("2026-12-02T00:00:00+01:00"),
		"limit will reset at 1pm (Etc/GMT+5)":                        until("2026-12-01T13:00:00-05:00"),
		"resets 1:30am (Asia/Dhaka)":                                 until("2026-12-02T01:30:00+06:00"),
		"resets 10am (America/Port-au-Prince)":                       until("2026-12-01T10:00:00-05:00"),
		"You have reached the limit, try again at 3:05 PM.":          until("2026-12-01T15:05:00+01:00"),
		"resets at 15:00 UTC":                                        until("2026-12-01T15:00:00Z"),
		"resets at 15:00:30 UTC+2":                                   until("2026-12-01T15:00:30+02:00"),
		"resets at 9 a.m. PT":                                        until("2026-12-01T09:00:00-08:00"),
		"resets at 9am EST":                                          until("2026-12-01T09:00:00-05:00"),
		"resets at 18:00 +0530":                                      until("2026-12-01T18:00:00+05:30"),
		"resets at midnight UTC":                                     until("2026-12-02T00:00:00Z"),
		"resets at noon UTC":                                         time.Second,
		"resets 12:40pm (Europe/Berlin)":                             time.Second, // twenty minutes ago
		"resets 11:59am (Europe/Berlin)":                             until("2026-12-02T11:59:00+01:00"),
		// dates
		"try again at Dec 5th, 2026 3:05 PM.":           until("2026-12-05T15:05:00+01:00"),
		"or try again at Dec 5, 2026, 7:38 AM":          until("2026-12-05T07:38:00+01:00"),
		"Weekly limit reached ∙ resets Dec 6, 1pm":      until("2026-12-06T13:00:00+01:00"),
		"resets Jan 2 at 3pm (Europe/Berlin)":           until("2027-01-02T15:00:00+01:00"),
		"available again on 5 December":                 until("2026-12-05T00:00:00+01:00"),
		"available on the 3rd of December at 10:00 UTC": until("2026-12-03T10:00:00Z"),
		"resets Sunday at 9am":                          until("2026-12-06T09:00:00+01:00"),
		"resets Tue 9am":                                until("2026-12-08T09:00:00+01:00"),
		"resets tomorrow at 8:15":                       until("2026-12-02T08:15:00+01:00"),
		"it resets today at 18:00 GMT":                  until("2026-12-01T18:00:00Z"),
		"blocked until 2026-12-01T15:00:00Z":            until("2026-12-01T15:00:00Z"),
		"blocked until 2026-12-01T15:00:00.":            until("2026-12-01T15:00:00+01:00"),
		"The limit resets at 2026-12-01T15:00 UTC":      until("2026-12-01T15:00:00Z"),
		"resets on 2026-12-05 at 15:00 UTC":             until("2026-12-05T15:00:00Z"),
		"resets on 2026-12-05.":                         until("2026-12-05T00:00:00+01:00"),
		"retry after Tue, 01 Dec 2026 15:00:00 GMT":     until("2026-12-01T15:00:00Z"),
		"resets Tue, 01 Sept 2026 at 3pm":               time.Second,
	} {
		if got, ok := ResetText(text, noon, berlin); !ok || got != want {
			t.Errorf("%q: got %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "limit", "try again later", "usage limit reached", "limit reached: 5", "please wait", "wait 3 times", "resets", "resets at 25:00", "resets at 5",
		"resets 13pm", "resets at 3:99", "resets soon (Europe/Berlin)", "resets in 40 days", "retry after 3 attempts", "resets Oct 6, 1pm",
		"resets at 99:99:99:99", "reset your password at example.com", "try again with 5 tokens", "resets on 2036-01-01", "resets May", "retry 3 times",
	} {
		if got, ok := ResetText(text, noon, nil); ok {
			t.Errorf("%q: got %v, want nothing", text, got)
		}
	}
}

// TestResetAroundMidnight: yesterday's reading that has just passed is not taken for today's.
func TestResetAroundMidnight(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 1, 0, 10, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"resets 11:30pm":         time.Second,
		"resets Dec 31, 11:30pm": time.Second,
		"resets Thu 11:30pm":     time.Second,
		"resets Thu 11pm":        6*24*time.Hour + 22*time.Hour + 50*time.Minute,
		"resets 11pm":            22*time.Hour + 50*time.Minute,
		"resets 12:30am PST":     8*time.Hour + 20*time.Minute,
	} {
		if got, ok := ResetText(text, now, nil); !ok || got != want {
			t.Errorf("%q: got %v %v, want %v", text, got, ok, want)
		}
	}
}

// TestR7_Reset: headers go before the text, the more exact one first.
func TestR7_Reset(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		headers map[string]string
		text    string
		want    time.Duration
	}{
		"header":              {map[string]string{"Retry-After": "30"}, "try again in 5 minutes", 30 * time.Second},
		"milliseconds":        {map[string]string{"Retry-After": "30", "Retry-After-Ms": "2500"}, "", 2500 * time.Millisecond},
		"reset of the window": {map[string]string{"Anthropic-Ratelimit-Unified-Reset": "1796127000"}, "", 10 * time.Minute},
		"unreadable header":   {map[string]string{"Retry-After": "later"}, "try again in 5 minutes", 5 * time.Minute},
		"no headers at all":   {nil, "try again in 5 minutes", 5 * time.Minute},
		"nothing":             {nil, "429", 0},
	} {
		var header func(string) string
		if c.headers != nil {
			header = func(name string) string { return c.headers[name] }
		}
		if got, ok := Reset(header, c.text, noon, nil); got != c.want || ok != (c.want > 0) {
			t.Errorf("%s: got %v %v, want %v", name, got, ok, c.want)
		}
	}
}

func TestResetTextIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("again ", maxText) + "resets in 5 minutes"
	if _, ok := ResetText(long, noon, nil); ok {
		t.Error("a statement beyond the bound was read")
	}
}

// FuzzRetryAfter: S3 for headers and provider texts. Whatever is read is a wait that is believed.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{
		"120", "Tue, 01 Dec 2026 12:10:00 GMT", "try again in 5 days 22 hours", "resets 3pm (Europe/Berlin)", "resets_in_seconds: 13872",
		"limit reached|1796127000", "resets 2026-12-05 at 15:00 UTC+2", "resets Feb 29th, 2027 12:59:59 p.m. PT", "retrydelay 99999999999999999999h",
		"resets tomorrow at midnight -99", "wait 9999999999999w9999999999w", "resets sunday 0:0:0 z", "\xff\xfe resets 1s",
	} {
		f.Add(s, int64(1_796_126_000))
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string, now int64) {
		at := time.Unix(now%4_000_000_000, 0)
		check := func(what string, d time.Duration, ok bool) {
			if ok && (d < time.Second || d > MaxReset) || !ok && d != 0 {
				t.Fatalf("%s of %q: %v %v", what, s, d, ok)
			}
		}
		d, ok := RetryAfter(s, at)
		check("header", d, ok)
		d, ok = ResetText(s, at, berlin)
		check("text", d, ok)
		d, ok = Reset(func(string) string { return s }, s, at, nil)
		check("answer", d, ok)
	})
}
