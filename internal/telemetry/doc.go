// Package telemetry is how a running server is observed: structured logs and metrics.
//
// Guarantees: an attribute that is a secret by its name is never written to a log. Metrics live in a registry of their
// own, so that two servers in one process (and in one test) do not meet, and nothing a dependency registers by itself
// is published. Labels are bounded: a route's pattern, never its path.
//
// The package must not know what is measured beyond names and numbers, and must import nothing of the machinery.
package telemetry
