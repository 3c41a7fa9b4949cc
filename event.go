package fairlead

import (
	"encoding/json"
	"time"
)

// EventKind is a kind of the event log; the names are a contract.
type EventKind string

// The kinds of events.
const (
	EventTaskCreated      EventKind = "task.created"
	EventTaskUpdated      EventKind = "task.updated"
	EventTaskMoved        EventKind = "task.moved"
	EventTaskHeld         EventKind = "task.held"
	EventTaskDeferred     EventKind = "task.deferred"
	EventTaskArchived     EventKind = "task.archived"
	EventVisitBegan       EventKind = "visit.began"
	EventVisitEnded       EventKind = "visit.ended"
	EventCommentAdded     EventKind = "comment.added"
	EventDecisionRecorded EventKind = "decision.recorded"
	EventRoundOpened      EventKind = "round.opened"
	EventRequestOpened    EventKind = "request.opened"
	EventRequestResolved  EventKind = "request.resolved"
	EventRunQueued        EventKind = "run.queued"
	EventRunClaimed       EventKind = "run.claimed"
	EventRunStarted       EventKind = "run.started"
	EventRunProcessed     EventKind = "run.processed"
	EventRunEventAppended EventKind = "run.event_appended"
	EventAgentUpdated     EventKind = "agent.updated"
	EventWorkflowSaved    EventKind = "workflow.saved"
	EventNoticeAdded      EventKind = "notice.added"
)

// Event is one row of the append-only event log. Position is dense and given to committed rows in serial order.
type Event struct {
	Position  int64
	Kind      EventKind
	Workspace string
	Task      string
	Visit     int
	Run       string
	Actor     Actor
	Version   int64
	Data      json.RawMessage
	At        time.Time
}
