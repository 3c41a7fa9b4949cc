// Package control is the one path by which state changes: it authorises a command, loads what it is about under its
// lock, lets the engine decide, and writes the plan in one transaction.
//
// It guarantees: one command is one transaction about one existing task; a command sent again under its operation id
// returns the first result; a refused command leaves one audit record and nothing else; wakes and events leave only
// after the commit.
//
// It must not know HTTP, processes, or how an agent works. It is the only writer of state.
package control
