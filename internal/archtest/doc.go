// Package archtest holds the rules of the repository as tests: which package may import which, what the pure layer
// may not touch, how large files, functions, packages and interfaces may grow, who may look at the hints for screens,
// and whether the drawn state machines are those of the code.
//
// It guarantees that a broken rule turns `go test` red with the place, the rule and the way out, that each checker is
// itself tested on a made-up fault, and that .golangci.yml says the same as the layer table here.
//
// It must not know what the packages do: it reads `go list`, source text and documentation, and runs nothing. No
// package of the product imports it.
package archtest
