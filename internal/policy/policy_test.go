package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
)

func TestParseThreshold(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"all_approve", "any_reject", "all_decide", "majority_approve", "n_approve:1", "n_approve:12"} {
		th, err := ParseThreshold(s)
		if err != nil || th.String() != s {
			t.Errorf("%s: got %v, %v", s, th, err)
		}
	}
	for _, s := range []string{"", "all", "n_approve", "n_approve:", "n_approve:0", "n_approve:-1", "n_approve:x", "any_reject:1"} {
		if _, err := ParseThreshold(s); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%s: got %v, want invalid", s, err)
		}
	}
}

func TestQuorum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		threshold string
		tally     Tally
		pass      bool
		want      bool
	}{
		{"all_approve", Tally{3, 3, 0}, false, true},
		{"all_approve", Tally{3, 2, 1}, false, false},
		{"any_reject", Tally{3, 2, 1}, false, true},
		{"any_reject", Tally{3, 2, 0}, false, false},
		{"all_decide", Tally{3, 1, 2}, false, true},
		{"all_decide", Tally{3, 1, 1}, false, false},
		{"majority_approve", Tally{3, 2, 1}, false, true},
		{"majority_approve", Tally{4, 2, 2}, false, false},
		{"n_approve:2", Tally{5, 2, 3}, false, true},
		{"n_approve:2", Tally{1, 1, 0}, true, false},
		{"all_approve", Tally{}, false, false},
		{"all_approve", Tally{}, true, true},
		{"n_approve:2", Tally{}, true, true},
		{"any_reject", Tally{}, true, false},
	} {
		th, err := ParseThreshold(c.threshold)
		if err != nil {
			t.Fatal(err)
		}
		if got := Quorum(th, c.tally, c.pass); got != c.want {
			t.Errorf("%s of %+v, pass %v: got %v", c.threshold, c.tally, c.pass, got)
		}
	}
	if Quorum(Threshold{Rule: "most"}, Tally{3, 3, 0}, false) {
		t.Error("an unknown rule holds")
	}
}

// TestQuorumReachable: a threshold is reachable exactly if some outcome of the votes makes it hold.
func TestQuorumReachable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(t, "seats")
		pass := rapid.Bool().Draw(t, "pass")
		th := Threshold{Rule: rapid.SampledFrom([]Rule{AllApprove, AnyReject, AllDecide, MajorityApprove, NApprove}).Draw(t, "rule")}
		if th.Rule == NApprove {
			th.N = rapid.IntRange(1, 6).Draw(t, "n")
		}
		some := false
		for a := 0; a <= n; a++ {
			for r := 0; a+r <= n; r++ {
				some = some || Quorum(th, Tally{n, a, r}, pass)
			}
		}
		if got := Reachable(th, n, pass); got != some {
			t.Fatalf("%v with %d seats, pass %v: reachable %v, some outcome holds %v", th, n, pass, got, some)
		}
	})
}

func TestRunRank(t *testing.T) {
	t.Parallel()
	order := []int{
		RunRank(true, fairlead.PriorityUrgent), RunRank(true, fairlead.PriorityLow), RunRank(false, fairlead.PriorityUrgent),
		RunRank(false, fairlead.PriorityHigh), RunRank(false, ""), RunRank(false, fairlead.PriorityLow),
	}
	for i := 1; i < len(order); i++ {
		if order[i-1] <= order[i] {
			t.Errorf("rank %d is not above rank %d: %v", i-1, i, order)
		}
	}
	if RunRank(false, "strange") != RunRank(false, fairlead.PriorityLow) {
		t.Error("an unknown priority is not the lowest")
	}
}

func TestDeriveState(t *testing.T) {
	t.Parallel()
	all := StateFacts{
		Terminal: fairlead.TerminalDone, Archived: true, Asks: true, Running: true, Dead: true, Paused: true, Queued: true, Waiting: true,
	}
	// Taking away the first fact shows the next state, in the order of the API's contract.
	for _, c := range []struct {
		want fairlead.State
		drop func(*StateFacts)
	}{
		{fairlead.StateDone, func(f *StateFacts) { f.Terminal = fairlead.TerminalCancelled }},
		{fairlead.StateCancelled, func(f *StateFacts) { f.Terminal = fairlead.TerminalNone }},
		{fairlead.StateCancelled, func(f *StateFacts) { f.Archived = false }},
		{fairlead.StateNeedsYou, func(f *StateFacts) { f.Asks = false }},
		{fairlead.StateRunning, func(f *StateFacts) { f.Running = false }},
		{fairlead.StateFailed, func(f *StateFacts) { f.Dead = false }},
		{fairlead.StatePaused, func(f *StateFacts) { f.Paused = false }},
		{fairlead.StateQueued, func(f *StateFacts) { f.Queued = false }},
		{fairlead.StateWaiting, func(f *StateFacts) { f.Waiting = false }},
		{fairlead.StateTodo, func(*StateFacts) {}},
	} {
		if got := DeriveState(all); got != c.want {
			t.Errorf("%+v: got %s, want %s", all, got, c.want)
		}
		c.drop(&all)
	}
}

func TestLadder(t *testing.T) {
	t.Parallel()
	l := StandardLadder()
	if got, want := l.Length(), 2*time.Hour+42*time.Minute; got != want {
		t.Errorf("length: got %v, want %v", got, want)
	}
	for attempt, want := range []time.Duration{2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour} {
		if got, ok := l.Rung(attempt, 0); !ok || got != want {
			t.Errorf("rung %d: got %v %v", attempt, got, ok)
		}
	}
	for _, attempt := range []int{-1, 4} {
		if _, ok := l.Rung(attempt, 0); ok {
			t.Errorf("rung %d exists", attempt)
		}
	}
	if low, _ := l.Rung(0, -5); low != 96*time.Second {
		t.Errorf("least wait: %v", low)
	}
	if high, _ := l.Rung(0, 1); high != 144*time.Second {
		t.Errorf("longest wait: %v", high)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	ladder := StandardLadder()
	for name, c := range map[string]struct {
		f       fairlead.Failure
		attempt int
		ladder  Ladder
		want    Verdict
	}{
		"transient":         {fairlead.Failure{Class: fairlead.ClassTransient}, 0, ladder, Verdict{Treatment: TreatRetry, After: 2 * time.Minute, Attempt: true}},
		"last rung":         {fairlead.Failure{Class: fairlead.ClassEmpty}, 3, ladder, Verdict{Treatment: TreatRetry, After: 2 * time.Hour, Attempt: true}},
		"exhausted":         {fairlead.Failure{Class: fairlead.ClassEmpty}, 4, ladder, Verdict{Treatment: TreatDead, Attempt: true}},
		"no ladder":         {fairlead.Failure{Class: fairlead.ClassRefusal}, 0, nil, Verdict{Treatment: TreatDead, Attempt: true}},
		"unknown class":     {fairlead.Failure{Class: "strange"}, 1, ladder, Verdict{Treatment: TreatRetry, After: 10 * time.Minute, Attempt: true}},
		"limit with reset":  {fairlead.Failure{Class: fairlead.ClassLimited, RetryAfter: time.Hour}, 2, ladder, Verdict{Treatment: TreatHold, After: time.Hour, Remedy: Classify(fairlead.ClassLimited).Remedy}},
		"limit without":     {fairlead.Failure{Class: fairlead.ClassLimited}, 0, ladder, Verdict{Treatment: TreatRetry, After: 2 * time.Minute, Attempt: true, Remedy: Classify(fairlead.ClassLimited).Remedy}},
		"budget":            {fairlead.Failure{Class: fairlead.ClassBudget}, 0, ladder, Verdict{Treatment: TreatPark, Remedy: Classify(fairlead.ClassBudget).Remedy}},
		"program, first":    {fairlead.Failure{Class: fairlead.ClassProgram}, 0, nil, Verdict{Treatment: TreatRetry, Attempt: true, Remedy: Classify(fairlead.ClassProgram).Remedy}},
		"program, again":    {fairlead.Failure{Class: fairlead.ClassProgram}, 1, ladder, Verdict{Treatment: TreatPark, Remedy: Classify(fairlead.ClassProgram).Remedy}},
		"no retry can mend": {fairlead.Failure{Class: fairlead.ClassAuthentication}, 0, ladder, Verdict{Treatment: TreatDead, Attempt: true, Remedy: Classify(fairlead.ClassAuthentication).Remedy}},
	} {
		if diff := cmp.Diff(c.want, Judge(c.f, c.attempt, c.ladder, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, c := range []fairlead.ErrorClass{
		fairlead.ClassDenied, fairlead.ClassConfiguration, fairlead.ClassAuthentication, fairlead.ClassUnknownModel, fairlead.ClassStopped,
	} {
		if got := Classify(c); got.Treatment != TreatDead || got.Remedy == "" {
			t.Errorf("%s: %+v", c, got)
		}
	}
	if Classify(fairlead.ClassProgram).Treatment != TreatPark {
		t.Error("a program's fault does not park")
	}
}

func TestEveryHoldSaysWhatReleasesIt(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range []fairlead.HoldKind{
		fairlead.HoldWIP, fairlead.HoldLoop, fairlead.HoldBlocked, fairlead.HoldCheckout, fairlead.HoldAgentBusy, fairlead.HoldAgentPaused,
		fairlead.HoldNodeLabel, fairlead.HoldRequest, fairlead.HoldDue, fairlead.HoldCooldown, fairlead.HoldAccount, fairlead.HoldBudget,
		fairlead.HoldArchived, fairlead.HoldBreaker, "strange",
	} {
		h := Hold(k, "ref_1")
		if h.Kind != k || h.Ref != "ref_1" || h.Text == "" || h.Release == "" || seen[h.Text] {
			t.Errorf("%s: %+v", k, h)
		}
		seen[h.Text] = true
	}
}
