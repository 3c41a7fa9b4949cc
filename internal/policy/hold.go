package policy

import "github.com/fairlead/fairlead"

// holdText is what a hold says: why, and what releases it.
type holdText struct{ text, release string }

func textOf(k fairlead.HoldKind) holdText {
	switch k {
	case fairlead.HoldWIP:
		return holdText{"the step works on as many tasks as it may", "a task gives its place at the step back"}
	case fairlead.HoldLoop:
		return holdText{"the task's rules moved it in a circle", "a person moves it, starts it or repins its workflow"}
	case fairlead.HoldBlocked:
		return holdText{"another task has to end first", "the last blocker ends or its edge is removed; a person's wake passes"}
	case fairlead.HoldCheckout:
		return holdText{"another run of the task is live", "that run's process tree is confirmed dead"}
	case fairlead.HoldAgentBusy:
		return holdText{"the agent works on something else", "one of the agent's runs ends"}
	case fairlead.HoldAgentPaused:
		return holdText{"the agent is paused", "a person resumes the agent"}
	case fairlead.HoldNodeLabel:
		return holdText{"no live node carries the labels the agent needs", "a node with these labels starts"}
	case fairlead.HoldWorkspaceOn:
		return holdText{"the task's worktree is on another node", "that node starts again or has a free slot"}
	case fairlead.HoldNodeBusy:
		return holdText{"every slot of every node that may take it is taken", "one of their runs ends, or another node starts"}
	case fairlead.HoldNodeClock:
		return holdText{"the clock of every node that may take it is off", "a clock is set right again (use NTP)"}
	case fairlead.HoldRequest:
		return holdText{"a question to a person is open", "the request is answered"}
	case fairlead.HoldDue:
		return holdText{"it is not due yet", "its time comes; a person's wake makes it due at once"}
	case fairlead.HoldCooldown:
		return holdText{"the agent cools down after its last run", "the cool-down ends"}
	case fairlead.HoldAccount:
		return holdText{"the provider limits this account", "the limit resets and one probe run succeeds"}
	case fairlead.HoldBreaker:
		return holdText{"the agent failed again and again within a minute", "its time ends and one probe run succeeds, or a person resumes the agent"}
	case fairlead.HoldBudget:
		return holdText{"a budget is used up", "the budget is raised or its period rolls over"}
	case fairlead.HoldArchived:
		return holdText{"the task is archived", "nothing: archived tasks do no work"}
	}
	return holdText{"it is held", "the hold is lifted"}
}

// Hold makes a hold of a kind with its text and release condition in words. ref is what it is about: a task, run,
// agent or request.
func Hold(k fairlead.HoldKind, ref string) fairlead.Hold {
	t := textOf(k)
	return fairlead.Hold{Kind: k, Ref: ref, Text: t.text, Release: t.release}
}
