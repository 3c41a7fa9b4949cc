package control

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// limited ends a turn with a limit of the provider, in its words.
func (j *job) limited(after time.Duration, text string) {
	j.f.t.Helper()
	j.tell(&TurnEnd{StopReason: "failed", Failure: &fairlead.Failure{Class: fairlead.ClassLimited, Message: text, RetryAfter: after}}, true)
}

// accounts gives ann and carl one account, bob another, and each may do much at once.
func (f *floor) accounts() {
	f.agent("ann", "account: one\nparallel: 20\n")
	f.agent("carl", "account: one\nparallel: 20\n")
	f.agent("bob", "account: two\nparallel: 20\n")
}

// of makes a task for an agent.
func (f *floor) of(agent string) fairlead.TaskView {
	f.t.Helper()
	v, err := f.c.CreateTask(f.t.Context(), asClient(), fairlead.NewTask{Title: "for " + agent, Workflow: "stay", Agent: agent})
	f.must(err)
	return v
}

// TestR7_LimitHoldsTheAccount: by a number or by words; others go on; it is no attempt; one goes first.
func TestR7_LimitHoldsTheAccount(t *testing.T) {
	for name, after := range map[string]time.Duration{"Retry-After": 10 * time.Minute, "words": 0} {
		t.Run(name, func(t *testing.T) {
			eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
				f.accounts()
				a := f.of("ann")
				j := f.claimed().start()
				c, b := f.of("carl"), f.of("bob")
				j.limited(after, "You've hit your limit · resets at "+clock.Now().Add(10*time.Minute).Format("3:04 PM")+" (UTC)")
				r := f.status(j.Run.ID, fairlead.RunQueued)
				if r.Attempt != 0 || !r.Due || r.ErrorClass != fairlead.ClassLimited {
					t.Errorf("got %+v, want no attempt", r)
				}
				for _, task := range []string{a.ID, c.ID} {
					why, err := f.c.Why(t.Context(), mainWorkspace, f.queued(task).ID)
					f.must(err)
					if len(why) != 1 || why[0].Kind != fairlead.HoldAccount || why[0].Ref != "one" || why[0].Until == nil || why[0].Release == "" {
						t.Fatalf("got holds %+v, want the account's with its end", why)
					}
				}
				if j := f.claimed(); j.Task.ID != b.ID {
					t.Fatalf("claimed %s's run, want the other account's", j.Run.Agent)
				}
				f.nothing()
				f.later(clock, 8*time.Minute)
				f.nothing()
				f.later(clock, 3*time.Minute)
				probe := f.claimed().start()
				f.nothing() // the others wait for how it ends
				probe.done()
				next := f.claimed().start()
				if probe.Run.ID == next.Run.ID || next.Task.ID != a.ID && next.Task.ID != c.ID {
					t.Errorf("claimed %s after %s", next.Run.ID, probe.Run.ID)
				}
				next.done()
				f.nothing()
			})
		})
	}
}

// TestR7_HoldsDoNotSpin: each release that leads to no success doubles the next time, to at most an hour; the inbox hears
// of it after a day, and agent_error is fired once, while the run stays held.
func TestR7_HoldsDoNotSpin(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		f.accounts()
		task := f.of("ann")
		f.claimed().start().limited(10*time.Second, "slow down")
		id := f.queued(task.ID).ID
		want := 10 * time.Second
		for range 36 {
			f.later(clock, want-2*time.Second)
			f.nothing()
			f.later(clock, 3*time.Second)
			f.claimed().start().limited(time.Second, "slow down")
			want = min(2*want, time.Hour)
		}
		if r := f.status(id, fairlead.RunQueued); r.Attempt != 0 {
			t.Errorf("got attempt %d", r.Attempt)
		}
		if n := f.notices("hold"); n != 1 {
			t.Errorf("the inbox heard %d times of it, want once", n)
		}
		if n := f.notices("agent_error"); n != 1 {
			t.Errorf("got %d agent errors, want 1", n)
		}
		f.later(clock, time.Hour)
		f.claimed().start().done()
		if n, err := f.c.CountHolds(t.Context()); err != nil || len(n) != 0 {
			t.Errorf("holds are left: %v, %v", n, err)
		}
	})
}

// TestR32_LimitWithoutResetClimbs, and one that is still refused the ladder's length after its reset tells once.
func TestR32_LimitWithoutResetClimbs(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		f.accounts()
		task := f.of("ann")
		j := f.claimed().start()
		j.limited(0, "too many requests")
		if r := f.queued(task.ID); r.Attempt != 1 || r.Due {
			t.Errorf("got %+v, want back-off", r)
		}
		f.later(clock, 3*time.Minute)
		f.claimed().start().limited(5*time.Hour, "quota")
		f.later(clock, 5*time.Hour+time.Second) // the stated reset
		for range 2 {
			f.claimed().start().limited(80*time.Minute, "quota")
			if n := f.notices("agent_error"); n != 0 {
				t.Fatalf("%d agent errors before the ladder's length", n)
			}
			f.later(clock, 81*time.Minute+time.Second)
		}
		for range 3 {
			f.claimed().start().limited(2*time.Hour, "quota")
			if n := f.notices("agent_error"); n != 1 {
				t.Fatalf("got %d agent errors, want one", n)
			}
			if r := f.status(j.Run.ID, fairlead.RunQueued); r.Attempt != 1 {
				t.Errorf("got attempt %d", r.Attempt)
			}
			same(t, "holds", f.held(j.Run.ID), fairlead.HoldAccount)
			f.later(clock, 2*time.Hour+time.Second)
		}
	})
}

// TestR7_OneProbeGoesFirst: fifty claims behind a hold whose time is over.
func TestR7_OneProbeGoesFirst(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		f.accounts()
		f.of("ann")
		f.claimed().start().limited(time.Minute, "slow down")
		for range 8 {
			f.of("carl")
		}
		f.later(clock, 2*time.Minute)
		probe := f.crowd(1)
		// Whatever tells nothing of the account lets another one go first.
		_, err := f.c.Stop(t.Context(), owner(), probe.Task.ID, fairlead.OpBody{})
		f.must(err)
		probe.tell(nil, true)
		probe = f.crowd(1)
		probe.start().tell(&TurnEnd{StopReason: "interrupted", Interrupted: true}, true)
		f.crowd(1).start().done()
		f.crowd(7)
	})
}

// crowd claims from many sides at once and returns the last of what was claimed.
func (f *floor) crowd(want int) *job {
	f.t.Helper()
	var mu sync.Mutex
	var won []*job
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			k, err := f.c.Claim(f.t.Context(), f.node)
			if err != nil {
				f.t.Errorf("claim: %v", err)
			}
			if k != nil {
				mu.Lock()
				defer mu.Unlock()
				won = append(won, &job{Claimed: k, f: f})
			}
		})
	}
	wg.Wait()
	if len(won) != want {
		f.t.Fatalf("%d claims won, want %d", len(won), want)
	}
	return won[len(won)-1]
}

// TestR14_CoolDownAtTheClaim: counted from the end of the agent's last run, ended by a timer; a person passes it.
func TestR14_CoolDownAtTheClaim(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		f.agent("ann", "cooldown: 1m\n")
		f.of("ann")
		second, third := f.of("ann"), f.of("ann")
		f.claimed().start().done()
		f.nothing()
		run := f.queued(second.ID).ID
		same(t, "holds", f.held(run), fairlead.HoldCooldown)
		clock.add(2 * time.Minute)
		f.nothing() // no claim compares a clock
		f.later(clock, 0)
		j := f.claimed()
		if j.Task.ID != second.ID {
			t.Errorf("claimed a run of %s", j.Task.Title)
		}
		f.later(clock, time.Hour)
		j.start().done()
		f.later(clock, 50*time.Second)
		f.nothing()
		h := f.hire(1)
		if _, err := f.c.Start(t.Context(), owner(), third.ID, fairlead.StartBody{}); err != nil || len(h.launched) != 1 {
			t.Errorf("a person's launch was held: %v", err)
		}
	})
}

// TestR12_PausedAgentWaitsVisibly: with the reason, and it runs after resume.
func TestR12_PausedAgentWaitsVisibly(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		_, err := f.c.PauseAgent(t.Context(), owner(), "ann", fairlead.PauseBody{Reason: "on holiday"})
		f.must(err)
		task := f.of("ann")
		f.nothing()
		why, err := f.c.Why(t.Context(), mainWorkspace, f.queued(task.ID).ID)
		f.must(err)
		if len(why) != 1 || why[0].Kind != fairlead.HoldAgentPaused || why[0].Data["reason"] != "on holiday" || why[0].Release == "" {
			t.Errorf("got holds %+v", why)
		}
		if v := f.see(task.ID); v.State != fairlead.StatePaused {
			t.Errorf("the task is %s", v.State)
		}
		_, err = f.c.ResumeAgent(t.Context(), owner(), "ann", fairlead.PauseBody{})
		f.must(err)
		f.claimed().start().done()
	})
}

// TestBreakerOpensAfterTenFastFailures of one agent within a minute; slow ones do not count, a person closes it.
func TestBreakerOpensAfterTenFastFailures(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, clock *hand) {
		f.accounts()
		for range 13 {
			f.of("ann")
		}
		fail := func(slow time.Duration) {
			j := f.claimed()
			clock.add(slow)
			j.fails(fairlead.ClassConfiguration)
		}
		fail(2 * time.Minute) // it worked for a while
		for range 9 {
			fail(time.Second)
		}
		if n := f.notices("breaker"); n != 0 {
			t.Fatal("nine failures opened the breaker")
		}
		fail(time.Second)
		if n := f.notices("breaker"); n != 1 {
			t.Errorf("got %d notices, want 1", n)
		}
		f.nothing()
		b := f.of("bob")
		if j := f.claimed(); j.Task.ID != b.ID {
			t.Error("another agent is held")
		}
		f.later(clock, 6*time.Minute)
		fail(0) // the probe
		f.nothing()
		_, err := f.c.ResumeAgent(t.Context(), owner(), "ann", fairlead.PauseBody{})
		f.must(err)
		f.claimed().start().done()
		f.nothing()
	})
}

// TestClaimStaysFlatBehindAHeldAccount: a long queue that a hold stops costs the others nothing.
func TestClaimStaysFlatBehindAHeldAccount(t *testing.T) {
	eachClockedFloor(t, func(t *testing.T, f *floor, _ *hand) {
		f.accounts()
		f.of("ann")
		f.claimed().start().limited(time.Hour, "slow down")
		for range 20 {
			f.of("carl")
		}
		f.of("bob")
		f.read(func(tx *store.ReadTx) error {
			runs, err := tx.Candidates(store.CandidateFilter{PerAgent: 1, Limit: 1})
			if err != nil || len(runs) != 1 || runs[0].Agent != "bob" {
				return fmt.Errorf("got %d candidates: %w", len(runs), err)
			}
			return nil
		})
	})
}
