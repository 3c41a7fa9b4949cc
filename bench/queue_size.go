package main

import "time"

// queueSize says how much of the queue is measured. Fairlead and its peers do the same numbers.
type queueSize struct {
	agents  int           // among whom runs are spread; a peer's keys
	work    int           // runs that wait when workers begin
	burst   int           // runs of a burst
	workers int           // at once, on one node
	callers int           // who enqueue
	rate    time.Duration // between two paced wakes
	paced   int           // how many of them
	flat    []int         // lengths of the queue
	claims  int           // measured at each length
	nodes   []int         // on Postgres
	offline bool          // peers are measured only if their modules are there already
}

var (
	fullQueue = queueSize{
		agents: 100, work: 4000, burst: 10_000, workers: 8, callers: 8, rate: 20 * time.Millisecond, paced: 300,
		flat: []int{100, 1000, 10_000, 100_000}, claims: 50, nodes: []int{1, 2, 4},
	}
	quickQueue = queueSize{
		agents: 5, work: 20, burst: 30, workers: 2, callers: 2, rate: time.Millisecond, paced: 5, flat: []int{20, 40}, claims: 5, nodes: []int{1, 2}, offline: true,
	}
)
