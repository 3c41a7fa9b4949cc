package policy

import (
	"strconv"
	"strings"
	"time"
)

// MaxReset is the farthest reset that is believed: limits are by the minute, hour, day, week or month. One that is
// stated farther away is a misunderstanding, and the failure climbs the ladder instead.
const MaxReset = 35 * 24 * time.Hour

// JustPassed is how long ago a reset may be that is stated as a mere time of the day. A limit is often reported with
// the reset it had before; taken for tomorrow's, it would cost a day, while taken for a passed one it costs a probe.
const JustPassed = time.Hour

// minReset stands for a reset that has passed already, so that it is still one that was stated.
const minReset = time.Second

// resetHeaders are where providers state a reset, the most exact first.
var resetHeaders = []string{
	"Retry-After-Ms", "Retry-After", "Anthropic-Ratelimit-Unified-Reset", "X-Codex-Primary-Reset-At", "Ratelimit-Reset", "X-Ratelimit-Reset",
}

// Reset returns how long after now a provider's limit resets: by the headers of its answer or else by the text, and
// false if neither says it. header may be nil. zone is where a time of the day without a zone is meant; nil is UTC.
// The result is from one second to [MaxReset].
func Reset(header func(name string) string, text string, now time.Time, zone *time.Location) (time.Duration, bool) {
	for _, name := range resetHeaders {
		if header == nil {
			break
		}
		value := header(name)
		if name == "Retry-After-Ms" && value != "" {
			value += "ms"
		}
		if d, ok := RetryAfter(value, now); ok {
			return d, true
		}
	}
	return ResetText(text, now, zone)
}

// httpDates are the forms of a date that RFC 9110 lets a header have.
var httpDates = []string{time.RFC1123, time.RFC850, time.ANSIC, time.RFC3339}

// RetryAfter reads the value of a header: seconds, a date of HTTP or RFC 3339, a duration as 6m0s, or the seconds or
// milliseconds since 1970. The result is from one second to [MaxReset]; false means that there is no such value.
func RetryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	for _, layout := range httpDates {
		if t, err := time.Parse(layout, value); err == nil {
			return believed(t.Sub(now))
		}
	}
	if t, ok := epoch(value); ok {
		return believed(t.Sub(now))
	}
	if n, ok := decimal(value); ok {
		return believed(scaled(n, time.Second))
	}
	if d, ok := compact(strings.ToLower(value)); ok {
		return believed(d)
	}
	return 0, false
}

// believed bounds a wait: what has passed is due at once, what is too far is not believed.
func believed(d time.Duration) (time.Duration, bool) {
	if d > MaxReset {
		return 0, false
	}
	return max(d, minReset), true
}

// epoch reads seconds or milliseconds since 1970, told from other numbers by their length.
func epoch(s string) (time.Time, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil, n < 1e9, n >= 1e14:
		return time.Time{}, false
	case n >= 1e12:
		return time.UnixMilli(n).UTC(), true
	case n >= 1e11:
		return time.Time{}, false
	}
	return time.Unix(n, 0).UTC(), true
}

// decimal reads digits with at most one point among them; no sign, no exponent.
func decimal(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" || s[0] == '.' {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

// scaled multiplies without running over.
func scaled(n float64, unit time.Duration) time.Duration {
	if n*float64(unit) > float64(2*MaxReset) {
		return 2 * MaxReset
	}
	return time.Duration(n * float64(unit))
}

// unit returns what a word for a unit of time stands for.
func unit(word string) (time.Duration, bool) {
	switch word {
	case "ms", "msec", "msecs", "millisecond", "milliseconds":
		return time.Millisecond, true
	case "s", "sec", "secs", "second", "seconds":
		return time.Second, true
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute, true
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour, true
	case "d", "day", "days":
		return 24 * time.Hour, true
	case "w", "week", "weeks":
		return 7 * 24 * time.Hour, true
	}
	return 0, false
}

// compact reads a duration in one word: 36.5s, 12h34m16s, 5d5h.
func compact(s string) (time.Duration, bool) {
	var sum time.Duration
	for s != "" {
		digits := len(s) - len(strings.TrimLeft(s, "0123456789."))
		letters := len(s[digits:]) - len(strings.TrimLeft(s[digits:], "abcdefghijklmnopqrstuvwxyz"))
		n, ok := decimal(s[:digits])
		u, known := unit(s[digits : digits+letters])
		if !ok || !known {
			return 0, false
		}
		sum = min(sum+scaled(n, u), 2*MaxReset)
		s = s[digits+letters:]
	}
	return sum, sum > 0
}
