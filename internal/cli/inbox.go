package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead"
)

type inboxCmd struct {
	List    inboxList    `cmd:"" default:"1" help:"Open requests and notices."`
	Show    inboxShow    `cmd:"" help:"Show a request."`
	Answer  inboxAnswer  `cmd:"" help:"Answer a request."`
	Dismiss inboxDismiss `cmd:"" help:"Take a notice off the inbox."`
}

type inboxList struct {
	Person string `help:"What waits for this person (default: you)."`
}

func (c *inboxList) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	in, err := cl.Inbox(e.ctx, c.Person)
	if err != nil {
		return err
	}
	return e.show(in, func(w io.Writer) {
		for _, r := range in.Requests {
			fmt.Fprintf(w, "%s  %-9s %-8s %4s  %s\n", r.ID, r.Kind, r.Identifier, ago(r.OpenedAt), cut(r.Prompt, 80))
		}
		for _, n := range in.Notices {
			fmt.Fprintf(w, "%s  %-9s %-8s %4s  %s\n", n.ID, n.Kind, n.Identifier, ago(n.At), cut(n.Text, 80))
		}
		if len(in.Requests)+len(in.Notices) == 0 {
			fmt.Fprintln(w, "Nothing waits for you.")
		}
	})
}

type requestRef struct {
	ID string `arg:"" help:"Id of the request."`
}

type inboxShow struct{ requestRef }

func (c *inboxShow) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	r, err := cl.GetRequest(e.ctx, c.ID)
	if err != nil {
		return err
	}
	return e.show(r, func(w io.Writer) { showRequest(w, r) })
}

func showRequest(w io.Writer, r fairlead.RequestView) {
	fmt.Fprintf(w, "%s  %s  %s  %s %s\n\n%s\n\n", r.ID, r.Kind, r.State, r.Identifier, r.TaskTitle, r.Prompt)
	for i, o := range r.Options {
		fmt.Fprintf(w, "  %d  %s (%s)\n", i+1, o.Label, o.ID)
	}
	if len(r.Schema) > 0 {
		fmt.Fprintf(w, "  values must fit: %s\n", r.Schema)
	}
	if a := r.Answer; a != nil {
		fmt.Fprintf(w, "  answered by %s: %s\n", r.ResolvedBy, answered(*a))
	}
}

type inboxAnswer struct {
	requestRef
	Text    string `arg:"" optional:"" help:"The text, the number or id of an option, or a verdict."`
	Note    string `help:"A note with a verdict or option."`
	Values  string `help:"Values of a form, as JSON."`
	Decline bool   `help:"Decline to answer."`
	Op      string `help:"Operation id."`
}

// Run reads the answer as the request's kind asks for it: a number is the option of that place.
func (c *inboxAnswer) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	r, err := cl.GetRequest(e.ctx, c.ID)
	if err != nil {
		return err
	}
	body, err := c.body(r)
	if err != nil {
		return err
	}
	body.Op = fairlead.OpID(c.Op)
	done, err := cl.Answer(e.ctx, c.ID, body)
	if err != nil {
		return err
	}
	return e.show(done, func(w io.Writer) { fmt.Fprintf(w, "%s  %s\n", done.ID, done.State) })
}

func (c *inboxAnswer) body(r fairlead.RequestView) (fairlead.AnswerBody, error) {
	var b fairlead.AnswerBody
	choice := c.Text
	for i, o := range r.Options {
		if c.Text == fmt.Sprint(i+1) || strings.EqualFold(c.Text, o.Label) {
			choice = o.ID
		}
	}
	switch {
	case c.Decline:
		b.Decline, b.Text = true, c.Text
	case c.Values != "":
		if !json.Valid([]byte(c.Values)) {
			return b, errUsage{"the values are not JSON"}
		}
		b.Values = json.RawMessage(c.Values)
	case r.Kind == fairlead.RequestApproval:
		b.Verdict, b.Text = choice, c.Note
	case r.Kind == fairlead.RequestDecision:
		b.Verdict, b.Note = choice, c.Note
	case r.Kind == fairlead.RequestQuestion || r.Kind == fairlead.RequestBudgetGate:
		b.Text = c.Text
	default:
		b.Option, b.Text = choice, c.Note
	}
	return b, nil
}

type inboxDismiss struct{ requestRef }

func (c *inboxDismiss) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	if err := cl.DismissNotice(e.ctx, c.ID, fairlead.OpBody{}); err != nil {
		return err
	}
	return e.show(map[string]string{"id": c.ID}, func(w io.Writer) { fmt.Fprintln(w, c.ID, "dismissed") })
}

type decideCmd struct {
	taskRef
	Verdict string `arg:"" help:"approve, reject or comment."`
	Note    string `help:"What to change, or why." short:"n"`
	Role    string `help:"Which of your seats, if you have two."`
	Visit   int    `help:"Refuse unless the task is still at this visit."`
	Round   int    `help:"Refuse unless this round is still open."`
	Op      string `help:"Operation id."`
}

func (c *decideCmd) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	out, err := cl.Decide(e.ctx, c.Task, fairlead.DecisionBody{
		Verdict: c.Verdict, Note: c.Note, Role: fairlead.Role(c.Role), Visit: c.Visit, Round: c.Round, Op: fairlead.OpID(c.Op),
	})
	if err != nil {
		return err
	}
	return e.outcome(out)
}

type triggerCmd struct {
	taskRef
	Kind    string `arg:"" help:"manual:KEY; any kind with --dry-run."`
	Payload string `help:"Payload as JSON."`
	Op      string `help:"Operation id."`
	DryRun  bool   `help:"Only show what would happen; nothing is changed."`
}

func (c *triggerCmd) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	kind, key, _ := strings.Cut(c.Kind, ":")
	p, err := payload(c.Payload)
	if err != nil {
		return err
	}
	out, err := cl.Trigger(e.ctx, c.Task, fairlead.TriggerBody{Kind: fairlead.TriggerKind(kind), Key: key, Payload: p, Op: fairlead.OpID(c.Op)}, c.DryRun)
	if err != nil {
		return err
	}
	return e.outcome(out)
}
