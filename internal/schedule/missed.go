package schedule

import (
	"strconv"
	"strings"
	"time"
)

// Catchup says what to do with fires that came while nobody was there.
type Catchup string

// The ways of catching up.
const (
	CatchupSkip Catchup = "skip" // none of them fires
	CatchupOnce Catchup = "once" // one fire stands for all of them
	CatchupAll  Catchup = "all"  // each fires, the newest first to be kept if there are too many
)

// DefaultMax is how many fires "all" makes up for, and MaxCatchup the most that "all(n)" may ask for.
const (
	DefaultMax = 10
	MaxCatchup = 100
)

// Grace is how late a fire may be and still be on time: a busy server is not one that was away.
const Grace = time.Minute

// Policy is a [Catchup] with its numbers. The zero Policy is skip.
type Policy struct {
	Catchup Catchup
	Max     int           // of [CatchupAll]; 0 = [DefaultMax]
	Grace   time.Duration // 0 = [Grace]
}

// ParsePolicy reads skip, once, all or all(n); "" is skip.
func ParsePolicy(s string) (Policy, error) {
	switch c := Catchup(s); c {
	case "", CatchupSkip:
		return Policy{Catchup: CatchupSkip}, nil
	case CatchupOnce:
		return Policy{Catchup: c}, nil
	case CatchupAll:
		return Policy{Catchup: c, Max: DefaultMax}, nil
	}
	number, ok := strings.CutPrefix(s, string(CatchupAll)+"(")
	number, closed := strings.CutSuffix(number, ")")
	n, err := strconv.Atoi(number)
	if !ok || !closed || err != nil || n < 1 || n > MaxCatchup {
		return Policy{}, invalid("the rule for missed fires is unknown", "write skip, once, all, or all(n) with n from 1 to "+strconv.Itoa(MaxCatchup))
	}
	return Policy{Catchup: CatchupAll, Max: n}, nil
}

func (p Policy) String() string {
	switch p.Catchup {
	case CatchupAll:
		return string(CatchupAll) + "(" + strconv.Itoa(p.max()) + ")"
	case CatchupOnce:
		return string(CatchupOnce)
	case CatchupSkip:
	}
	return string(CatchupSkip)
}

func (p Policy) max() int {
	if p.Max < 1 {
		return DefaultMax
	}
	return min(p.Max, MaxCatchup)
}

func (p Policy) grace() time.Duration {
	if p.Grace <= 0 {
		return Grace
	}
	return p.Grace
}

// Fire is one occurrence that is to be carried out.
type Fire struct {
	At     time.Time     // when it was due
	Late   time.Duration // how long ago that is
	OnTime bool          // it was not missed
}

// Outcome is what became of an occurrence.
type Outcome string

// The outcomes that a receipt tells.
const (
	OutcomeCaughtUp Outcome = "caught_up" // fired late
	OutcomeSkipped  Outcome = "skipped"
)

// Reasons of receipts. The first four are found here; whoever fires uses the others.
const (
	ReasonMissed  = "missed"   // due while nobody was there
	ReasonJoined  = "joined"   // a later fire stands for it
	ReasonOverMax = "over_max" // more were missed than may be made up for
	ReasonOverlap = "overlap"  // its predecessor is not done
	ReasonQueued  = "queued"   // a run of the schedule waits already
	ReasonGuard   = "only_if"  // the guard is false
	ReasonPaused  = "paused"   // the agent or the schedule is paused
	ReasonError   = "error"    // carrying it out failed or was refused
)

// Receipt is the proof of what became of missed occurrences: of one, or of Count skipped ones from At to Until.
type Receipt struct {
	At      time.Time
	Until   time.Time // = At for one
	Count   int
	Outcome Outcome
	Reason  string
}

// MaxReceipts bounds the receipts of single skipped occurrences in one answer; the older ones share the first receipt.
const MaxReceipts = 100

// Missed returns what is to be fired at now, oldest first, if the last occurrence that was dealt with is last (for a
// new schedule: when it was made), and a receipt for each missed occurrence. What is due is every occurrence after last
// and not after now; of these fire, by policy, the newest one if it is on time (skip), the newest one (once), or the
// newest Max (all). Only the newest can be on time: it is at most the policy's grace late. Counts are exact however long
// the absence was. A zero last, or one not before now (a clock that was set back), yields nothing.
func (s Schedule) Missed(p Policy, last, now time.Time) ([]Fire, []Receipt) {
	if last.IsZero() || !last.Before(now) {
		return nil, nil
	}
	due := s.due(last, now, MaxReceipts+p.max())
	if due.count == 0 {
		return nil, nil
	}
	onTime := now.Sub(due.newest[len(due.newest)-1]) <= p.grace()
	keep, reason := 0, ReasonMissed
	switch p.Catchup {
	case CatchupAll:
		keep, reason = p.max(), ReasonOverMax
	case CatchupOnce:
		keep, reason = 1, ReasonJoined
	case CatchupSkip:
	}
	if onTime {
		keep = max(keep, 1)
	}
	cut := len(due.newest) - min(keep, len(due.newest))
	receipts := due.skipped(cut, reason)
	var fires []Fire
	for i, at := range due.newest[cut:] {
		f := Fire{At: at, Late: now.Sub(at), OnTime: onTime && cut+i == len(due.newest)-1}
		fires = append(fires, f)
		if !f.OnTime {
			receipts = append(receipts, Receipt{At: at, Until: at, Count: 1, Outcome: OutcomeCaughtUp, Reason: ReasonMissed})
		}
	}
	return fires, receipts
}
