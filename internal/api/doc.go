// Package api is the HTTP API, version 1: the contract for screens, the command line, agents and users' scripts.
//
// A request passes, in this order: the recorder (panics, metrics, log), the door (Host, Origin, token), the route table
// (404 and 405), the body's checks (media type, size, UTF-8, JSON that means one thing only), the schema, and then one
// call of control. Handlers decode, call and encode; they decide nothing.
//
// Guarantees: every answer that is not a success is problem+json with a code and mostly a hint, and never repeats what
// the caller sent. GET and HEAD change nothing. A write sent again under its operation id has the first answer's status
// and body. An event stream cut anywhere and resumed by its last id yields every event once.
//
// The package must not know the database, the engine's rules or how agents run. It speaks to control and the hub
// through interfaces declared here (port.go).
package api
