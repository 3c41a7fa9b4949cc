package fairlead

import "time"

// Role is what a participant does at a step.
type Role string

// The roles.
const (
	RoleReviewer     Role = "reviewer"
	RoleApprover     Role = "approver"
	RoleWatcher      Role = "watcher"
	RoleCollaborator Role = "collaborator"
)

// Valid reports whether r is one of the four roles.
func (r Role) Valid() bool {
	switch r {
	case RoleReviewer, RoleApprover, RoleWatcher, RoleCollaborator:
		return true
	}
	return false
}

// Votes reports whether seats of this role may carry decision_required.
func (r Role) Votes() bool { return r == RoleReviewer || r == RoleApprover }

// Participant attaches an agent or a person to a task at every step whose workflow asks for its role, or to one step.
// Exactly one of Agent and Person is set. Step "" means: at whatever step the task enters that has this role.
type Participant struct {
	ID               string
	Task             string
	Step             string
	Role             Role
	Agent            string
	Person           string
	DecisionRequired bool
	// Removed marks a row that takes a template's seat away for this task only.
	Removed bool
	By      Actor
	At      time.Time
}

// Seat is a participant counted for one visit.
type Seat struct {
	ID               string
	Task             string
	Visit            int
	Role             Role
	Agent            string
	Person           string
	DecisionRequired bool
	Participant      string // task row it came from, "" for a template row
	RemovedAt        time.Time
}

// Holder returns "agent:KEY" or "person:KEY".
func (s *Seat) Holder() string {
	if s.Agent != "" {
		return "agent:" + s.Agent
	}
	return "person:" + s.Person
}

// Verdict is what a seat says.
type Verdict string

// The verdicts.
const (
	VerdictApproved Verdict = "approved"
	VerdictRejected Verdict = "rejected"
	VerdictComment  Verdict = "comment"
)

// ParseVerdict reads the accepted spellings: approve(d), reject(ed), changes_requested (= rejected), comment.
func ParseVerdict(s string) (Verdict, error) {
	switch s {
	case "approve", "approved":
		return VerdictApproved, nil
	case "reject", "rejected", "changes_requested":
		return VerdictRejected, nil
	case "comment":
		return VerdictComment, nil
	}
	return "", Errorf(CodeInvalid, "unknown verdict").WithHint("use approve, reject, changes_requested or comment")
}

// Decision is a seat's verdict in one round of one visit. Decisions are only ever added; the latest of a seat counts.
type Decision struct {
	ID      string
	Task    string
	Visit   int
	Round   int
	Seat    string
	Role    Role
	Verdict Verdict
	Note    string
	By      Actor
	Seq     int64 // place in the sequence of records
	At      time.Time
}
