package schedule

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
)

// TestR15_MissedFires: the server was down across five fires.
func TestR15_MissedFires(t *testing.T) {
	t.Parallel()
	s := mustCron(t, "0 * * * *", "")
	last := at(t, "2026-12-01T08:00:00Z")
	hour := func(h int) time.Time { return last.Add(time.Duration(h-8) * time.Hour) }
	one := func(h int, o Outcome, reason string) Receipt { return Receipt{hour(h), hour(h), 1, o, reason} }
	type answer struct {
		Fires    []Fire
		Receipts []Receipt
	}
	for name, c := range map[string]struct {
		policy string
		now    time.Time
		want   answer
	}{
		"skip": {"skip", hour(13).Add(30 * time.Minute), answer{nil, []Receipt{
			one(9, OutcomeSkipped, ReasonMissed), one(10, OutcomeSkipped, ReasonMissed), one(11, OutcomeSkipped, ReasonMissed),
			one(12, OutcomeSkipped, ReasonMissed), one(13, OutcomeSkipped, ReasonMissed),
		}}},
		"once": {"once", hour(13).Add(30 * time.Minute), answer{[]Fire{{hour(13), 30 * time.Minute, false}}, []Receipt{
			one(9, OutcomeSkipped, ReasonJoined), one(10, OutcomeSkipped, ReasonJoined), one(11, OutcomeSkipped, ReasonJoined),
			one(12, OutcomeSkipped, ReasonJoined), one(13, OutcomeCaughtUp, ReasonMissed),
		}}},
		"all(3)": {"all(3)", hour(13).Add(30 * time.Minute), answer{
			[]Fire{{hour(11), 150 * time.Minute, false}, {hour(12), 90 * time.Minute, false}, {hour(13), 30 * time.Minute, false}},
			[]Receipt{
				one(9, OutcomeSkipped, ReasonOverMax), one(10, OutcomeSkipped, ReasonOverMax), one(11, OutcomeCaughtUp, ReasonMissed),
				one(12, OutcomeCaughtUp, ReasonMissed), one(13, OutcomeCaughtUp, ReasonMissed),
			},
		}},
		"skip, the last one on time": {"skip", hour(10).Add(time.Minute), answer{
			[]Fire{{hour(10), time.Minute, true}}, []Receipt{one(9, OutcomeSkipped, ReasonMissed)},
		}},
		"once, the last one on time": {"once", hour(10), answer{
			[]Fire{{hour(10), 0, true}}, []Receipt{one(9, OutcomeSkipped, ReasonJoined)},
		}},
		"all, none missed": {"all", hour(9).Add(time.Second), answer{[]Fire{{hour(9), time.Second, true}}, nil}},
		"nothing due":      {"all", hour(9).Add(-time.Second), answer{}},
		"clock set back":   {"all", hour(7), answer{}},
	} {
		p, err := ParsePolicy(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		var got answer
		got.Fires, got.Receipts = s.Missed(p, last, c.now)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if fires, receipts := s.Missed(Policy{Catchup: CatchupAll}, time.Time{}, hour(9)); fires != nil || receipts != nil {
		t.Errorf("without a beginning: %v, %v", fires, receipts)
	}
}

// TestR15_LongAbsence: receipts stay few and their counts exact when ten years are missed.
func TestR15_LongAbsence(t *testing.T) {
	t.Parallel()
	every, err := Every(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	last := at(t, "2026-01-01T00:00:00Z")
	for _, c := range []struct {
		s     Schedule
		gap   time.Duration
		total int
	}{
		{every, 10 * 365 * 24 * time.Hour, 10 * 365 * 24 * 3600},
		{mustCron(t, "*/30 * * * *", ""), 365 * 24 * time.Hour, 365 * 48},
		{mustCron(t, "* * * * *", ""), 3 * 365 * 24 * time.Hour, 3 * 365 * 1440},
	} {
		fires, receipts := c.s.Missed(Policy{Catchup: CatchupAll, Max: 3, Grace: time.Nanosecond}, last, last.Add(c.gap))
		// The last one falls on the end of the absence itself, hence it is on time and needs no receipt.
		if len(fires) != 3 || !fires[2].OnTime || len(receipts) != 2+MaxReceipts+1 {
			t.Fatalf("%s: %d fires, %d receipts", c.s, len(fires), len(receipts))
		}
		sum := 1
		for _, r := range receipts {
			sum += r.Count
		}
		if sum != c.total {
			t.Errorf("%s: %d accounted for, want %d", c.s, sum, c.total)
		}
		if r := receipts[0]; !r.At.Equal(c.s.Next(last)) || !c.s.Next(r.Until).Equal(receipts[1].At) {
			t.Errorf("%s: the folded receipt %+v does not end before %s", c.s, r, receipts[1].At)
		}
	}
}

// TestR15_EveryOccurrenceIsAccountedFor: each due occurrence is fired on time, or has exactly one receipt.
func TestR15_EveryOccurrenceIsAccountedFor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s Schedule
		if rapid.Bool().Draw(t, "interval") {
			s, _ = Every(time.Duration(rapid.IntRange(1, 5000).Draw(t, "seconds")) * time.Second)
		} else {
			s, _ = Cron(rapid.SampledFrom([]string{"* * * * *", "*/7 1-5 * * *", "0 0 * * *"}).Draw(t, "line"), "Europe/Berlin")
		}
		p := Policy{
			Catchup: rapid.SampledFrom([]Catchup{"", CatchupSkip, CatchupOnce, CatchupAll}).Draw(t, "policy"),
			Max:     rapid.IntRange(0, 5).Draw(t, "max"),
			Grace:   time.Duration(rapid.IntRange(0, 100).Draw(t, "grace")) * time.Second,
		}
		last := time.Unix(int64(rapid.IntRange(1_700_000_000, 1_900_000_000).Draw(t, "last")), 0)
		now := last.Add(time.Duration(rapid.IntRange(0, 200_000).Draw(t, "gap")) * time.Second)
		due := s.Between(last, now, 1_000_000)
		fires, receipts := s.Missed(p, last, now)
		sum, late := 0, 0
		for _, r := range receipts {
			sum += r.Count
			if r.Outcome == OutcomeCaughtUp {
				late++
			}
		}
		most := map[Catchup]int{CatchupOnce: 1, CatchupAll: p.max()}[p.Catchup]
		for i, f := range fires {
			if want := due[len(due)-len(fires)+i]; !f.At.Equal(want) {
				t.Fatalf("fire %d is %s, want %s", i, f.At, want)
			}
			if f.OnTime {
				sum++
				late++
				most = max(most, 1)
				if i != len(fires)-1 {
					t.Fatal("a fire that is not the newest is on time")
				}
			}
		}
		if sum != len(due) || late != len(fires) || len(fires) > most || len(fires) < min(most, len(due)) {
			t.Fatalf("%d due, %d accounted for, %d fires of at most %d", len(due), sum, len(fires), most)
		}
	})
}

func TestMissedSinceAntiquity(t *testing.T) {
	t.Parallel()
	_, receipts := mustCron(t, "0 0 1 1 *", "").Missed(Policy{}, at(t, "0001-06-01T00:00:00Z"), at(t, "2026-06-01T00:00:00Z"))
	sum := 0
	for _, r := range receipts {
		sum += r.Count
	}
	if want := 2025; sum != want {
		t.Errorf("%d years, want %d", sum, want)
	}
}

// TestCountIsTheWalk: skipping plain days counts what walking through them does.
func TestCountIsTheWalk(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"*/30 * * * *", "0 0 * * *", "15,45 0-3 * * *", "0 */2 1-7 * mon", "0 12 29 2 *"}).Draw(t, "line")
		zone := rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/Havana", "Pacific/Apia", "Australia/Lord_Howe"}).Draw(t, "zone")
		s, err := Cron(line, zone)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Unix(rapid.Int64Range(1_300_000_000, 1_800_000_000).Draw(t, "from"), 0)
		to := from.Add(time.Duration(rapid.IntRange(0, 400*24*3600).Draw(t, "seconds")) * time.Second)
		if got, want := s.count(from, to), len(s.Between(from, to, 1_000_000)); got != want {
			t.Fatalf("%s from %s to %s: counted %d, walked %d", s, from, to, got, want)
		}
	})
}

func TestParsePolicy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "skip", "skip": "skip", "once": "once", "all": "all(10)", "all(1)": "all(1)", "all(100)": "all(100)"} {
		if p, err := ParsePolicy(text); err != nil || p.String() != want {
			t.Errorf("%q: got %s, %v", text, p, err)
		}
	}
	for _, text := range []string{"none", "all(", "all()", "all(0)", "all(101)", "all(x)", "all(3", "3)", "(3)", "once(2)"} {
		if _, err := ParsePolicy(text); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%q: got %v, want invalid", text, err)
		}
	}
	if got := (Policy{Catchup: CatchupAll, Max: 1 << 40}).String(); got != "all(100)" {
		t.Errorf("too many: %s", got)
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	type answer struct {
		A      Admission
		Reason string
	}
	for _, c := range []struct {
		rule          string
		open, waiting int
		want          answer
	}{
		{"", 0, 0, answer{AdmitFire, ""}},
		{"", 1, 0, answer{AdmitSkip, ReasonOverlap}},
		{"skip", 3, 0, answer{AdmitSkip, ReasonOverlap}},
		{"queue", 0, 0, answer{AdmitFire, ""}},
		{"queue", 1, 0, answer{AdmitWait, ""}},
		{"queue", 1, 1, answer{AdmitSkip, ReasonQueued}},
		{"queue", 0, 1, answer{AdmitSkip, ReasonQueued}},
		{"allow", 9, 9, answer{AdmitFire, ""}},
	} {
		o, err := ParseOverlap(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		a, reason := o.Admit(c.open, c.waiting)
		if got := (answer{a, reason}); got != c.want {
			t.Errorf("%s with %d open and %d waiting: got %v, want %v", c.rule, c.open, c.waiting, got, c.want)
		}
	}
	if _, err := ParseOverlap("often"); !fairlead.IsCode(err, fairlead.CodeInvalid) {
		t.Errorf("got %v, want invalid", err)
	}
}
