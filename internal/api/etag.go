package api

import (
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
)

// etag is the validator of a version: a number in quotes.
func etag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// ifMatch returns the version a precondition names; 0 = none. A tag that cannot be one of ours matches nothing.
func ifMatch(header string) (int64, error) {
	header = strings.TrimSpace(header)
	if header == "" || header == "*" {
		return 0, nil
	}
	if strings.Contains(header, ",") {
		return 0, fairlead.Errorf(fairlead.CodeMalformed, "If-Match names more than one version").
			WithHint("send the one ETag that you have seen")
	}
	inner, opened := strings.CutPrefix(header, `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	version, err := strconv.ParseInt(inner, 10, 64)
	if !opened || !closed || err != nil || version < 1 {
		return 0, fairlead.Errorf(fairlead.CodeStale, "If-Match is not a version of this object").
			WithHint("read the object again and send its ETag, a number in quotes")
	}
	return version, nil
}

// sameTag reports whether If-None-Match names the tag; weak tags count as their strong ones.
func sameTag(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if part == tag || part == "*" {
			return true
		}
	}
	return false
}
