package schedule

// Overlap says what a fire does that finds the work of an earlier one not done.
type Overlap string

// The rules for overlaps.
const (
	OverlapSkip  Overlap = "skip"  // it is skipped, with a receipt
	OverlapQueue Overlap = "queue" // it waits for the end of the earlier one; one at most waits
	OverlapAllow Overlap = "allow" // both are open
)

// ParseOverlap reads a rule; "" is skip.
func ParseOverlap(s string) (Overlap, error) {
	switch o := Overlap(s); o {
	case "":
		return OverlapSkip, nil
	case OverlapSkip, OverlapQueue, OverlapAllow:
		return o, nil
	}
	return "", invalid("the rule for overlapping fires is unknown", "write skip, queue or allow")
}

// Admission is what becomes of a fire.
type Admission string

// The admissions.
const (
	AdmitFire Admission = "fire"
	AdmitWait Admission = "wait"
	AdmitSkip Admission = "skip"
)

// Admit decides about a fire while open earlier ones are not done and waiting ones wait for that. The reason is that of
// the receipt, "" unless it is skipped.
func (o Overlap) Admit(open, waiting int) (a Admission, reason string) {
	switch {
	case open == 0 && waiting == 0, o == OverlapAllow:
		return AdmitFire, ""
	case o == OverlapQueue && waiting == 0:
		return AdmitWait, ""
	case o == OverlapQueue:
		return AdmitSkip, ReasonQueued
	}
	return AdmitSkip, ReasonOverlap
}
