package policy

import "github.com/fairlead/fairlead"

// personRank lifts work that a person caused above everything else, whatever its task's priority.
const personRank = 10

// RunRank is a run's rank in the queue, larger first: wakes by people and answers to requests go before all others,
// then the task's priority counts. Runs of one rank go by age.
func RunRank(person bool, p fairlead.Priority) int {
	rank := max(p.Rank(), 0)
	if person {
		rank += personRank
	}
	return rank
}
