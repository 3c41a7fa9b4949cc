package policy

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
)

func tokens(limit int64) Budget {
	return Budget{ID: "bud_1", Scope: ScopeWorkspace, Meter: MeterTokens, Limit: limit, Period: PeriodDay, Generation: 1}
}

func TestBudgetValidate(t *testing.T) {
	t.Parallel()
	good := tokens(1000)
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	full := Budget{ID: "b", Scope: ScopeTask, Ref: "tsk_1", Meter: MeterMoney, Limit: 1, Period: PeriodMonth, Zone: "Europe/Berlin", Alerts: []int{90, 120}, Action: LimitHold, Generation: 3}
	if err := full.Validate(); err != nil {
		t.Fatal(err)
	}
	for path, change := range map[string]func(*Budget){
		"scope":      func(b *Budget) { b.Scope = "team" },
		"ref":        func(b *Budget) { b.Scope = ScopeAgent },
		"meter":      func(b *Budget) { b.Meter = "calls" },
		"limit":      func(b *Budget) { b.Limit = 0 },
		"period":     func(b *Budget) { b.Period = "week" },
		"action":     func(b *Budget) { b.Action = "stop" },
		"generation": func(b *Budget) { b.Generation = 0 },
		"alerts":     func(b *Budget) { b.Alerts = []int{50, 0} },
		"zone":       func(b *Budget) { b.Zone = "Local" },
	} {
		b := tokens(1000)
		change(&b)
		var e *fairlead.Error
		if err := b.Validate(); !errors.As(err, &e) || e.Code != fairlead.CodeInvalid || e.Hint == "" || e.Fields[0].Path != path {
			t.Errorf("%s: got %v", path, err)
		}
	}
	b := tokens(1000)
	b.Ref = "coder"
	if err := b.Validate(); !fairlead.IsCode(err, fairlead.CodeInvalid) {
		t.Errorf("a workspace with a reference: %v", err)
	}
}

func TestBudgetCovers(t *testing.T) {
	t.Parallel()
	s := Subject{Projects: []string{"web", "api"}, Agent: "coder", Task: "tsk_3", Ancestors: []string{"tsk_2", "tsk_1"}, Assignment: "asg_1"}
	for _, c := range []struct {
		scope BudgetScope
		ref   string
		want  bool
	}{
		{ScopeWorkspace, "", true}, {ScopeProject, "api", true}, {ScopeProject, "ops", false}, {ScopeAgent, "coder", true},
		{ScopeAgent, "tester", false}, {ScopeTask, "tsk_3", true}, {ScopeTask, "tsk_1", true}, {ScopeTask, "tsk_4", false},
		{ScopeAssignment, "asg_1", true}, {ScopeAssignment, "asg_2", false}, {"team", "web", false},
	} {
		b := Budget{Scope: c.scope, Ref: c.ref}
		if got := b.Covers(s); got != c.want {
			t.Errorf("%s %s: got %v", c.scope, c.ref, got)
		}
	}
	for _, scope := range []BudgetScope{ScopeAgent, ScopeTask, ScopeAssignment} {
		if b := (Budget{Scope: scope}); b.Covers(Subject{}) {
			t.Errorf("%s without a reference covers nobody's work", scope)
		}
	}
}

// TestBudgetAlertsOnce: each threshold tells once for a limit and period, also when one call crosses several.
func TestBudgetAlertsOnce(t *testing.T) {
	t.Parallel()
	told := map[string]bool{}
	s := Standing{Budget: tokens(1000), Span: Span{Key: "2026-12-01"}}
	look := func() []int {
		var got []int
		for _, a := range s.Alerts(func(k string) bool { return told[k] }) {
			told[a.Key()] = true
			got = append(got, a.Threshold)
		}
		return got
	}
	spend := func(n int64, want ...int) {
		t.Helper()
		s.Spent = s.Spent.Add(Spend{Tokens: n})
		if diff := cmp.Diff(want, look()); diff != "" {
			t.Errorf("at %d (-want +got):\n%s", s.Spent.Tokens, diff)
		}
	}
	spend(499)
	spend(1, 50)
	spend(100)
	spend(400, 80, 100)
	spend(5000)
	var err error
	if s.Budget, err = s.Budget.Raise(10_000); err != nil || s.Budget.Generation != 2 {
		t.Fatalf("raise: %v, generation %d", err, s.Budget.Generation)
	}
	spend(0, 50)
	s.Span.Key, s.Spent = "2026-12-02", Spend{}
	spend(8100, 50, 80)
	s.Budget.Alerts = []int{90, 81, 81, 120}
	spend(0, 81)
	s.Budget.Alerts = []int{}
	spend(10_000)
	if _, err := s.Budget.Raise(10_000); !fairlead.IsCode(err, fairlead.CodeInvalid) {
		t.Errorf("raised to the same: %v", err)
	}
}

// TestR20_Unpriced: a call without a price shows as such and never as zero, and the token limit still stops.
func TestR20_Unpriced(t *testing.T) {
	t.Parallel()
	money, toks := tokens(5_000_000), tokens(1000)
	money.Meter = MeterMoney
	spent := Spend{}.Add(UnpricedCall(600))
	m, k := &Standing{Budget: money, Spent: spent}, &Standing{Budget: toks, Spent: spent}
	if got, want := m.Text(), "1 unpriced call of $5.00"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if c := CheckBudgets(CheckCall, []*Standing{m, k}); c.Hold || c.Park {
		t.Errorf("stops early: %+v", c)
	}
	spent = spent.Add(UnpricedCall(400)).Add(PricedCall(1_250_000, 10))
	m.Spent, k.Spent = spent, spent
	if got, want := m.Text(), "$1.25 + 2 unpriced calls of $5.00"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := k.Text(), "1010 tokens of 1000 tokens"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if c := CheckBudgets(CheckCall, []*Standing{m, k}); !c.Park || len(c.Ask) != 1 || c.Ask[0] != k {
		t.Errorf("the token limit does not stop: %+v", c)
	}
	if m.Percent() != 25 || m.Reached() {
		t.Errorf("money stands at %d %%, reached %v", m.Percent(), m.Reached())
	}
}

// TestBudgetActions: queued work is held, live work parks on one request, and a hold asks nobody.
func TestBudgetActions(t *testing.T) {
	t.Parallel()
	at := func(a LimitAction, spent int64) *Standing {
		b := tokens(100)
		b.Action = a
		return &Standing{Budget: b, Spent: Spend{Tokens: spent}}
	}
	park, hold, alert, free := at("", 100), at(LimitHold, 101), at(LimitAlert, 500), at(LimitPark, 99)
	for name, c := range map[string]struct {
		point      CheckPoint
		standings  []*Standing
		stops, ask int
		hold, park bool
	}{
		"free":                 {CheckClaim, []*Standing{free, alert}, 0, 0, false, false},
		"none":                 {CheckCall, nil, 0, 0, false, false},
		"queued":               {CheckEnqueue, []*Standing{park}, 1, 1, true, false},
		"claim":                {CheckClaim, []*Standing{free, park, alert}, 1, 1, true, false},
		"tipping call":         {CheckCall, []*Standing{park}, 1, 1, false, true},
		"hold, queued":         {CheckEnqueue, []*Standing{hold}, 1, 0, true, false},
		"hold, tipping call":   {CheckCall, []*Standing{hold}, 1, 0, true, false},
		"both, tipping call":   {CheckCall, []*Standing{hold, park}, 2, 1, false, true},
		"two that ask at once": {CheckCall, []*Standing{park, at(LimitPark, 200)}, 2, 2, false, true},
	} {
		got := CheckBudgets(c.point, c.standings)
		if len(got.Stops) != c.stops || len(got.Ask) != c.ask || got.Hold != c.hold || got.Park != c.park {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestPercent: the figure equals exact arithmetic for every amount, and a threshold is reached exactly from its share on.
func TestPercent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := tokens(rapid.Int64Range(1, math.MaxInt64).Draw(t, "limit"))
		spent := rapid.Int64Range(0, math.MaxInt64).Draw(t, "spent")
		if rapid.Bool().Draw(t, "small") {
			b.Limit, spent = b.Limit%1000+1, spent%2000
		}
		s := Standing{Budget: b, Spent: Spend{Tokens: spent}}
		exact := new(big.Int).Mul(big.NewInt(spent), big.NewInt(100))
		exact.Div(exact, big.NewInt(b.Limit))
		if !exact.IsInt64() {
			exact.SetInt64(math.MaxInt)
		}
		if int64(s.Percent()) != exact.Int64() || s.Reached() != (spent >= b.Limit) || s.Reached() != (s.Percent() >= 100) {
			t.Fatalf("%d of %d: %d %%, reached %v", spent, b.Limit, s.Percent(), s.Reached())
		}
	})
	if s := (Standing{Budget: Budget{Meter: "strange"}}); s.Percent() != 0 || s.Reached() {
		t.Error("an unknown meter measures something")
	}
}

// TestSpendAdds: the order of calls does not matter, nothing falls and nothing runs over.
func TestSpendAdds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) Spend {
			n := rapid.Int64()
			return Spend{n.Draw(t, label+" money"), n.Draw(t, label+" unpriced"), n.Draw(t, label+" tokens"), n.Draw(t, label+" runs"), n.Draw(t, label+" wall")}
		}
		zero := Spend{}
		a, b, c := zero.Add(draw("a")), draw("b"), draw("c")
		if a.Add(b).Add(c) != a.Add(zero.Add(b).Add(c)) || a.Add(b) != zero.Add(b).Add(a) {
			t.Fatal("the order matters")
		}
		for _, m := range []Meter{MeterMoney, MeterTokens, MeterRuns, MeterWall} {
			if sum := a.Add(b).Of(m); sum < a.Of(m) || sum < b.Of(m) {
				t.Fatalf("%s fell to %d", m, sum)
			}
		}
	})
	if got := WallTime(90 * time.Second).Of(MeterWall); got != 90_000 {
		t.Errorf("wall time: %d", got)
	}
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		meter Meter
		text  string
		n     int64
		shown string
	}{
		{MeterMoney, "12", 12_000_000, "$12.00"}, {MeterMoney, "$12.5", 12_500_000, "$12.50"}, {MeterMoney, "0.01", 10_000, "$0.01"},
		{MeterMoney, "0.000001", 1, "$0.000001"}, {MeterMoney, "999999999999.999999", 999_999_999_999_999_999, "$999999999999.99"},
		{MeterTokens, "2000000", 2_000_000, "2000000 tokens"}, {MeterRuns, "1", 1, "1 run"}, {MeterWall, "1h30m", 5_400_000, "1h30m0s"},
	} {
		if n, err := ParseAmount(c.meter, c.text); err != nil || n != c.n {
			t.Errorf("%s %s: got %d, %v", c.meter, c.text, n, err)
		}
		if got := AmountText(c.meter, c.n); got != c.shown {
			t.Errorf("%s %d: got %s, want %s", c.meter, c.n, got, c.shown)
		}
	}
	if got := AmountText(MeterWall, math.MaxInt64); got != "9223372036854775807 ms" {
		t.Error(got)
	}
	for _, c := range []struct {
		meter Meter
		text  string
	}{
		{MeterMoney, ""}, {MeterMoney, "0"}, {MeterMoney, "-1"}, {MeterMoney, "1.0000001"}, {MeterMoney, ".5"}, {MeterMoney, "1e3"}, {MeterMoney, "1.2.3"},
		{MeterMoney, "9999999999999"}, {MeterTokens, "2M"}, {MeterTokens, "0"}, {MeterRuns, "1.5"}, {MeterWall, "3"}, {MeterWall, "-3h"}, {"calls", "3"},
	} {
		if _, err := ParseAmount(c.meter, c.text); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%s %q: got %v, want invalid", c.meter, c.text, err)
		}
	}
}

func TestPeriodSpan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		period          Period
		zone, at        string
		start, end, key string
	}{
		"day":                   {PeriodDay, "UTC", "2026-12-01T00:00:00Z", "2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z", "2026-12-01"},
		"day in a zone":         {PeriodDay, "Asia/Tokyo", "2026-12-01T15:00:00Z", "2026-12-01T15:00:00Z", "2026-12-02T15:00:00Z", "2026-12-02"},
		"short day":             {PeriodDay, "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "2026-03-29"},
		"long day":              {PeriodDay, "America/New_York", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", "2026-11-01"},
		"no midnight":           {PeriodDay, "America/Havana", "2026-03-08T12:00:00Z", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z", "2026-03-08"},
		"two midnights, first":  {PeriodDay, "America/Havana", "2026-11-01T04:30:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", "2026-11-01"},
		"two midnights, second": {PeriodDay, "America/Havana", "2026-11-01T05:30:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", "2026-11-01"},
		"month":                 {PeriodMonth, "Europe/Berlin", "2026-12-31T22:59:59Z", "2026-11-30T23:00:00Z", "2026-12-31T23:00:00Z", "2026-12"},
		"leap month":            {PeriodMonth, "UTC", "2028-02-29T12:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z", "2028-02"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, _ := time.Parse(time.RFC3339, c.at)
		s := c.period.Span(at, zone)
		if got, want := s.Start.Format(time.RFC3339)+" "+s.End.Format(time.RFC3339)+" "+s.Key, c.start+" "+c.end+" "+c.key; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if !s.Contains(at) || s.Contains(s.End) || s.Contains(s.Start.Add(-1)) {
			t.Errorf("%s: the span does not hold its own time", name)
		}
	}
	total := PeriodTotal.Span(noon, nil)
	if total.Key != "total" || !total.Contains(time.Time{}) || !(&Standing{Span: total}).RollsOver().IsZero() {
		t.Errorf("total: %+v", total)
	}
	if s := PeriodDay.Span(noon, nil); s.Key != "2026-12-01" {
		t.Errorf("without a zone: %+v", s)
	}
}

// TestPeriodsFollowEachOther: the periods of a zone leave no moment out and share none.
func TestPeriodsFollowEachOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom([]string{
			"UTC", "Europe/Berlin", "America/New_York", "America/Havana", "Pacific/Apia", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Cairo",
		}).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		p := rapid.SampledFrom([]Period{PeriodDay, PeriodMonth}).Draw(t, "period")
		at := time.Unix(rapid.Int64Range(1_200_000_000, 1_900_000_000).Draw(t, "at"), 0)
		s := p.Span(at, zone)
		next := p.Span(s.End, zone)
		if !s.Contains(at) || !next.Start.Equal(s.End) || next.Key <= s.Key || p.Span(s.End.Add(-1), zone) != s {
			t.Fatalf("%s at %s: %+v, then %+v", p, at, s, next)
		}
	})
}
