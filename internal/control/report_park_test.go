package control

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
)

// TestR6_EveryClassIsTreated: what becomes of a run for each class of errors that a worker may report.
func TestR6_EveryClassIsTreated(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		table := policy.FailureTable()
		// A hold on the account that all of them share comes last.
		slices.SortStableFunc(table, func(a, b policy.FailureLine) int {
			return cmp.Compare(strings.Count(string(a.Treatment), string(policy.TreatHold)), strings.Count(string(b.Treatment), string(policy.TreatHold)))
		})
		for _, line := range table {
			// A breaker must not hold the next class's run, so each has an agent of its own.
			agent := "a-" + string(line.Error[0]) + string(line.Error[len(line.Error)-1]) + string(line.Error[1])
			f.agent(agent, "")
			f.save("workflow: w-" + agent + "\nname: W\nstart: work\nsteps:\n  - key: work\n    name: Work\n    agent: " + agent +
				"\n    on:\n      enter: [{queue_run: {to: primary}}]\n      agent_error: [{inbox_item: {kind: " + agent + ", text: failed}}]\n")
			f.task("w-" + agent)
			for range line.AtOnce {
				j := f.claimed().start()
				j.fails(line.Error)
				if r := f.status(j.Run.ID, fairlead.RunQueued); !r.Due {
					t.Errorf("%s: is not tried again at once", line.Error)
				}
			}
			j := f.claimed().start()
			wait := time.Duration(0)
			if line.Treatment == policy.TreatHold {
				wait = time.Hour
			}
			j.tell(&TurnEnd{StopReason: "failed", Failure: &fairlead.Failure{Class: line.Error, Message: "broken", RetryAfter: wait}}, true)
			want, errors, asked := fairlead.RunQueued, 0, 0
			switch line.Treatment {
			case policy.TreatDead:
				want, errors = fairlead.RunDead, 1
			case policy.TreatPark:
				want, asked = fairlead.RunParked, 1
			case policy.TreatRetry, policy.TreatHold:
			}
			f.status(j.Run.ID, want)
			if n := f.notices(agent); n != errors {
				t.Errorf("%s: %d agent errors, want %d", line.Error, n, errors)
			}
			open := f.supervised()
			if len(open) != asked {
				t.Fatalf("%s: %d requests, want %d", line.Error, len(open), asked)
			}
			f.nothing()
			for _, q := range open {
				f.answer(q.ID, fairlead.Answer{Option: fairlead.OptionRetry})
				again := f.claimed()
				if again.Run.Assignment != j.Run.Assignment || again.Run.Attempt != 0 {
					t.Errorf("%s: the answer woke %+v", line.Error, again.Run)
				}
				f.givesUp(again, line, agent)
			}
		}
	})
}

// givesUp lets the work fail once more and ends it.
func (f *floor) givesUp(j *job, line policy.FailureLine, notice string) {
	f.t.Helper()
	j.start()
	for range line.AtOnce {
		j.fails(line.Error)
		j = f.claimed().start()
	}
	j.fails(line.Error)
	f.status(j.Run.ID, fairlead.RunParked)
	for _, q := range f.supervised() {
		f.answer(q.ID, fairlead.Answer{Option: fairlead.OptionStop})
	}
	f.nothing()
	if n := f.notices(notice); n != 1 {
		f.t.Errorf("%s: given up, and the step heard of %d errors, want 1", line.Error, n)
	}
}

func (f *floor) supervised() []fairlead.RequestView {
	f.t.Helper()
	p, err := f.c.ListRequests(f.t.Context(), mainWorkspace, RequestQuery{Kind: string(fairlead.RequestSupervise), State: string(fairlead.RequestOpen), Limit: 200})
	f.must(err)
	return p.Items
}
