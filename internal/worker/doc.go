// Package worker carries claimed runs out: it prepares the tree, builds the prompt, starts the agent, and reports what
// happened as facts.
//
// It guarantees: an agent is launched only for a claimed run; every fact goes to control under the run's fence; a run
// that is told to stop has its process tree killed before its end is reported; every goroutine is waited for.
//
// It must not decide anything about a task, and it writes no state of its own.
package worker
