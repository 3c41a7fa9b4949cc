// Package mutation is the tests' own test. It switches one protection off at a time, in a copy of its file that only the
// compiler sees, and runs the test that is there for it: a test that stays green then protects nothing.
//
// It guarantees that every protection of its table has a named test that turns red without it, and that the table speaks
// of the code as it is: a text that is not there exactly once fails. It must not know how a protection works, and no
// program imports it.
package mutation
