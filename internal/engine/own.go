package engine

import (
	"maps"
	"slices"
)

// own returns a snapshot whose changes do not show in s: every change of apply makes a new slice or map, and clipping
// keeps an append from writing behind a slice of the caller.
func (s Snapshot) own() Snapshot {
	s.Participants = slices.Clip(s.Participants)
	s.Seats = slices.Clip(s.Seats)
	s.Decisions = slices.Clip(s.Decisions)
	s.Assignments = slices.Clip(s.Assignments)
	s.Blockers = slices.Clip(s.Blockers)
	s.Children = slices.Clip(s.Children)
	s.Open = slices.Clip(s.Open)
	s.Deferred = slices.Clip(s.Deferred)
	s.Entries = maps.Clone(s.Entries)
	if s.Newest == nil {
		s.Newest = s.Pinned
	}
	if s.Pinned == nil {
		s.Pinned = s.Newest
	}
	return s
}

// own returns a trigger whose payload is the plan's own.
func (t Trigger) own() Trigger {
	t.Payload = copyMap(t.Payload)
	return t
}

// copyMap copies JSON-like data deeply; nil stays nil.
func copyMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = copyValue(v)
	}
	return out
}

func copyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return copyMap(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = copyValue(x)
		}
		return out
	case []string:
		return slices.Clone(v)
	}
	return v
}
