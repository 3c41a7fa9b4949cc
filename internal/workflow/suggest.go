package workflow

import (
	"slices"
	"strings"
)

// suggest is the remedy for a word that is not among those allowed: the nearest one if it is near, else all of them.
func suggest(word string, allowed []string) string {
	if len(allowed) == 0 {
		return "leave it out"
	}
	best, far := "", 3
	if len(word) <= 4 {
		far = 2 // two letters of a short word are half of it
	}
	for _, a := range allowed {
		if d := distance(word, a); d < far {
			best, far = a, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "use one of: " + strings.Join(allowed, ", ")
}

// distance is the number of letters to add, drop, change or swap with a neighbour; 99 for words of very different length.
func distance(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 99
	}
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}

// suggestSorted is suggest for names of the workspace, which have no order and may be many.
func suggestSorted(word string, names []string, noun string) string {
	slices.Sort(names)
	if s := suggest(word, names); len(names) > 0 && (len(names) <= 12 || strings.HasPrefix(s, "did you mean")) {
		return s
	}
	return "add this " + noun + " to the workspace first"
}
