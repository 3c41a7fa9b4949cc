package engine

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

// doing is one action being carried out.
type doing struct {
	t     Trigger
	index int
	a     workflow.Action
	facts workflow.Facts
}

// act carries out one action that is no move. What cannot be done fails this action visibly; the rest goes on.
func (d *decider) act(t Trigger, index int, a workflow.Action, facts workflow.Facts) {
	x := doing{t, index, a, facts}
	switch a.Kind {
	case workflow.ActionQueueRun:
		d.queueRun(x)
	case workflow.ActionFanOut:
		d.fanOut(x)
	case workflow.ActionClearDecisions:
		d.clearDecisions(x)
	case workflow.ActionCreateChild:
		d.createChild(x)
	case workflow.ActionRequestApproval:
		d.requestApproval(x)
	case workflow.ActionPauseAgent:
		d.pauseAgent(x)
	case workflow.ActionInboxItem:
		d.inboxItem(x)
	case workflow.ActionComment:
		if text, ok := d.text(x, a.Text); ok {
			d.took(x, AddComment{Text: text}, "")
		}
	case workflow.ActionSet:
		d.set(x)
	case workflow.ActionNotify:
		d.notify(x)
	default:
		d.failed(x, "unknown_action", string(a.Kind), "The action is unknown to this version.")
	}
}

// took emits the effect of an action and says so.
func (d *decider) took(x doing, e Effect, detail string) {
	d.emit(e)
	d.say(x, OutcomeTaken, "", detail)
}

func (d *decider) say(x doing, outcome, reason, detail string) {
	d.explain(x.t, x.index, string(x.a.Kind), outcome, reason, detail)
}

// failed says that an action could not be carried out, in the plan and in the inbox.
func (d *decider) failed(x doing, reason, detail, text string) {
	d.say(x, OutcomeFailed, reason, detail)
	d.fail(x.t, string(x.a.Kind), text)
}

// text fills in an action's text; false means that the action has failed.
func (d *decider) text(x doing, t *workflow.Text) (string, bool) {
	if t == nil {
		return "", true
	}
	s, err := t.Expand(x.facts)
	if err != nil {
		d.failed(x, "text_error", err.Error(), "A text of the action cannot be filled in: "+err.Error())
		return "", false
	}
	return s, true
}

func (d *decider) values(x doing, m map[string]any) (map[string]any, bool) {
	out, err := workflow.ExpandPayload(m, x.facts)
	if err != nil {
		d.failed(x, "text_error", err.Error(), "A value of the action cannot be filled in: "+err.Error())
		return nil, false
	}
	return out, true
}

// clearDecisions opens the next round, but only if this one has a decision, and asks all counted seats anew.
func (d *decider) clearDecisions(x doing) {
	decided := false
	for _, dec := range d.s.Decisions {
		decided = decided || dec.Visit == d.s.Visit.N && dec.Round == d.s.Visit.Round
	}
	if !decided {
		d.say(x, OutcomeSkipped, "no_decision", "")
		return
	}
	d.closeDecisions("", closedRoundEnded)
	d.took(x, OpenRound{Round: d.s.Visit.Round + 1}, "")
	d.pending = nil
	for _, seat := range d.s.Seats {
		if counted(&seat) {
			d.pending = append(d.pending, seat.ID)
		}
	}
}

// createChild makes a child task; without a workflow it stands on the parent's.
func (d *decider) createChild(x doing) {
	w := x.a.Workflow
	if w == "" {
		w = d.s.Task.Workflow
	}
	if !d.s.Workflows[w] {
		d.failed(x, "no_such_workflow", w, fmt.Sprintf("There is no workflow %q for the child.", w))
		return
	}
	if x.a.Agent != "" && !hasAgent(&d.s, x.a.Agent) {
		d.noAgent(x, x.a.Agent)
		return
	}
	title, ok := d.text(x, x.a.Title)
	if !ok {
		return
	}
	description, ok := d.text(x, x.a.Description)
	if !ok {
		return
	}
	id := d.id(fairlead.PrefixTask)
	d.took(x, CreateChild{Task: id, Workflow: w, Title: title, Description: description, Agent: x.a.Agent}, id)
}

// requestApproval asks for an approval, which stops the task's automatic moves until it is resolved.
func (d *decider) requestApproval(x doing) {
	prompt, ok := d.text(x, x.a.Prompt)
	if !ok {
		return
	}
	if prompt == "" {
		prompt = fmt.Sprintf("Approve %q at step %q?", d.s.Task.Title, nameOf(d.step()))
	}
	var asked []string
	if x.a.Of != "" {
		if key, ok := cutPerson(x.a.Of); !ok || !d.s.People[key] {
			d.failed(x, "no_such_person", x.a.Of, fmt.Sprintf("%q, who should approve, is no person of this workspace.", x.a.Of))
			return
		}
		asked = []string{x.a.Of}
	}
	r := fairlead.Request{
		ID: d.id(fairlead.PrefixRequest), Workspace: d.s.Task.Workspace, Kind: fairlead.RequestApproval, Task: d.s.Task.ID,
		Visit: d.s.Visit.N, Prompt: prompt, Options: approvalOptions(), Blocks: fairlead.BlocksTask, AskedOf: asked,
		OpenedBy: fairlead.Engine(), State: fairlead.RequestOpen, OpenedAt: d.now,
	}
	d.took(x, OpenRequest{Request: r}, x.a.Of)
}

// supervise asks any person whether a task that its rules entered here so often may go on.
func (d *decider) supervise(step *workflow.Step, entries int) {
	d.emit(OpenRequest{Request: fairlead.Request{
		ID: d.id(fairlead.PrefixRequest), Workspace: d.s.Task.Workspace, Kind: fairlead.RequestSupervise, Task: d.s.Task.ID, Visit: d.s.Visit.N,
		Prompt:  fmt.Sprintf("The task entered step %q for the %s time without a person's move. Shall it go on?", nameOf(step), ordinal(entries)),
		Options: superviseOptions(), Payload: map[string]any{"purpose": PurposeMaxVisits, "step": step.Key, "entries": entries},
		Blocks: fairlead.BlocksTask, OpenedBy: fairlead.Engine(), State: fairlead.RequestOpen, OpenedAt: d.now,
	}})
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
