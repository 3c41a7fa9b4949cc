// Package dispatch says "look now": it tells every node that committed work may wait for it, and runs the server's own
// background jobs and periodic duties.
//
// It guarantees that a committed wake is seen by every started node, that a rolled-back one is seen by none, and that a
// node which can take no work takes no wake away from another.
//
// It must never hold the truth: what is to be done stands in the tables of the store. A wake that is late, doubled or
// lost costs time, never correctness. It knows nothing of tasks, runs or agents.
package dispatch
