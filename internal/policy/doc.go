// Package policy holds the rules of Fairlead as data and small functions: when a quorum holds, how a failure is
// treated, in which order runs go, what a hold says, and which state a task shows.
//
// It guarantees that each rule stands in one place and answers the same for the same facts.
//
// It must not know tasks in a database, workflows, processes, clocks or randomness: jitter and times come as arguments.
package policy
