package fairlead

// TriggerKind is something that happens to a task.
type TriggerKind string

// The triggers. Each fires only where the step asks for it.
const (
	TriggerEnter             TriggerKind = "enter"
	TriggerExit              TriggerKind = "exit"
	TriggerTurnStart         TriggerKind = "turn_start"
	TriggerTurnComplete      TriggerKind = "turn_complete"
	TriggerComment           TriggerKind = "comment"
	TriggerDecision          TriggerKind = "decision"
	TriggerApprovalResolved  TriggerKind = "approval_resolved"
	TriggerRequestResolved   TriggerKind = "request_resolved"
	TriggerBlockerResolved   TriggerKind = "blocker_resolved"
	TriggerChildrenCompleted TriggerKind = "children_completed"
	TriggerHeartbeat         TriggerKind = "heartbeat"
	TriggerBudgetAlert       TriggerKind = "budget_alert"
	TriggerAgentError        TriggerKind = "agent_error"
	TriggerManual            TriggerKind = "manual"
)

// Triggers lists every kind in the order of the documentation.
func Triggers() []TriggerKind {
	return []TriggerKind{
		TriggerEnter, TriggerExit, TriggerTurnStart, TriggerTurnComplete, TriggerComment, TriggerDecision, TriggerApprovalResolved,
		TriggerRequestResolved, TriggerBlockerResolved, TriggerChildrenCompleted, TriggerHeartbeat, TriggerBudgetAlert,
		TriggerAgentError, TriggerManual,
	}
}

// Valid reports whether k is a known kind.
func (k TriggerKind) Valid() bool {
	for _, t := range Triggers() {
		if t == k {
			return true
		}
	}
	return false
}
