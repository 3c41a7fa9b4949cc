package policy

import (
	"strings"
	"time"
)

// zoneNames are the short names that providers write, as far as they mean one thing.
var zoneNames = map[string]string{
	"UTC": "UTC", "GMT": "UTC", "Z": "UTC", "PT": "America/Los_Angeles", "MT": "America/Denver", "CT": "America/Chicago",
	"ET": "America/New_York", "CET": "Europe/Berlin", "CEST": "Europe/Berlin", "JST": "Asia/Tokyo", "KST": "Asia/Seoul",
}

// zoneHours are the short names that mean a fixed difference to UTC, in hours.
var zoneHours = map[string]int{
	"PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4, "BST": 1,
}

// readZone reads Europe/Berlin, UTC, PT, EST, +02:00 or UTC+2, and returns how many words it took: none or one.
func (m *moment) readZone(w string) int {
	upper := strings.ToUpper(w)
	name, short := zoneNames[upper]
	if !short {
		name = w
	}
	if short || strings.Contains(w, "/") {
		zone, err := time.LoadLocation(name)
		if err != nil {
			return 0
		}
		m.zone = zone
		return 1
	}
	if hours, ok := zoneHours[upper]; ok {
		m.zone = time.FixedZone(upper, hours*3600)
		return 1
	}
	offset := strings.TrimPrefix(strings.TrimPrefix(upper, "UTC"), "GMT")
	if offset == "" || offset[0] != '+' && offset[0] != '-' {
		return 0
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		sign, digits := offset[:1], offset[1:]
		if len(digits) == 1 {
			digits = "0" + digits
		}
		if t, err := time.Parse(layout, sign+digits); err == nil {
			_, seconds := t.Zone()
			m.zone = time.FixedZone(upper, seconds)
			return 1
		}
	}
	return 0
}
