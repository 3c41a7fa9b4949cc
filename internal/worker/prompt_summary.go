package worker

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

// summaryText bounds what is shown of a prompt or notice: the agent can ask for the rest.
const summaryText = 200

// summary shows the workspace to the agent that looks after it.
func summary(s *control.Summary) string {
	if s == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("Runs:\n")
	for _, r := range s.Runs {
		fmt.Fprintf(&b, "- %s %s, at the step %s: %s is %s (%s)\n", r.Task.Identifier, r.Title, r.Task.Step, r.Agent, r.Status, reasonText(r.Reason))
	}
	none(&b, len(s.Runs))
	b.WriteString("Open questions:\n")
	for _, q := range s.Requests {
		where := ""
		if q.Task.Identifier != "" {
			where = fmt.Sprintf("%s %s: ", q.Task.Identifier, q.Title)
		}
		asked := ""
		if len(q.AskedOf) > 0 {
			asked = ", asked of " + strings.Join(q.AskedOf, ", ")
		}
		fmt.Fprintf(&b, "- %s%s %s%s: %s\n", where, q.Kind, q.ID, asked, oneLine(q.Prompt))
	}
	none(&b, len(s.Requests))
	b.WriteString("On the inbox:\n")
	for _, n := range s.Notices {
		fmt.Fprintf(&b, "- %s\n", noticeLine(n))
	}
	none(&b, len(s.Notices))
	if s.More {
		b.WriteString("There is more than is shown here.\n")
	}
	return b.String()
}

func none(b *strings.Builder, n int) {
	if n == 0 {
		b.WriteString("- none\n")
	}
}

func noticeLine(n fairlead.Notice) string {
	line := n.Kind + ": " + oneLine(n.Text)
	if n.Task != "" {
		line += " (task " + n.Task + ")"
	}
	return line
}

// oneLine puts a text on one line and shortens it.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > summaryText {
		return string(r[:summaryText]) + "…"
	}
	return text
}
