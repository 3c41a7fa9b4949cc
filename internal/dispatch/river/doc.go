// Package river is the dispatcher of nodes that share a Postgres database: wakes are broadcast in the transaction, and
// the server's own background jobs and the leader of periodic duties are River's.
//
// It guarantees what the port promises among any number of nodes. A duty runs on the one node that River has elected,
// and on another within 20 seconds of that node's death; a leader that was stopped and goes on may still finish the turn
// it was in. A job is kept in River's tables, in the schema river, from the transaction that asked for it.
//
// It must not carry runs: a full client eats a job, and slots would be counted per client. It knows nothing of tasks.
package river
