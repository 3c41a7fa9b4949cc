package policy

import (
	"strings"
	"time"
	"unicode"
)

// maxText bounds how much of a provider's answer is read.
const maxText = 16 << 10

// ResetText reads when a limit resets out of a provider's words: "try again in 5 days 22 hours", "retry after 26
// seconds", "resets 3pm (Europe/Berlin)", "limit will reset at 9:30 AM", "try again at Dec 5th, 2026 3:05 PM",
// "resets_in_seconds: 13872", "limit reached|1749924000". A time without a zone is meant in zone (nil = UTC), one
// without a date is the next such, unless it has [JustPassed]. The first statement that can be read counts. The result
// is from one second to [MaxReset]; false means that nothing was stated, or nothing that is believed.
func ResetText(text string, now time.Time, zone *time.Location) (time.Duration, bool) {
	if zone == nil {
		zone = time.UTC
	}
	words := splitWords(text)
	for i, w := range words {
		if !isAnchor(w.low) {
			continue
		}
		p := phrase{words: words[i+1:], now: now, zone: zone, anchor: w.low}
		if t, ok := p.read(); ok {
			return believed(t.Sub(now))
		}
	}
	return 0, false
}

// word is one word of a text, as written and in lower case, without the punctuation around it.
type word struct{ text, low string }

func splitWords(text string) []word {
	if len(text) > maxText {
		text = text[:maxText]
	}
	var words []word
	for _, f := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("_\"'`\\|,()[]{}<>=~·∙•*", r)
	}) {
		parts := []string{f}
		// "retry-after" is two words, "2026-12-05" and "America/Port-au-Prince" are one.
		if !strings.ContainsAny(f, "0123456789/") {
			parts = strings.Split(f, "-")
		}
		for _, p := range parts {
			if p = strings.Trim(p, ".:;!?"); p != "" {
				words = append(words, word{p, strings.ToLower(p)})
			}
		}
	}
	return words
}

// isAnchor tells the words that stand before a reset.
func isAnchor(w string) bool {
	switch w {
	case "reset", "resets", "retry", "retrying", "retrydelay", "again", "wait", "available", "renew", "renews", "refresh", "refreshes",
		"until", "reached":
		return true
	}
	return false
}

// isFiller tells the words between an anchor and its time that say nothing about it.
func isFiller(w string) bool {
	switch w {
	case "your", "the", "limit", "limits", "quota", "usage", "will", "be", "is", "are", "again", "window", "time", "please", "about", "around",
		"approximately", "less", "than", "at", "on", "by", "delay", "reset", "requests", "tokens", "within", "another":
		return true
	}
	return false
}

func isRelative(w string) bool { return w == "in" || w == "after" || w == "for" }

// phrase is what follows an anchor.
type phrase struct {
	words  []word
	now    time.Time
	zone   *time.Location
	anchor string
}

func (p *phrase) at(i int) string {
	if i < len(p.words) {
		return p.words[i].low
	}
	return ""
}

// read returns the time that the phrase states.
func (p *phrase) read() (time.Time, bool) {
	i, relative := 0, p.anchor == "retrydelay"
	for w := p.at(0); i < 8 && (isRelative(w) || isFiller(w)); w = p.at(i) {
		relative = relative || isRelative(w)
		i++
	}
	if t, ok := epoch(p.at(i)); ok {
		return t, true
	}
	if p.anchor == "reached" {
		return time.Time{}, false
	}
	if d, ok := p.duration(i); ok {
		return p.now.Add(d), true
	}
	if n, ok := decimal(p.at(i)); ok && relative && !counts(p.at(i+1)) {
		return p.now.Add(scaled(n, time.Second)), true
	}
	return p.moment(i)
}

// counts tells the words that make a number before them one of things, not of seconds.
func counts(w string) bool {
	switch w {
	case "attempt", "attempts", "try", "tries", "time", "times", "retries", "request", "requests", "failure", "failures", "am", "pm", "a.m", "p.m":
		return true
	}
	_, isMonth := monthOf(w)
	return isMonth
}

// duration reads "5 days 22 hours and 11 minutes", "3h 20m", "an hour", or "seconds: 30".
func (p *phrase) duration(i int) (time.Duration, bool) {
	if u, ok := unit(p.at(i)); ok {
		n, isNumber := decimal(p.at(i + 1))
		return scaled(n, u), isNumber
	}
	var sum time.Duration
	found := false
	for i < len(p.words) {
		w := p.at(i)
		if w == "and" && found {
			i++
			continue
		}
		if d, ok := compact(w); ok {
			sum, found, i = min(sum+d, 2*MaxReset), true, i+1
			continue
		}
		n, isNumber := decimal(w)
		if w == "a" || w == "an" {
			n, isNumber = 1, true
		}
		u, ok := unit(p.at(i + 1))
		if !isNumber || !ok {
			break
		}
		sum, found, i = min(sum+scaled(n, u), 2*MaxReset), true, i+2
	}
	return sum, found
}
