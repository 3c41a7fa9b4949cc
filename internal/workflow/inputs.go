package workflow

// Inputs returns the program's inputs on the facts, and the names, sorted, of those that have no value: an expression
// that fails (a metadata field the task does not have, say) or gives null. Such inputs are asked for.
func (s *Step) Inputs(f Facts) (values map[string]any, missing []string) {
	values = map[string]any{}
	for _, name := range sortedKeys(s.With) {
		v, err := expandAny(s.With[name], f)
		if err != nil || v == nil {
			missing = append(missing, name)
			continue
		}
		values[name] = v
	}
	return values, missing
}
