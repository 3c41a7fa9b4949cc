// Package storetest is the conformance suite of the store, and the bench other packages' tests stand on: a fresh
// database per test, on SQLite and on Postgres.
//
// FAIRLEAD_TEST_POSTGRES names a Postgres server (a URL with the right to create databases). Without it the Postgres
// half is skipped with a message, and fails in CI.
package storetest
