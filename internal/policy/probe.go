package policy

import "time"

// MaxHold bounds the doubling of a hold, LongHold is after what time people are told of one that does not lift.
const (
	MaxHold  = time.Hour
	LongHold = 24 * time.Hour
)

// Patience is how long after its stated reset an account may go on refusing before it is a failure of the agent: as
// long as the standard ladder, whatever ladders the agents on the account have.
func Patience() time.Duration { return StandardLadder().Length() }

// HoldPhase is where a [ProbeHold] stands.
type HoldPhase string

// The phases.
const (
	HoldClosed  HoldPhase = "closed"  // nothing goes before Until
	HoldReady   HoldPhase = "ready"   // its time has come: one run may go as the probe
	HoldProbing HoldPhase = "probing" // the probe is under way, everything else waits for it
	HoldLifted  HoldPhase = "lifted"  // over; the row can go
)

// ProbeHold is a hold that ends with a probe, because its end is only a promise: on a provider's account after a limit,
// or on an agent after its breaker opened. It does not spin: each release that leads to no success doubles the wait, up
// to [MaxHold].
//
// Its life is closed, ready (by its timer), probing (the claim that wins the compare and swap), and then lifted or
// closed again. Values are changed by no method; each returns the next one, to be saved by compare and swap.
type ProbeHold struct {
	Phase HoldPhase
	Since time.Time     // when it began
	Until time.Time     // when its timer is due
	Wait  time.Duration // what doubles
	Probe string        // the run under way, "" if none
	// Reset is the reset that patience counts from, zero if none was stated.
	Reset time.Time
	// Told and Failed say that people were told, and that the agent failed, of this hold: each is done once.
	Told   bool
	Failed bool
}

// HoldNews is what a failed release causes beside the longer wait.
type HoldNews struct {
	Inbox      bool // people are told that the hold does not lift
	AgentError bool // the trigger agent_error on the probe's task; its run stays held
}

// HoldAccount begins the hold of an account whose provider stated a reset.
func HoldAccount(now time.Time, wait time.Duration) ProbeHold {
	h := closeHold(now, wait)
	h.Reset = h.Until
	return h
}

// HoldAgent begins the hold of an agent whose breaker opened. People are told of it at once.
func HoldAgent(now time.Time) ProbeHold {
	h := closeHold(now, BreakerWindow)
	h.Told = true
	return h
}

func closeHold(now time.Time, wait time.Duration) ProbeHold {
	wait = max(wait, minReset)
	return ProbeHold{Phase: HoldClosed, Since: now, Until: now.Add(wait), Wait: wait}
}

// Release is the fact that a timer (or a person, ahead of it) brings: the time has come.
func (h ProbeHold) Release() ProbeHold {
	if h.Phase == HoldClosed {
		h.Phase = HoldReady
	}
	return h
}

// Take makes a run the probe. It is false while the hold is closed and for every other run.
func (h ProbeHold) Take(run string) (ProbeHold, bool) {
	if h.Phase != HoldReady {
		return h, false
	}
	h.Phase, h.Probe = HoldProbing, run
	return h, true
}

// Lost says that the probe ended without an answer: cancelled, superseded, interrupted, or with nothing to do. The next
// run goes as the probe, and no wait doubles.
func (h ProbeHold) Lost(run string) ProbeHold {
	if h.isProbe(run) {
		h.Phase, h.Probe = HoldReady, ""
	}
	return h
}

// Succeeded says that a run ended well (or parked, which a model's answer brought about). The probe's success lifts the
// hold; another run's, begun before the hold, proves nothing.
func (h ProbeHold) Succeeded(run string) ProbeHold {
	if h.isProbe(run) {
		h.Phase, h.Probe = HoldLifted, ""
	}
	return h
}

// Refused says that an attempt of a run failed. wait is the reset as stated with it, 0 if none was. For the probe the
// wait doubles, and a stated reset beyond that counts. Any other run was under way when the hold began: what it heard
// can only make a closed hold longer.
//
// Patience counts from the first stated reset, since a provider that says "in a minute" for hours never resets; a
// reset that is itself farther away than the patience is another, longer limit, and patience counts from that.
func (h ProbeHold) Refused(run string, now time.Time, wait time.Duration) (ProbeHold, HoldNews) {
	stated := now.Add(wait)
	if !h.isProbe(run) {
		if h.Phase == HoldClosed && wait > 0 && stated.After(h.Until) {
			h.Until = stated
			if !h.Reset.IsZero() {
				h.Reset = stated
			}
		}
		return h, HoldNews{}
	}
	var news HoldNews
	if wait > Patience() {
		h.Reset = stated
	}
	if end := h.Reset.Add(Patience()); !h.Failed && !h.Reset.IsZero() && !now.Before(end) {
		h.Failed, news.AgentError = true, true
	}
	if !h.Told && now.Sub(h.Since) >= LongHold {
		h.Told, news.Inbox = true, true
	}
	h.Phase, h.Probe = HoldClosed, ""
	h.Wait = min(2*h.Wait, MaxHold)
	h.Until = h.next(now, wait)
	return h, news
}

// next is when the following probe may go. The one that decides about the patience goes exactly at its end, or at the
// reset stated last if that comes later.
func (h ProbeHold) next(now time.Time, wait time.Duration) time.Time {
	next, stated := now.Add(h.Wait), now.Add(wait)
	if end := h.Reset.Add(Patience()); !h.Reset.IsZero() && !h.Failed && now.Before(end) && next.After(end) {
		next = end
	}
	if stated.After(next) {
		next = stated
	}
	return next
}

func (h ProbeHold) isProbe(run string) bool { return h.Phase == HoldProbing && h.Probe == run }
