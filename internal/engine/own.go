package engine

import "slices"

// own returns a snapshot that a plan may change: apply replaces slices and maps and never writes into those of s. A
// version that is missing is the other one.
func (s Snapshot) own() Snapshot {
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
