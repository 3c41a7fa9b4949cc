// Package cli is the command line: one small file for each noun, tables for people, --json for programs.
//
// It guarantees: with --json exactly one JSON value (or JSON lines from a command that streams) stands on stdout and
// nothing else; messages for people go to stderr; the exit code says what went wrong (client.ExitCode).
//
// It must not know the server's insides: it talks to it by HTTP through client, and gets serve and demo as functions.
package cli
