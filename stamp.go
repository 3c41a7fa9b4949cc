package fairlead

import "time"

// stampLayout is RFC 3339 in UTC with exactly six digits of fraction, so that texts sort like times.
const stampLayout = "2006-01-02T15:04:05.000000Z"

// Stamp is a time as the API writes it: RFC 3339, UTC, microseconds. The zero value is written as "".
type Stamp struct{ time.Time }

// StampOf makes a stamp; the zero time stays zero.
func StampOf(t time.Time) Stamp { return Stamp{t} }

// StampPtr makes a stamp for an optional field: nil for the zero time.
func StampPtr(t time.Time) *Stamp {
	if t.IsZero() {
		return nil
	}
	return &Stamp{t}
}

// MarshalText writes the stamp.
func (s Stamp) MarshalText() ([]byte, error) {
	if s.IsZero() {
		return nil, nil
	}
	return []byte(s.UTC().Format(stampLayout)), nil
}

// MarshalJSON writes the stamp as text; without it the embedded time's own form would be taken.
func (s Stamp) MarshalJSON() ([]byte, error) {
	b, err := s.MarshalText()
	if err != nil {
		return nil, err
	}
	return append(append([]byte{'"'}, b...), '"'), nil
}

// UnmarshalJSON reads what MarshalJSON writes, any other RFC 3339 time, and null as the zero time.
func (s *Stamp) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		s.Time = time.Time{}
		return nil
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return Errorf(CodeInvalid, "not a time").WithHint("write RFC 3339 as a text, for example 2026-01-31T09:00:00Z")
	}
	return s.UnmarshalText(b[1 : len(b)-1])
}

// UnmarshalText reads any RFC 3339 time.
func (s *Stamp) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		s.Time = time.Time{}
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil {
		return Errorf(CodeInvalid, "not a time").WithHint("write RFC 3339, for example 2026-01-31T09:00:00Z")
	}
	s.Time = t.UTC().Truncate(time.Microsecond)
	return nil
}
