package worker

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/workflow"
)

// promptInput is what a plain turn's prompt is made of.
type promptInput struct {
	Task       fairlead.Task
	Step       *workflow.Step
	Assignment fairlead.Assignment
	Session    fairlead.Session
	Profile    fairlead.AgentProfile
	Wakes      []fairlead.Wake
	Records    []fairlead.Record // after the session's delivered place, oldest first
	// Interrupted says that the last turn of this session has no end: its content stands here again.
	Interrupted bool
	// Strange says that the agent's conversation about the task is not on this node.
	Strange bool
	// Failed are the last records of the session whose failure a guest was called for.
	Failed []fairlead.Record
	// Summary is the workspace, for a coordination task; nil for any other.
	Summary *control.Summary
}

// buildPrompt writes the prompt of a plain turn: the whole context until a turn of the session has ended well, for an
// agent whose first turn failed may never have seen it, and where its conversation is lost; else only what is new.
func buildPrompt(in promptInput) string {
	var b strings.Builder
	switch {
	case in.Session.Delivered == 0:
		opening(&b, in)
	case in.Strange:
		opening(&b, in)
		section(&b, "You have worked on this before", "What was said then is not here any more. Read the task with "+toolGet+" where you need it.")
	default:
		fmt.Fprintf(&b, "You go on with %s (%s), now at the step %s.\n", in.Task.Identifier, in.Task.Title, stepName(in))
	}
	if in.Step != nil && in.Step.Prefix != "" {
		section(&b, "", in.Step.Prefix)
	}
	if in.Interrupted {
		section(&b, "Interrupted", "Your last turn was interrupted. Part of what follows you may have seen and done: verify before you repeat it.")
	}
	section(&b, "Why you are woken", reasons(in.Wakes))
	section(&b, "What is new", news(in))
	section(&b, "The workspace", summary(in.Summary))
	section(&b, "What the failed agent did", failedStory(in.Failed))
	section(&b, "What to do", duty(in))
	if in.Step != nil && in.Step.Suffix != "" {
		section(&b, "", in.Step.Suffix)
	}
	return strings.TrimSpace(b.String()) + "\n"
}

func opening(b *strings.Builder, in promptInput) {
	if in.Profile.Instructions != "" {
		section(b, "", in.Profile.Instructions)
	}
	fmt.Fprintf(b, "# Task %s: %s\n", in.Task.Identifier, in.Task.Title)
	fmt.Fprintf(b, "Step: %s. You work here as %s.\n", stepName(in), in.Assignment.Capacity)
	section(b, "Description", in.Task.Description)
	var reqs strings.Builder
	for i, r := range in.Task.Requirements {
		fmt.Fprintf(&reqs, "R%d. %s\n", i+1, r)
	}
	section(b, "Requirements", reqs.String())
	section(b, "Memory", in.Profile.Memory)
}

func stepName(in promptInput) string {
	if in.Step != nil && in.Step.Name != "" {
		return in.Step.Name
	}
	return in.Assignment.Step
}

func section(b *strings.Builder, title, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	if title != "" {
		fmt.Fprintf(b, "\n## %s\n", title)
	} else {
		b.WriteString("\n")
	}
	b.WriteString(text)
	b.WriteString("\n")
}

// reasons says in words why the agent was woken, each reason once with how often.
func reasons(wakes []fairlead.Wake) string {
	var b strings.Builder
	for _, w := range wakes {
		fmt.Fprintf(&b, "- %s", reasonText(w.Reason))
		if p := plainPayload(w.Payload); p != "" {
			fmt.Fprintf(&b, " (%s)", p)
		}
		b.WriteString("\n")
	}
	return b.String()
}

var reasonTexts = map[string]string{
	"enter": "the task came to this step", "assigned": "the task was assigned to you", "comment": "somebody wrote a comment",
	"decision": "your verdict is asked for", "review": "your review is asked for", "answer": "your question was answered",
	"blocker_resolved": "what blocked the task is cleared", "children_completed": "all children of the task have ended",
	"heartbeat": "it is time to look at the task", "agent_error": "an agent failed on this task", "budget_alert": "a budget is nearly used up",
	"budget":  "a budget that had stopped you lets you go on",
	"started": "a person started you", "retry": "a person asks you to try again",
}

func reasonText(reason string) string {
	if t, ok := reasonTexts[reason]; ok {
		return t
	}
	return reason
}

// plainPayload shows the short fields of a wake's payload; long ones stand in the records.
func plainPayload(p map[string]any) string {
	if len(p) == 0 {
		return ""
	}
	short := map[string]any{}
	for k, v := range p {
		if s, ok := v.(string); ok && (len(s) > 80 || k == "text") {
			continue
		}
		short[k] = v
	}
	b, err := json.Marshal(short) // maps are written in the order of their keys
	if err != nil || string(b) == "{}" {
		return ""
	}
	return string(b)
}

// duty says how this turn ends well.
func duty(in promptInput) string {
	switch in.Assignment.Capacity {
	case fairlead.CapacityPrimary:
		if in.Step != nil && in.Step.Complete == workflow.CompleteSignal {
			return "Do the work of this step. When it is complete call " + toolComplete + "; without that call the task stays here. " +
				"If you need a person, call " + toolAsk + "."
		}
		return "Do the work of this step. The task moves on when your turn ends well. If you need a person, call " + toolAsk + "."
	case fairlead.CapacityGuest:
		return "You were called in. Look at what happened, help with a comment or by what your tools allow; the end of your turn moves nothing."
	case fairlead.Capacity(fairlead.RoleReviewer), fairlead.Capacity(fairlead.RoleApprover):
		return "Give your verdict with " + toolDecide + " in this turn: approve, or reject with a note that says what to change."
	}
	return "Do what the comments ask of you, then end your turn."
}
