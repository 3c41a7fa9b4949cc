// Package dispatchtest is the conformance suite of the dispatch port. Every implementation passes it.
package dispatchtest
