// Package hub fans the event log out to streams.
//
// One reader per process follows the log and keeps the newest events in a ring that every stream shares. A stream is a
// position in the log and nothing else: while it keeps up it reads the ring, and when it falls behind it reads the log
// itself until it has caught up. So a slow stream costs the writer nothing, and no stream loses, repeats or reorders an
// event, however often it is cut and opened again.
//
// Guarantees: a stream opened after position p yields every event behind p that its filter lets pass, in the order of
// the log, each once. A position that cannot be served (older than what is kept, of another epoch, above the head) is
// said once and the stream goes on from the head.
//
// The package must not know where the log is stored, who listens, or how events are written to a wire.
package hub
