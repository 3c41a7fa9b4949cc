// Package fairlead is the vocabulary of Fairlead: the nouns every other package speaks about, their states, their
// validation, and the one error type.
//
// It guarantees that a noun means the same everywhere, and that every state machine of the product stands in one
// table ([Transitions]).
//
// It must not know storage, transport, processes, clocks or randomness: everything here is a plain value.
package fairlead
