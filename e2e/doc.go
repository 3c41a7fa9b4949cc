// Package e2e holds the black-box tests: they build the real binary, start it, and know it only by its command line,
// its HTTP API, its files and its processes.
//
// It guarantees that every command of the help is played by a script in testdata/script, and that what a scenario
// promises holds over a kill -9. Servers listen on port 0 in homes of their own; only processes that a test started
// are killed, by their id.
//
// It must not know how the product does it: beside the public client it reads the database only to compare dumps, and
// folds journals with the code that everybody folds them with.
package e2e
