package engine

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/workflow"
)

// FactsOf is what guards and texts read: the state of s, and the payload of the trigger. The result shares the
// payload and the task's labels and metadata with its arguments.
func FactsOf(s Snapshot, payload map[string]any) workflow.Facts {
	t := &s.Task
	f := workflow.Facts{
		Task: workflow.TaskFacts{
			ID: t.ID, Title: t.Title, Priority: string(t.Priority), Agent: primaryOf(&s), Labels: t.Labels, Metadata: t.Metadata,
		},
		Visit:    workflow.VisitFacts{N: s.Visit.N, Step: s.Visit.Step, Round: s.Visit.Round},
		Children: countChildren(s.Children),
		Blockers: workflow.BlockerFacts{Open: countOpen(s.Blockers)},
		Approval: approvalFacts(s.Approval),
		Payload:  payload,
	}
	if f.Task.Priority == "" {
		f.Task.Priority = string(fairlead.PriorityMedium)
	}
	verdicts := effective(&s)
	for _, seat := range s.Seats {
		if !counted(&seat) {
			continue
		}
		switch verdicts[seat.ID] {
		case fairlead.VerdictApproved:
			f.Decisions.Approved++
		case fairlead.VerdictRejected:
			f.Decisions.Rejected++
		default:
			f.Decisions.Pending++
		}
	}
	f.Quorum = func(role, threshold string) bool {
		th, err := policy.ParseThreshold(threshold)
		if err != nil {
			return false
		}
		return policy.Quorum(th, tally(&s, fairlead.Role(role), verdicts), passEmpty(&s))
	}
	return f
}

// counted reports whether guards count the seat. The same question is asked when seats are asked: who is counted is
// who was asked.
func counted(s *fairlead.Seat) bool { return s.RemovedAt.IsZero() && s.DecisionRequired }

// effective returns the decision that counts for each seat in the current round: its latest that approves or rejects.
func effective(s *Snapshot) map[string]fairlead.Verdict {
	out := map[string]fairlead.Verdict{}
	for _, d := range s.Decisions {
		if d.Visit == s.Visit.N && d.Round == s.Visit.Round && d.Verdict != fairlead.VerdictComment {
			out[d.Seat] = d.Verdict
		}
	}
	return out
}

func tally(s *Snapshot, role fairlead.Role, verdicts map[string]fairlead.Verdict) policy.Tally {
	var c policy.Tally
	for _, seat := range s.Seats {
		if seat.Role != role || !counted(&seat) {
			continue
		}
		c.Seats++
		switch verdicts[seat.ID] {
		case fairlead.VerdictApproved:
			c.Approved++
		case fairlead.VerdictRejected:
			c.Rejected++
		}
	}
	return c
}

func passEmpty(s *Snapshot) bool {
	step := stepOf(s)
	return step != nil && step.OnEmpty == workflow.OnEmptyPass
}

func stepOf(s *Snapshot) *workflow.Step {
	if s.Pinned == nil {
		return nil
	}
	return s.Pinned.Step(s.Visit.Step)
}

// primaryOf is the agent of the task's main work: its own, else the step's; "" for none.
func primaryOf(s *Snapshot) string {
	if s.Task.Agent != "" {
		return s.Task.Agent
	}
	if step := stepOf(s); step != nil {
		return step.Agent
	}
	return ""
}

func countChildren(list []Linked) (c workflow.ChildrenFacts) {
	c.Total = len(list)
	for _, l := range list {
		switch {
		case l.Open:
			c.Open++
		case l.Outcome == fairlead.TerminalDone:
			c.Done++
		default:
			c.Cancelled++
		}
	}
	return c
}

func countOpen(list []Linked) (n int) {
	for _, l := range list {
		if l.Open {
			n++
		}
	}
	return n
}

func approvalFacts(r *fairlead.Request) (f workflow.ApprovalFacts) {
	if r == nil {
		return f
	}
	f.Open = r.State == fairlead.RequestOpen
	answered := r.State == fairlead.RequestAnswered || r.State == fairlead.RequestUndelivered
	if a := r.Answer; a != nil {
		f.Text = a.Text
		if answered && !a.Decline {
			f.Granted = a.Verdict == verdictApprove || a.Verdict == string(fairlead.VerdictApproved)
			f.Rejected = slices.Contains([]string{verdictReject, string(fairlead.VerdictRejected)}, a.Verdict)
		}
	}
	return f
}
