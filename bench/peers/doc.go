// Command peers does what bench measures of Fairlead's queue with other queues, River and DBOS, as nearly as they can, and
// prints one line of JSON. It is a module of its own, so that the product has none of their dependencies.
//
//	peers -system river -database postgres -url postgres://… -scenario paced
package main
