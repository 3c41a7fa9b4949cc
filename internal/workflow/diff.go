package workflow

import (
	"maps"
	"slices"
)

// Removed returns the keys of the steps that old has and new has not, in the order of old: tasks that stand on one of
// them need a place in the new version. A nil old has no steps.
func Removed(old, new *Definition) []string {
	if old == nil {
		return nil
	}
	var keys []string
	for _, s := range old.Steps {
		if new.Step(s.Key) == nil {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// CheckRemap says what is wrong with an answer to where the tasks of removed steps go: a source that was not removed,
// or a goal that is no step of the new version. The map is from old key to new key.
func CheckRemap(old, new *Definition, remap map[string]string) *Report {
	r := &Report{}
	gone := Removed(old, new)
	for _, from := range sortedKeys(remap) {
		if !slices.Contains(gone, from) {
			r.fail(Position{}, join("remap", from), "remap names a step that this save does not remove", "leave it out")
		}
		if to := remap[from]; new.Step(to) == nil {
			r.fail(Position{}, join("remap", from), "remap sends tasks to a step that the new version does not have", suggest(to, stepKeysOf(new)))
		}
	}
	return r
}

func stepKeysOf(d *Definition) []string {
	keys := make([]string, len(d.Steps))
	for i, s := range d.Steps {
		keys[i] = s.Key
	}
	return keys
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
