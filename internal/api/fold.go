package api

import "unicode"

// foldRune returns the smallest rune that is equal to r under simple folding.
func foldRune(r rune) rune {
	if r < unicode.MaxASCII {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A' // the smallest of its letters, Kelvin and long s included
		}
		return r
	}
	smallest := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		smallest = min(smallest, f)
	}
	return smallest
}
