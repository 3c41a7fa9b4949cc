// Package client talks to a Fairlead server over its HTTP API.
//
// Guarantees: every method is one route and returns the objects of the root package; a refusal comes back as
// *fairlead.Error with the code, reason, hint and places that the server gave, and a server that cannot be reached as
// one with code unavailable. Every write carries an operation id, made here when the caller gives none, so that a
// request that broke off may be sent again. Streams resume by themselves where they were cut: each event comes once.
//
// The package must not know anything of the server but its API: programs of others build on it.
package client
