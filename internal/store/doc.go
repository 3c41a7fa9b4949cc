// Package store is the database: one transaction of one command, the statements, and the migrations.
//
// It speaks two dialects, SQLite and Postgres, with one SQL text. It guarantees that a command is durable before its
// result leaves [DB.Write], that a refused or failed command leaves no row, that locks are taken in one order, and that
// readers of the event log see one dense sequence. Constraints are the last word: where Go checks and the database
// enforces the same rule, the database's answer counts.
//
// It must not know what the rows mean: it decides nothing, and it never imports the engine.
package store
