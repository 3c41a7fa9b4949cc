// Command bench measures Fairlead: the real binary over loopback HTTP, on SQLite with full durability and on Postgres,
// and beside it, in the same run, what the database does with the same rows and nothing else.
//
// It guarantees that every scenario ends by itself, that what it started is stopped, and that the baseline writes
// exactly the rows a move writes: it learns them from one real move and checks their number after.
//
// It must not be imported, must not touch a home or a database it did not make, and must not be quick because something
// durable was left out.
package main
