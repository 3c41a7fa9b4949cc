// Package local is the dispatcher of a single process: wakes follow the store's commit signals, jobs and duties run in
// the process.
//
// It guarantees what the port promises for one process; several of them over one open database each see every wake.
//
// It must not be shared between machines: duties would run once in each.
package local
