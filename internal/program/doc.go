// Package program folds journals: the state of a task and of its assignments is what their records say.
//
// It guarantees that the same records give the same state, that a fold may go on from any earlier state with the
// records that follow, and that records it does not know change nothing.
//
// It must not know the database, clocks, or how a record came to be.
package program
