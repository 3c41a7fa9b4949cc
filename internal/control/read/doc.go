// Package read answers questions about the state: the read models behind the API's GETs, the CLI's tables and the
// views that commands return.
//
// It guarantees that an answer is one consistent read, and that nothing is decided on it.
//
// It must not write, and it must not know HTTP.
package read
