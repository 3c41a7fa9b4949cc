// Package engine decides what happens when something happens to a task. It is a pure function over one task's
// snapshot: workflow graph, trigger and time in, ordered effects and their explanation out.
//
// It guarantees: the same snapshot, trigger and time give the same plan, bit by bit; a dry run is the same call; at
// most 16 moves a plan; the first holding move wins and comes last.
//
// It must not know the database, sessions, processes, HTTP or which screen a step is shown on; it never reads a clock
// and never makes a random number.
package engine
