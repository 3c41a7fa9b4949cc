// Package app puts a Fairlead server together and runs it: it is the only package that knows concrete adapters.
//
// It guarantees: nothing is claimed before the trees of earlier starts are dead and their runs are taken over; a stop
// has two phases, a drain and an end; every goroutine is waited for.
//
// It must not decide anything: it wires.
package app
