package store

// What commands name ahead: each is the read that the method of its name makes.

// NeedNode is LockNode.
func NeedNode(id string, epoch int64) Need { return Need{stmtNodeLock, []any{id, epoch}} }

// NeedTask is LockTask.
func NeedTask(id string) Need { return Need{stmtTaskLock, []any{id}} }

// NeedAround is Around, of a task as it stands now.
func NeedAround(task string) Need { return Need{stmtAroundNow, []any{task}} }

// NeedRevision is Revision.
func NeedRevision(workspace string) Need { return Need{stmtCounter, []any{workspace, counterRevision}} }

// NeedWorkspace is LoadWorkspace.
func NeedWorkspace(key string) Need { return Need{stmtWorkspaceLoad, []any{key}} }

// NeedAgents is LockAgents.
func NeedAgents(workspace string, keys ...string) Need {
	return Need{stmtAgentsLock, []any{workspace, listArg(keys)}}
}

// NeedRuns is LockRuns.
func NeedRuns(ids ...string) Need { return Need{stmtRunsLock, []any{listArg(ids)}} }

// NeedActiveRuns is ActiveRuns.
func NeedActiveRuns(task string) Need { return Need{stmtRunActive, []any{task}} }

// NeedRunLine is what AppendRunEvent looks up.
func NeedRunLine(run string) Need { return Need{stmtRunLine, []any{run}} }

// NeedSession is LoadSession.
func NeedSession(id string) Need { return Need{stmtSessionLoad, []any{id}} }

// NeedAssignment is LoadAssignment.
func NeedAssignment(id string) Need { return Need{stmtAssignmentLoad, []any{id}} }

// NeedAssignments is ListAssignments.
func NeedAssignments(task string, visit int) Need { return Need{stmtAssignments, []any{task, visit}} }

// NeedVisit is LoadVisit.
func NeedVisit(task string, n int) Need { return Need{stmtVisitLoad, []any{task, n}} }

// NeedVisitCounts is VisitCounts.
func NeedVisitCounts(task string, after int) Need { return Need{stmtVisitCounts, []any{task, after}} }

// NeedCheckout is CheckoutOf.
func NeedCheckout(task string) Need { return Need{stmtCheckoutOf, []any{task}} }

// NeedLive is LiveOf.
func NeedLive(assignment string) Need { return Need{stmtLiveOf, []any{assignment}} }

// NeedSlots is SlotsOf.
func NeedSlots(workspace, agent string) Need { return Need{stmtSlotsOf, []any{workspace, agent}} }

// NeedHolds is HoldsOf.
func NeedHolds(workspace, account, agent string) Need {
	return Need{stmtHoldsOf, []any{workspace, account, agent}}
}

// NeedWakes is ListWakes.
func NeedWakes(run string) Need { return Need{stmtWakes, []any{run}} }

// NeedNews is ListNews.
func NeedNews(task, session string, limit int) Need {
	return Need{stmtNews, []any{task, session, limit}}
}
