package engine

import (
	"github.com/fairlead/fairlead"
)

// Outcomes of a put-aside trigger.
const (
	DroppedMoved      = "moved"
	DroppedNoMove     = "no_move"
	DroppedSuperseded = "superseded"
)

// Kinds of notices of the engine; slate_empty and unsatisfiable are named by their reason.
const (
	NoticeLoop         = "loop"
	NoticeActionFailed = "action_failed"
	NoticeWatch        = "watch" // Data "for" names the watcher
)

// PurposeMaxVisits is the payload's "purpose" of the request that a step's max_visits opens.
const PurposeMaxVisits = "max_visits"

// OptionGoOn and OptionStop answer it. Everything but going on stops the task's runs: silence is no consent.
const (
	OptionGoOn = "go_on"
	OptionStop = "stop"
)

const (
	programPlain     = "plain"
	actionMove       = "move"
	actionOwnMove    = "own_move"
	actionAsk        = "ask"
	actionSeat       = "seat"
	reasonDecision   = "decision"
	closedVisitEnded = "visit_ended"
	closedRoundEnded = "round_ended"
	closedSeat       = "seat_removed"
	closedArchived   = "archived"
	verdictApprove   = "approve"
	verdictReject    = "reject"
	verdictRevise    = "revise"
)

func reasonOf(m *Move) string {
	if m.Reason == "" {
		return actionMove
	}
	return m.Reason
}

// decisionOptions are the answers of a request of kind decision.
func decisionOptions() []fairlead.Option {
	return []fairlead.Option{
		{ID: verdictApprove, Label: "Approve"},
		{ID: verdictReject, Label: "Reject"},
		{ID: string(fairlead.VerdictComment), Label: "Comment"},
	}
}

// approvalOptions are the answers of a request of kind approval.
func approvalOptions() []fairlead.Option {
	return []fairlead.Option{
		{ID: verdictApprove, Label: "Approve"},
		{ID: verdictReject, Label: "Reject"},
		{ID: verdictRevise, Label: "Ask for changes"},
	}
}

func superviseOptions() []fairlead.Option {
	return []fairlead.Option{
		{ID: OptionGoOn, Label: "Go on"},
		{ID: OptionStop, Label: "Stop"},
	}
}
