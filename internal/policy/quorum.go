package policy

import (
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
)

// Rule is the kind of a quorum's threshold.
type Rule string

// The rules. n = required seats of the role, a and r = those whose latest approved-or-rejected decision is that.
const (
	AllApprove      Rule = "all_approve"      // a = n
	AnyReject       Rule = "any_reject"       // r >= 1
	AllDecide       Rule = "all_decide"       // a + r = n
	MajorityApprove Rule = "majority_approve" // 2a > n
	NApprove        Rule = "n_approve"        // a >= N
)

// Threshold is a parsed threshold. N counts only for [NApprove].
type Threshold struct {
	Rule Rule
	N    int
}

// ParseThreshold reads a threshold as workflows write it: "all_approve", "n_approve:2". N is at least 1.
func ParseThreshold(s string) (Threshold, error) {
	if number, ok := strings.CutPrefix(s, string(NApprove)+":"); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return Threshold{}, badThreshold()
		}
		return Threshold{NApprove, n}, nil
	}
	switch r := Rule(s); r {
	case AllApprove, AnyReject, AllDecide, MajorityApprove:
		return Threshold{Rule: r}, nil
	}
	return Threshold{}, badThreshold()
}

func badThreshold() error {
	return fairlead.Errorf(fairlead.CodeInvalid, "unknown threshold").
		WithHint("use all_approve, any_reject, all_decide, majority_approve or n_approve:N with N from 1")
}

func (t Threshold) String() string {
	if t.Rule == NApprove {
		return string(t.Rule) + ":" + strconv.Itoa(t.N)
	}
	return string(t.Rule)
}

// Tally counts the required seats of one role in one round.
type Tally struct{ Seats, Approved, Rejected int }

// Quorum reports whether the threshold holds. Without required seats only passEmpty makes it hold, and never
// any_reject: an empty slate must not approve by accident, and nobody there is nobody who rejects.
func Quorum(t Threshold, c Tally, passEmpty bool) bool {
	if c.Seats == 0 {
		return passEmpty && t.Rule != AnyReject
	}
	needed, received := Progress(t, c)
	return received >= needed
}

// Progress returns how many decisions of the kind that counts are needed, and how many there are.
func Progress(t Threshold, c Tally) (needed, received int) {
	switch t.Rule {
	case AllApprove:
		return c.Seats, c.Approved
	case AnyReject:
		return 1, c.Rejected
	case AllDecide:
		return c.Seats, c.Approved + c.Rejected
	case MajorityApprove:
		return c.Seats/2 + 1, c.Approved
	case NApprove:
		return t.N, c.Approved
	}
	// A rule that nobody knows never holds.
	return c.Seats + 1, 0
}

// Reachable reports whether a slate of this size can make the threshold hold at all.
func Reachable(t Threshold, seats int, passEmpty bool) bool {
	if seats == 0 {
		return Quorum(t, Tally{}, passEmpty)
	}
	needed, _ := Progress(t, Tally{Seats: seats})
	return needed <= seats
}
