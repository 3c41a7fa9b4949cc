package policy

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// refuse lets the hold's time come and its probe be refused then, with a stated reset or without.
func refuse(t testing.TB, h ProbeHold, wait time.Duration) (ProbeHold, HoldNews) {
	t.Helper()
	h, ok := h.Release().Take("run_1")
	if !ok {
		t.Fatalf("no probe in phase %s", h.Phase)
	}
	return h.Refused("run_1", h.Until, wait)
}

// TestR7_HoldDoubles: a release without success doubles the wait, at most to an hour; people hear of it after a day.
func TestR7_HoldDoubles(t *testing.T) {
	t.Parallel()
	h := HoldAccount(noon, 10*time.Minute)
	if want := noon.Add(10 * time.Minute); h.Phase != HoldClosed || !h.Until.Equal(want) {
		t.Fatalf("begins as %+v", h)
	}
	told := 0
	for i, want := range []time.Duration{20 * time.Minute, 40 * time.Minute, time.Hour} {
		before := h.Until
		if h, _ = refuse(t, h, 0); h.Until.Sub(before) != want {
			t.Errorf("wait %d: got %v, want %v", i, h.Until.Sub(before), want)
		}
	}
	for range 40 {
		var news HoldNews
		before := h.Until
		h, news = refuse(t, h, 0)
		if h.Until.Sub(before) > MaxHold {
			t.Errorf("waits %v", h.Until.Sub(before))
		}
		if news.Inbox {
			told++
			if at := before.Sub(noon); at < LongHold || at > LongHold+MaxHold {
				t.Errorf("told after %v", at)
			}
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// TestR32_LimitPastItsReset: still refused 2 h 42 m after the stated reset, the agent has failed: once, at that moment,
// and the hold goes on.
func TestR32_LimitPastItsReset(t *testing.T) {
	t.Parallel()
	for name, stated := range map[string]time.Duration{"nothing stated again": 0, "a minute, for ever": time.Minute} {
		h := HoldAccount(noon, time.Hour)
		reset := h.Until
		failed := 0
		for range 20 {
			at := h.Until
			var news HoldNews
			if h, news = refuse(t, h, stated); news.AgentError {
				failed++
				if got, want := at.Sub(reset), 2*time.Hour+42*time.Minute; got != want {
					t.Errorf("%s: failed %v after the reset, want %v", name, got, want)
				}
			}
			if h.Phase != HoldClosed {
				t.Fatalf("%s: phase %s", name, h.Phase)
			}
		}
		if failed != 1 {
			t.Errorf("%s: failed %d times", name, failed)
		}
	}
}

// TestR32_LongerLimitAfterReset: five hours are over and the week's limit begins: that is another reset to wait for.
func TestR32_LongerLimitAfterReset(t *testing.T) {
	t.Parallel()
	h := HoldAccount(noon, 5*time.Hour)
	week := h.Until.Add(3 * 24 * time.Hour)
	h, news := refuse(t, h, 3*24*time.Hour)
	if news.AgentError || !h.Until.Equal(week) || !h.Reset.Equal(week) {
		t.Fatalf("got %+v, %+v", h, news)
	}
	if h, news = refuse(t, h, 0); news.AgentError || !news.Inbox {
		t.Errorf("at the week's reset: %+v", news)
	}
	if got := h.Until.Sub(week); got != time.Hour {
		t.Errorf("waits %v", got)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	h := HoldAccount(noon, time.Minute)
	if _, ok := h.Take("run_1"); ok {
		t.Error("a probe of a closed hold")
	}
	h, ok := h.Release().Take("run_1")
	if !ok || h.Phase != HoldProbing {
		t.Fatalf("no probe: %+v", h)
	}
	if _, ok := h.Take("run_2"); ok {
		t.Error("two probes")
	}
	if h.Release() != h || h.Lost("run_2") != h || h.Succeeded("run_2") != h {
		t.Error("somebody else ends the probe")
	}
	if got, news := h.Refused("run_2", noon.Add(time.Hour), time.Hour); got != h || news != (HoldNews{}) {
		t.Error("somebody else's refusal counts")
	}
	if lost := h.Lost("run_1"); lost.Phase != HoldReady || lost.Probe != "" || lost.Wait != time.Minute {
		t.Errorf("lost: %+v", lost)
	}
	if lifted := h.Succeeded("run_1"); lifted.Phase != HoldLifted {
		t.Errorf("succeeded: %+v", lifted)
	}
}

// TestR7_SecondRefusalOfAClosedHold: ten live runs of an account hear the limit one after the other; that is one hold.
func TestR7_SecondRefusalOfAClosedHold(t *testing.T) {
	t.Parallel()
	h := HoldAccount(noon, time.Minute)
	later, news := h.Refused("run_2", noon.Add(time.Second), 2*time.Minute)
	if want := noon.Add(2*time.Minute + time.Second); news != (HoldNews{}) || !later.Until.Equal(want) || !later.Reset.Equal(want) || later.Wait != time.Minute {
		t.Errorf("a later reset: %+v", later)
	}
	if got, _ := later.Refused("run_3", noon.Add(2*time.Second), 30*time.Second); got != later {
		t.Errorf("an earlier reset: %+v", got)
	}
	b := HoldAgent(noon)
	if got, _ := b.Refused("run_2", noon, time.Hour); !got.Reset.IsZero() || !got.Until.Equal(noon.Add(time.Hour)) {
		t.Errorf("a breaker got a reset: %+v", got)
	}
}

func TestHoldOfABreaker(t *testing.T) {
	t.Parallel()
	h := HoldAgent(noon)
	for range 60 {
		var news HoldNews
		if h, news = refuse(t, h, 0); news != (HoldNews{}) {
			t.Fatalf("a breaker's hold has news: %+v", news)
		}
	}
	if h.Wait != MaxHold {
		t.Errorf("waits %v", h.Wait)
	}
}

// TestProbeHoldNeverSpins: whatever is stated and whenever probes are refused, the next is never before the wait that
// doubles, except where patience ends.
func TestProbeHoldNeverSpins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := HoldAccount(noon, time.Duration(rapid.IntRange(0, 20_000).Draw(t, "first"))*time.Second)
		errors, inbox := 0, 0
		for range 30 {
			late := time.Duration(rapid.IntRange(0, 7200).Draw(t, "late")) * time.Second
			wait := time.Duration(rapid.SampledFrom([]int{0, 0, 1, 60, 3600, 9000}).Draw(t, "stated")) * time.Second
			now, old := h.Until.Add(late), h.Wait
			h, _ = h.Release().Take("r")
			var news HoldNews
			h, news = h.Refused("r", now, wait)
			got := h.Until.Sub(now)
			want := max(min(2*old, MaxHold), wait)
			if end := h.Reset.Add(Patience()).Sub(now); end > 0 && !h.Failed && end < want {
				want = max(end, wait)
			}
			if got != want || got <= 0 {
				t.Fatalf("waits %v after %v, %v stated, want %v", got, old, wait, want)
			}
			if news.AgentError {
				errors++
			}
			if news.Inbox {
				inbox++
			}
		}
		if errors > 1 || inbox > 1 {
			t.Fatalf("%d errors, %d notices", errors, inbox)
		}
	})
}
